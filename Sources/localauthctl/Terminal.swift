// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import Glibc
internal import SystemSupport

/// The terminal that this program was started on: what is said goes there line by line, and what
/// is typed comes from there, whatever the standard streams are. Nothing here ever waits.
///
/// Only whole lines are written, at most with an unfinished one behind them, so that nothing
/// depends on how wide the terminal is, or becomes.
@BusQueue final class Terminal {
    /// Of what nobody lets the terminal show, so much is kept.
    private static let limit = 65_536

    /// Takes a line, which it may hand over and which is gone afterwards.
    var onLine: (inout Secret) -> Void = { _ in }
    /// A line was longer than any password.
    var onTooLong: () -> Void = {}
    /// Ctrl-D, or the terminal has gone.
    var onEnd: () -> Void = {}

    private static var present: Terminal?

    private let descriptor: Descriptor
    private var settings: TerminalSettings
    private var watch: PollExecutor.Token?
    private var input = Secret()
    private var output: [UInt8] = []
    private var isMidLine = false
    /// Whether lines are wanted, and whether they are shown as they are typed.
    private(set) var wanted: Wanted?

    /// How lines are wanted.
    struct Wanted: Equatable { var isEchoed: Bool }

    /// `nil` without a controlling terminal.
    init?() {
        // A description of our own, so that what is set on it is nobody else's.
        // SAFETY: the literal is only read.
        let opened = unsafe open("/dev/tty", O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
        guard let descriptor = Descriptor(adopting: opened),
            let settings = TerminalSettings(descriptor.rawValue)
        else { return nil }
        self.descriptor = descriptor
        self.settings = settings
        Self.present = self
        // However the program ends by itself.
        atexit {
            guard BusQueue.executor.isOnThread else { return }
            BusQueue.assumeIsolated { Terminal.present?.leave() }
        }
    }

    // MARK: Writing

    /// Says it on a line of its own.
    func say(_ line: TerminalLine) {
        finishLine()
        send(line.text + "\n")
    }

    /// Says it and stays on the line, where something is to be typed.
    func ask(_ label: TerminalLine) {
        finishLine()
        send(label.text + " ")
        isMidLine = true
    }

    /// Whatever comes next begins a line.
    func finishLine() {
        guard isMidLine else { return }
        isMidLine = false
        send("\n")
    }

    private func send(_ text: String) {
        guard output.count < Self.limit else { return }
        output += Array(text.utf8)
        writeSome()
    }

    /// Writes what the terminal takes now.
    private func writeSome() {
        while !output.isEmpty {
            // SAFETY: the array outlives the call.
            let count = unsafe output.withUnsafeBytes {
                unsafe write(descriptor.rawValue, $0.baseAddress, $0.count)
            }
            if count > 0 {
                output.removeFirst(count)
            } else if count < 0, errno == EINTR {
                continue
            } else {
                // A terminal that has gone takes nothing more; of that its reading tells.
                if count < 0, errno != EAGAIN { output = [] }
                break
            }
        }
        watchAgain()
    }

    // MARK: Reading

    /// Wants a line, of what is typed from now on. Again and again, until `rest` or `leave`.
    func want(echo: Bool) {
        input.wipe()
        wanted = Wanted(isEchoed: echo)
        settings.take(echo: echo)
        watchAgain()
    }

    /// Wants nothing for now; what is typed is not shown, and thrown away by the next `want`.
    func rest() {
        wanted = nil
        input.wipe()
        settings.take(echo: false)
        watchAgain()
    }

    /// Whether the person at the terminal talks to this program, and not to a shell.
    var isForeground: Bool { settings.isForeground }

    /// Gives the terminal back.
    func leave() {
        finishLine()
        wanted = nil
        input.wipe()
        settings.giveBack()
        watchAgain()
    }

    /// Gives the settings back for as long as the program is stopped.
    func pause() {
        finishLine()
        input.wipe()
        settings.giveBack()
        watchAgain()
    }

    private func readSome() {
        switch input.read(from: descriptor.rawValue) {
        case .nothing: break
        case .line:
            // The rest of what was pasted is nobody's answer.
            settings.discardInput()
            if wanted?.isEchoed == true { isMidLine = false }
            // Whoever takes it may want the next one.
            var line = Secret()
            swap(&line, &input)
            onLine(&line)
        case .tooLong:
            settings.discardInput()
            onTooLong()
        case .end: onEnd()
        }
    }

    /// Looks at what there is to be done, and at nothing else: in the background, what is typed
    /// is the shell's.
    private func watchAgain() {
        var interest: PollExecutor.Readiness = []
        if wanted != nil, settings.areTaken { interest.insert(.input) }
        if !output.isEmpty { interest.insert(.output) }
        if let watch, interest.isEmpty {
            BusQueue.executor.unwatch(watch)
            self.watch = nil
        } else if let watch {
            BusQueue.executor.setInterest(interest, of: watch)
        } else if !interest.isEmpty {
            watch = BusQueue.executor.watch(descriptor.rawValue, for: interest) {
                [unowned self] readiness in
                BusQueue.assumeIsolated { ready(readiness) }
            }
        }
    }

    private func ready(_ readiness: PollExecutor.Readiness) {
        if readiness.contains(.failure) {
            // Hung up. Asking again would find the same, for ever.
            output = []
            let wasWanted = wanted != nil
            wanted = nil
            watchAgain()
            if wasWanted { onEnd() }
            return
        }
        if readiness.contains(.output) { writeSome() }
        if readiness.contains(.input) { readSome() }
    }
}
