// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc
internal import Synchronization

/// A program that we have started, and its end of a `MessageSocket` at its standard input.
///
/// It inherits nothing else but standard error. It does not outlive this object, unless its end is
/// watched: then it lives until it ends.
package final class ChildProcess: Sendable {
    package enum Ending: Hashable, Sendable {
        case exited(Int32)
        case signalled(Int32)
        /// Where somebody has told the kernel that nobody wants to know (`SIGCHLD` ignored).
        case unknown
    }

    package let id: Int32
    /// Our end.
    package let messages: MessageSocket
    private let handle: Descriptor
    private let isReaped = Atomic(false)

    /// Starts a program. The caller waits until it has been loaded.
    /// - Parameters:
    ///   - program: its path.
    ///   - arguments: those behind its name.
    ///   - environment: all of it, as `NAME=value`.
    /// - Throws: what kept it from starting.
    package init(
        _ program: String, _ arguments: [String], environment: [String]
    ) throws(SystemError) {
        var id: pid_t = 0
        messages = try MessageSocket { far throws(SystemError) in
            id = try spawn(program, arguments, environment, input: far)
        }
        self.id = id
        guard let handle = Descriptor(adopting: pidfd_open(id, 0)) else {
            let error = SystemError.last
            // Nobody has waited for it, so the number is still its own.
            Glibc.kill(id, SIGKILL)
            var status: Int32 = 0
            unsafe _ = waitpid(id, &status, 0)
            throw error
        }
        self.handle = handle
    }

    deinit {
        guard !isReaped.load(ordering: .acquiring) else { return }
        kill()
        var status: Int32 = 0
        // SAFETY: the kernel writes one number.
        while unsafe waitpid(id, &status, 0) < 0 && errno == EINTR {}
    }

    /// Ends it at once; nothing when it has ended.
    package func kill() { _ = pidfd_send_signal(handle.rawValue, SIGKILL, nil, 0) }

    /// Calls `action` once, on the executor's thread, when it has ended. Belongs on that thread.
    package func watchEnd(on executor: PollExecutor, action: @escaping (Ending) -> Void) {
        var token: PollExecutor.Token?
        token = executor.watch(handle.rawValue, for: .input) { [self] _ in
            var status: Int32 = 0
            // SAFETY: the kernel writes one number.
            let found = unsafe waitpid(id, &status, WNOHANG)
            guard found != 0 else { return }
            isReaped.store(true, ordering: .releasing)
            if let token { executor.unwatch(token) }
            action(found == id ? Ending(status) : .unknown)
        }
    }
}

extension ChildProcess.Ending {
    /// From the number that waitpid(2) gives, as its macros do it.
    fileprivate init(_ status: Int32) {
        let signal = status & 0x7f
        self = signal == 0 ? .exited((status >> 8) & 0xff) : .signalled(signal)
    }
}

private func spawn(
    _ program: String, _ arguments: [String], _ environment: [String], input: Int32
) throws(SystemError) -> pid_t {
    var actions = unsafe posix_spawn_file_actions_t()
    var attributes = posix_spawnattr_t()
    var none = sigset_t()
    var all = sigset_t()
    // SAFETY: the structs are ours, are initialised here, and are freed when the program has been
    // started, which has its own copy of all that they say.
    unsafe sigemptyset(&none)
    unsafe sigfillset(&all)
    unsafe posix_spawn_file_actions_init(&actions)
    unsafe posix_spawnattr_init(&attributes)
    defer {
        unsafe posix_spawn_file_actions_destroy(&actions)
        unsafe posix_spawnattr_destroy(&attributes)
    }
    unsafe posix_spawn_file_actions_adddup2(&actions, input, 0)
    unsafe posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
    unsafe localauth_close_from(&actions, 3)
    // We block signals and take them elsewhere; that is no way to treat others.
    unsafe posix_spawnattr_setsigmask(&attributes, &none)
    unsafe posix_spawnattr_setsigdefault(&attributes, &all)
    unsafe posix_spawnattr_setflags(
        &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
    var id: pid_t = 0
    let code = unsafe withCStrings([program] + arguments) { argv in
        unsafe withCStrings(environment) { environment in
            unsafe posix_spawn(&id, program, &actions, &attributes, argv, environment)
        }
    }
    guard code == 0 else { throw SystemError(code: code) }
    return id
}

/// Calls `body` with the texts as C has them: pointers with a null behind the last.
private func withCStrings<T>(
    _ texts: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> T
) -> T {
    var pointers = unsafe texts.map { unsafe strdup($0) }
    // SAFETY: the copies are freed after the call, and the array lives during it.
    unsafe pointers.append(nil)
    defer { unsafe pointers.forEach { unsafe free($0) } }
    return unsafe pointers.withUnsafeBufferPointer { buffer in
        guard let start = buffer.baseAddress else {
            preconditionFailure("there is a null at least")
        }
        return unsafe body(start)
    }
}
