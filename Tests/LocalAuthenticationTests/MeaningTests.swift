// SPDX-License-Identifier: Apache-2.0

import DBusBinding
import Foundation
import LocalAuthContract
import LocalAuthentication
import Testing

/// What each of the service's errors is to an application, as the README's table says.
private let published: [String: Int] = {
    let readme = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../README.md")
    guard let text = try? String(contentsOf: readme, encoding: .utf8) else { return [:] }
    var meanings: [String: Int] = [:]
    for line in text.split(separator: "\n") {
        let cells = line.split(separator: "|", omittingEmptySubsequences: false)
        guard cells.count >= 4, cells[1].contains("`") else { continue }
        let names = cells[1].matches(of: /`([A-Z]\w+)`/).map { String($0.1) }
        let numbers = cells[2].matches(of: /−(\d+)/).compactMap { Int($0.1).map { -$0 } }
        guard let last = numbers.last else { continue }
        for (index, name) in names.enumerated() {
            meanings[name] = index < numbers.count ? numbers[index] : last
        }
    }
    return meanings
}()

/// Calls that applications do not make.
private let ofManagement: Set<ServiceError> = [
    .agentExists, .noSuchPrompt, .fingerAlreadyEnrolled, .noSuchFinger, .readerStorageFull,
    .leftoverPrints, .storageFailed, .enrollmentFailed,
]

@Suite struct `What the service says` {
    @Test(arguments: Set(ServiceError.allCases).subtracting(ofManagement))
    func `has the code that is published`(error: ServiceError) throws {
        let meant = LAError(BusError(error.name, "a sentence"))
        if error == .ticketInvalid {
            #expect(meant.code == .authenticationFailed)
        } else {
            let value = try #require(published[error.rawValue], "not in the README")
            #expect(meant.errorCode == value)
        }
        #expect(meant.serviceErrorName == error.name.rawValue)
        #expect(meant.userInfo["NSDebugDescription"] as? String == "a sentence")
        #expect(!meant.localizedDescription.contains("a sentence"), "is for people")
    }

    @Test(arguments: ServiceError.allCases) func `always has a meaning`(error: ServiceError) {
        #expect(!LAError(BusError(error.name, "")).localizedDescription.isEmpty)
    }

    @Test(arguments: [
        ("org.freedesktop.DBus.Error.InvalidArgs", LAError.Code.notInteractive),
        ("org.freedesktop.DBus.Error.LimitsExceeded", .systemCancel),
        ("org.freedesktop.DBus.Error.AccessDenied", .notInteractive),
        ("org.freedesktop.DBus.Error.NoReply", .biometryNotAvailable),
        ("org.freedesktop.DBus.Error.ServiceUnknown", .biometryNotAvailable),
        ("org.freedesktop.DBus.Error.UnknownMethod", .biometryNotAvailable),
        ("org.example.LocalAuth.Error.OfALaterVersion", .biometryNotAvailable),
        ("com.example.Whatever", .biometryNotAvailable),
    ])
    func `is never a success nor a wrong finger where it is neither`(
        name: String, code: LAError.Code
    ) {
        let error = LAError(BusError(ErrorName(stringLiteral: name), "x"))
        #expect(error.code == code && error.code != .authenticationFailed)
    }

    @Test func `names the package only where the service is missing`() {
        for name in ["ServiceUnknown", "NameHasNoOwner", "Spawn.ServiceNotFound"] {
            let error = LAError(
                BusError(ErrorName(stringLiteral: "org.freedesktop.DBus.Error.\(name)"), ""))
            #expect(error.localizedDescription.contains("\"localauth\""))
        }
        let broken = LAError(BusError("org.freedesktop.DBus.Error.Spawn.ExecFailed", ""))
        #expect(!broken.localizedDescription.contains("nstall"))
    }
}
