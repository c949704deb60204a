// SPDX-License-Identifier: Apache-2.0

package import DBusBinding
package import Foundation
internal import SystemSupport

/// A program on a terminal of its own, as its session's leader, with somebody who types and reads.
@BusQueue package final class Pty {
    package let processID: pid_t
    /// Everything that the terminal was given to show.
    package private(set) var output: [UInt8] = []
    private var master: SharedDescriptor?
    // Keeps the terminal when the program has left it.
    private let slave: SharedDescriptor
    private let ending = Ending()
    private var watch: PollExecutor.Token?
    /// What comes before has been waited for.
    private var position = 0
    private var waiting: (number: UInt64, look: () -> Bool, resume: (Bool) -> Void)?
    private var lastWait: UInt64 = 0

    /// Starts a program.
    /// - Parameters:
    ///   - program: its path.
    ///   - arguments: its arguments.
    ///   - environment: its variables, with PATH on top.
    ///   - input: what its standard input is instead of the terminal.
    /// - Throws: what kept it from starting.
    package init(
        _ program: String, _ arguments: [String], environment: [String: String],
        input: String? = nil
    ) throws {
        var number: Int32 = 0
        // SAFETY (all): the kernel fills what is given, or only reads it.
        let opened = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
        guard opened >= 0 else { throw SystemError.last }
        let master = SharedDescriptor(adopting: opened)
        self.master = master
        // TIOCSPTLCK and TIOCGPTN (ioctl_tty(2)).
        unsafe _ = ioctl(opened, 0x4004_5431, &number)
        guard unsafe ioctl(opened, 0x8004_5430, &number) == 0 else { throw SystemError.last }
        let path = "/dev/pts/\(number)"
        let other = unsafe open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard other >= 0 else { throw SystemError.last }
        slave = SharedDescriptor(adopting: other)
        processID = try spawn(
            program, arguments,
            environment: environment.merging(["PATH": productsDirectory.path + ":/usr/bin:/bin"]) {
                old, _ in old
            }, on: path, input: input ?? path)
        let ending = ending
        let process = processID
        Thread {
            var status: Int32 = 0
            unsafe _ = waitpid(process, &status, 0)
            let signal = status & 0x7f
            ending.note(signal == 0 ? (status >> 8) & 0xff : -signal)
        }.start()
        watch = BusQueue.executor.watch(opened, for: .input) { [weak self] _ in
            BusQueue.assumeIsolated { self?.readSome() }
        }
    }

    isolated deinit {
        if let watch { BusQueue.executor.unwatch(watch) }
        kill(processID, SIGKILL)
    }

    /// What the terminal has shown, as text.
    package var text: String { String(decoding: output, as: UTF8.self) }

    /// The lines that the terminal has shown.
    package var lines: [String] {
        text.split(separator: "\r\n", omittingEmptySubsequences: false).map(String.init)
    }

    /// Waits until the terminal shows this behind what was waited for before; false when the test
    /// is out of time.
    @discardableResult
    package func shows(_ text: String) async -> Bool {
        let wanted = Array(text.utf8)
        return await wait { [unowned self] in
            guard let found = output[position...].firstRange(of: wanted) else { return false }
            position = found.upperBound
            return true
        }
    }

    /// Types, as on a keyboard: `\n` is Enter, `\u{3}` Ctrl-C.
    package func type(_ text: String) { type(Array(text.utf8)) }

    package func type(_ bytes: [UInt8]) {
        // SAFETY: the array outlives the call.
        let count = unsafe bytes.withUnsafeBytes {
            unsafe write(master?.rawValue ?? -1, $0.baseAddress, $0.count)
        }
        precondition(count == bytes.count, "the terminal takes nothing more")
    }

    /// Types what is in a file, and Enter; another process does, so that this one never has it.
    package func type(contentsOf file: String) async throws {
        let copy = FileHandle(fileDescriptor: dup(master?.rawValue ?? -1), closeOnDealloc: true)
        let typist = try Child("/bin/cat", [file], log: "/dev/null", output: copy)
        guard await typist.wait() == 0 else {
            throw Child.Ended(awaited: "typing", log: typist.logText)
        }
        type("\n")
    }

    package func signal(_ number: Int32) { kill(processID, number) }

    /// Waits for the program's end; the status, or the negative number of the signal. All that it
    /// has written is there then.
    package func wait() async -> Int32 {
        let status = await ending.wait()
        readSome()
        return status
    }

    // MARK: The terminal's state

    /// Whether what is typed is shown.
    package var isEchoing: Bool { settings.c_lflag & tcflag_t(ECHO) != 0 }

    package var localModes: UInt32 { settings.c_lflag }

    /// Makes it another size, and says so to whoever is on it.
    package func resize(columns: UInt16, rows: UInt16) {
        var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        unsafe _ = ioctl(slave.rawValue, UInt(TIOCSWINSZ), &size)
    }

    /// Holds what is written from now on, as Ctrl-S does, or lets it go again.
    package func hold(_ isHeld: Bool) { tcflow(slave.rawValue, isHeld ? TCOOFF : TCOON) }

    /// Closes the terminal, as its window is closed.
    package func hangUp() {
        if let watch { BusQueue.executor.unwatch(watch) }
        (watch, master) = (nil, nil)
    }

    /// What is typed and not read yet, without taking it.
    package var unread: Int {
        var count: Int32 = 0
        unsafe _ = ioctl(slave.rawValue, UInt(FIONREAD), &count)
        return Int(count)
    }

    private var settings: termios {
        var settings = termios()
        unsafe _ = tcgetattr(slave.rawValue, &settings)
        return settings
    }

    // MARK: Reading

    private func readSome() {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while true {
            // SAFETY: the kernel writes at most the buffer's size.
            let count = unsafe buffer.withUnsafeMutableBytes {
                unsafe read(master?.rawValue ?? -1, $0.baseAddress, $0.count)
            }
            guard count > 0 else { break }
            output += buffer.prefix(count)
        }
        if let waiting, waiting.look() {
            self.waiting = nil
            waiting.resume(true)
        }
    }

    private func wait(_ look: @escaping () -> Bool) async -> Bool {
        lastWait += 1
        let number = lastWait
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if look() { return continuation.resume(returning: true) }
                guard !Task.isCancelled else { return continuation.resume(returning: false) }
                waiting = (number, look, { continuation.resume(returning: $0) })
            }
        } onCancel: {
            BusQueue.post { self.giveUp(number) }
        }
    }

    private func giveUp(_ number: UInt64) {
        guard let waiting, waiting.number == number else { return }
        self.waiting = nil
        waiting.resume(false)
    }
}

/// Starts a program as a session's leader, with a terminal that is thereby the session's.
private func spawn(
    _ program: String, _ arguments: [String], environment: [String: String], on terminal: String,
    input: String
) throws -> pid_t {
    var actions = unsafe posix_spawn_file_actions_t()
    var attributes = posix_spawnattr_t()
    var signals = sigset_t()
    // SAFETY (all): libc fills and reads what is ours, and copies the strings; what it has made is
    // freed below.
    unsafe posix_spawn_file_actions_init(&actions)
    unsafe posix_spawnattr_init(&attributes)
    defer {
        unsafe posix_spawn_file_actions_destroy(&actions)
        unsafe posix_spawnattr_destroy(&attributes)
    }
    // The first terminal that a session's leader opens becomes the session's.
    unsafe posix_spawn_file_actions_addopen(&actions, 1, terminal, O_RDWR, 0)
    unsafe posix_spawn_file_actions_addopen(&actions, 0, input, O_RDWR, 0)
    unsafe posix_spawn_file_actions_adddup2(&actions, 1, 2)
    unsafe sigemptyset(&signals)
    unsafe posix_spawnattr_setsigmask(&attributes, &signals)
    unsafe sigfillset(&signals)
    unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
    // POSIX_SPAWN_SETSID, and all signals as they are by default.
    unsafe posix_spawnattr_setflags(
        &attributes, 0x80 | Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_SETSIGDEF))
    let words = unsafe ([program] + arguments).map { unsafe strdup($0) }
    let variables = unsafe environment.map { unsafe strdup("\($0.key)=\($0.value)") }
    defer { unsafe (words + variables).forEach { unsafe free($0) } }
    var process: pid_t = 0
    let result = unsafe posix_spawn(
        &process, program, &actions, &attributes, words + [nil], variables + [nil])
    guard result == 0 else { throw SystemError(code: result) }
    return process
}
