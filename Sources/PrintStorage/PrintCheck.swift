// SPDX-License-Identifier: Apache-2.0

internal import LocalAuthModel

/// Looks at a print's bytes before libfprint does, because libfprint 1.94 takes its files for
/// good ones: `fp_print_deserialize` aborts on short files and on variants that are not in normal
/// form, and asks of the type only whether it is 1 or 2.
enum PrintCheck {
    /// Far above every print (some 6 kB for an image print of many stages), far below what would
    /// be felt.
    static let largestFile = 1 << 20

    private static let magic = Array("FP3".utf8)
    /// Type, driver, device id, kept on the reader, finger, user, description, Julian day,
    /// nothing yet, data.
    private static let form = "(issbymsmsia{sv}v)"
    private static let raw = 1
    private static let minutiae = 2
    /// What libfprint's `struct xyt_struct` has room for.
    private static let mostMinutiae = 200
    /// Four times the stages of any reader.
    private static let mostScans = 100
    /// Beyond any image; the matcher's squares of distances stay within 32 bits.
    private static let coordinates: ClosedRange<Int32> = 0...16_383
    private static let degrees: ClosedRange<Int32> = -360...360
    /// Until the end of the year 9999. The other date that libfprint writes is "none".
    private static let days = 1...3_652_059
    private static let noDay = Int(Int32.min)

    /// Why these bytes are not the print that their place says; `nil` if they are, and then
    /// libfprint can read them.
    static func refusal(of bytes: [UInt8], for id: PrintID) -> Refusal? {
        guard bytes.starts(with: magic) else { return .notAPrint }
        guard let print = Variant(bytes.dropFirst(magic.count), type: form) else {
            return .damagedPrint
        }
        if let refusal = refusal(ofData: print[9][0], type: print[0].number) { return refusal }
        guard let day = print[7].number, day == noDay || days.contains(day) else {
            return .damagedPrint
        }
        guard isSame(print[1].text, id.reader.driver), isSame(print[2].text, id.reader.deviceID)
        else { return .otherReader }
        guard print[4].number == Int(id.finger.rawValue) else { return .otherFinger }
        guard isSame(print[5].text, id.user.rawValue) else { return .otherUser }
        return nil
    }

    private static func refusal(ofData data: borrowing Variant, type: Int?) -> Refusal? {
        switch type {
        // The driver's own variant, whatever it is, in one more variant.
        case raw: return data.type == "v" ? nil : .damagedPrint
        case minutiae:
            guard data.type == "(a(aiaiai))" else { return .damagedPrint }
            let scans = data[0]
            guard (1...mostScans).contains(scans.count) else { return .damagedPrint }
            for index in 0..<scans.count where !isScan(scans[index]) { return .damagedPrint }
            return nil
        default: return .unknownPrintType
        }
    }

    private static func isScan(_ scan: borrowing Variant) -> Bool {
        guard let x = scan[0].numbers, let y = scan[1].numbers, let angles = scan[2].numbers
        else { return false }
        return (1...mostMinutiae).contains(x.count) && x.count == y.count
            && x.count == angles.count && x.allSatisfy(coordinates.contains)
            && y.allSatisfy(coordinates.contains) && angles.allSatisfy(degrees.contains)
    }

    /// Byte for byte: for Swift, strings that Unicode calls equivalent are equal, but for the
    /// file system they are two names.
    private static func isSame(_ text: String?, _ name: String) -> Bool {
        text.map { $0.utf8.elementsEqual(name.utf8) } ?? false
    }
}
