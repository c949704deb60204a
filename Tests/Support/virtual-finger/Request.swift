// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import SystemSupport
internal import TestKit

/// What the arguments ask for.
enum Request {
    case help
    case image(socket: String, Selection, wait: Duration)
    case retry(socket: String, Int32, wait: Duration)
    case error(socket: String, Int32, wait: Duration)
    case unplug(socket: String, wait: Duration)
    case command(socket: String, String, wait: Duration)
    case write(file: String, Selection)
    case ways

    init(_ arguments: some Collection<String>) throws(Complaint) {
        var words: [String] = []
        var selection = Selection()
        var wait = VirtualSocket.patience
        var rest = Array(arguments)[...]
        while let word = rest.popFirst() {
            switch word {
            case "--help", "-h":
                self = .help
                return
            case "--wrong": selection.wrong = true
            case "--finger": selection.finger = try Self.number(after: word, &rest)
            case "--touch": selection.touches = try Self.range(after: word, &rest)
            case "--way": selection.ways = try Self.ways(after: word, &rest)
            case "--wait":
                let seconds: UInt16 = try Self.number(after: word, &rest)
                wait = .seconds(Int(seconds))
            case "--size":
                guard let size = rest.popFirst().flatMap(SyntheticFinger.Size.init(rawValue:))
                else { throw .usage("--size is small, full or slow") }
                selection.size = size
            case _ where word.hasPrefix("--"): throw .usage("unknown option \(word)")
            default: words.append(word)
            }
        }
        switch (words.first, words.count) {
        case ("image", 2):
            guard selection.touches.count == 1, selection.ways.count == 1
            else { throw .usage("image lays one touch") }
            self = .image(socket: words[1], selection, wait: wait)
        case ("retry", 3):
            self = .retry(socket: words[1], try Self.number(words[2]), wait: wait)
        case ("error", 3):
            self = .error(socket: words[1], try Self.number(words[2]), wait: wait)
        case ("unplug", 2): self = .unplug(socket: words[1], wait: wait)
        case ("command", 3): self = .command(socket: words[1], words[2], wait: wait)
        case ("write", 2): self = .write(file: words[1], selection)
        case ("ways", 1): self = .ways
        case (nil, _): throw .usage("what to do?")
        case (let verb?, _): throw .usage("\(verb) is not called like that")
        }
    }

    /// Does it.
    func perform() throws(Complaint) {
        switch self {
        case .help: print(manual)
        case .image(let socket, let selection, let wait):
            let image = selection.image
            try Self.reaching(socket) { () throws(VirtualSocket.Failure) in
                try VirtualSocket.send(image, to: socket, wait: wait)
            }
        case .retry(let socket, let number, let wait):
            try Self.reaching(socket) { () throws(VirtualSocket.Failure) in
                try VirtualSocket.sendRetry(number, to: socket, wait: wait)
            }
        case .error(let socket, let number, let wait):
            try Self.reaching(socket) { () throws(VirtualSocket.Failure) in
                try VirtualSocket.sendError(number, to: socket, wait: wait)
            }
        case .unplug(let socket, let wait):
            try Self.reaching(socket) { () throws(VirtualSocket.Failure) in
                try VirtualSocket.unplug(socket, wait: wait)
            }
        case .command(let socket, let text, let wait):
            let answer = try Self.reaching(socket) { () throws(VirtualSocket.Failure) in
                try VirtualSocket.command(text, to: socket, wait: wait)
            }
            print(answer, terminator: answer.isEmpty || answer.hasSuffix("\n") ? "" : "\n")
        case .write(let file, let selection):
            try Self.write(selection.images.flatMap(\.pgm), to: file)
        case .ways:
            for way in TouchWay.all { print("\(way.name)\t\(way.summary)") }
        }
    }

    private static func reaching<Answer>(
        _ socket: String, _ talk: () throws(VirtualSocket.Failure) -> Answer
    ) throws(Complaint) -> Answer {
        do throws(VirtualSocket.Failure) {
            return try talk()
        } catch {
            throw .failure("\(socket): \(error)")
        }
    }

    private static func write(_ bytes: [UInt8], to file: String) throws(Complaint) {
        if file == "-" {
            guard writeAll(bytes, to: STDOUT_FILENO) else {
                throw .failure("standard output: \(SystemError.last)")
            }
            return
        }
        // SAFETY: the string is passed as a NUL-terminated copy that lives through the call.
        let opened = unsafe open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard let descriptor = Descriptor(adopting: opened),
            writeAll(bytes, to: descriptor.rawValue)
        else { throw .failure("\(file): \(SystemError.last)") }
    }

    private static func number<Number: FixedWidthInteger>(
        _ text: String
    ) throws(Complaint) -> Number {
        guard let number = Number(text) else { throw .usage("\(text) is not a number for that") }
        return number
    }

    private static func number<Number: FixedWidthInteger>(
        after option: String, _ rest: inout ArraySlice<String>
    ) throws(Complaint) -> Number {
        guard let text = rest.popFirst() else { throw .usage("\(option) wants a number") }
        return try number(text)
    }

    private static func range(
        after option: String, _ rest: inout ArraySlice<String>
    ) throws(Complaint) -> ClosedRange<UInt64> {
        guard let text = rest.popFirst() else { throw .usage("\(option) wants a number") }
        let ends = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        let first: UInt64 = try number(String(ends[0]))
        let last: UInt64 = try number(String(ends[ends.count - 1]))
        guard first <= last, last - first < 1000 else {
            throw .usage("\(text) is not a range of touches")
        }
        return first...last
    }

    private static func ways(
        after option: String, _ rest: inout ArraySlice<String>
    ) throws(Complaint) -> [TouchWay] {
        guard let text = rest.popFirst() else { throw .usage("\(option) wants a name") }
        var ways: [TouchWay] = []
        for name in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let way = TouchWay(name: String(name))
            else { throw .usage("\(name) is no way of touching") }
            ways.append(way)
        }
        return ways
    }
}
