// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc

/// A thread that runs the jobs of an actor one after the other and, between them, waits for
/// descriptors and timers.
///
/// Swift's own pool would add four threads and a wake-up a second to a daemon that sleeps most of
/// the time; this one adds none of either. Jobs may come from any thread. Descriptors and timers
/// belong to the executor's thread: their functions trap elsewhere.
package final class PollExecutor: SerialExecutor, TaskExecutor {
    /// What a descriptor is ready for.
    package struct Readiness: OptionSet, Sendable {
        package let rawValue: UInt8
        package init(rawValue: UInt8) { self.rawValue = rawValue }
        package static let input = Self(rawValue: 1)
        package static let output = Self(rawValue: 2)
        /// Error or hang-up; reported whether asked for or not.
        package static let failure = Self(rawValue: 4)
    }

    /// Names a watch or a timer, to be taken back.
    package struct Token: Hashable, Sendable { fileprivate let number: UInt64 }

    private struct Inbox {
        var jobs: [UnownedJob] = []
        var isAwake = false
        var thread: pthread_t?
        var isStopping = false
        var isStarted = false
    }

    private struct Watch {
        var descriptor: Int32
        var interest: Readiness
        var action: (Readiness) -> Void
    }

    private struct Timer {
        var due: UInt64
        var action: () -> Void
    }

    /// Touched only by the executor's own thread.
    private final class Local {
        var watches: [Token: Watch] = [:]
        var timers: [Token: Timer] = [:]
        var nextToken: UInt64 = 0
    }

    private let name: String
    private let inbox = Locked(Inbox())
    private let wakeup: Int32
    // Confined to the executor's thread by `preconditionOnThread`, which Swift cannot see.
    private nonisolated(unsafe) let local = Local()

    /// - Parameter name: the thread's name in the system's listings, at most 15 bytes.
    package init(name: String) {
        self.name = name
        wakeup = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        precondition(wakeup >= 0, "no descriptor left for \(name)")
    }

    deinit { close(wakeup) }

    // MARK: Jobs

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let mustWake = inbox.withLock { inbox in
            inbox.jobs.append(job)
            defer { inbox.isAwake = true }
            return !inbox.isAwake
        }
        if mustWake { wake() }
    }

    package func isIsolatingCurrentContext() -> Bool? { isOnThread }

    package func checkIsolated() {
        precondition(isOnThread, "not on the thread of \(name)")
    }

    package var isOnThread: Bool {
        inbox.withLock { inbox in
            inbox.thread.map { pthread_equal($0, pthread_self()) != 0 } ?? false
        }
    }

    // MARK: Running

    /// Starts a thread that serves this executor until `stop`; the second time does nothing.
    package func start() {
        let isFirst = inbox.withLock { inbox in
            defer { inbox.isStarted = true }
            return !inbox.isStarted
        }
        guard isFirst else { return }
        var thread = pthread_t()
        let retained = unsafe Unmanaged.passRetained(self)
        // SAFETY: the new thread takes over the reference that was just retained.
        let result = unsafe pthread_create(
            &thread, nil,
            { argument in
                guard let argument = unsafe argument else { return nil }
                let executor = unsafe Unmanaged<PollExecutor>.fromOpaque(argument)
                    .takeRetainedValue()
                executor.run()
                return nil
            }, retained.toOpaque())
        precondition(result == 0, "no thread left for \(name)")
        pthread_detach(thread)
    }

    /// Serves this executor on the calling thread until `stop`.
    package func run() {
        inbox.withLock { $0.thread = pthread_self() }
        unsafe localauth_set_thread_name(name)
        while true {
            let isStopping = runJobs()
            let hasMore = inbox.withLock { inbox in
                inbox.isAwake = !inbox.jobs.isEmpty
                return inbox.isAwake
            }
            if isStopping && !hasMore { break }
            wait(blocking: !hasMore)
        }
        inbox.withLock { $0.thread = nil }
    }

    /// Runs the jobs at hand and those that they lead to, so that a call that hops from one actor
    /// to the next is not held up; but not for ever, so that descriptors have their turn too.
    /// Whether the executor is to stop.
    private func runJobs() -> Bool {
        for _ in 0..<100 {
            let (jobs, isStopping) = inbox.withLock { inbox in
                defer { inbox.jobs.removeAll(keepingCapacity: true) }
                return (inbox.jobs, inbox.isStopping)
            }
            guard !jobs.isEmpty else { return isStopping }
            // As both kinds of executor: a task that prefers this one would otherwise go round
            // through the inbox with each `async` call, though it is here already, and whatever
            // calls less would overtake it.
            for job in jobs {
                unsafe job.runSynchronously(
                    isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
            }
        }
        return false
    }

    /// Ends `run` once the jobs at hand are done.
    package func stop() {
        inbox.withLock { $0.isStopping = true }
        wake()
    }

    private func wake() { eventfd_write(wakeup, 1) }

    // MARK: Descriptors and timers

    /// Calls `action` on the executor's thread whenever the descriptor is ready for `interest`.
    package func watch(
        _ descriptor: Int32, for interest: Readiness, action: @escaping (Readiness) -> Void
    ) -> Token {
        preconditionOnThread()
        let token = newToken()
        unsafe local.watches[token] = Watch(
            descriptor: descriptor, interest: interest, action: action)
        return token
    }

    /// Changes what a watch waits for; an empty set rests it.
    package func setInterest(_ interest: Readiness, of token: Token) {
        preconditionOnThread()
        unsafe local.watches[token]?.interest = interest
    }

    package func unwatch(_ token: Token) {
        preconditionOnThread()
        unsafe local.watches[token] = nil
    }

    /// Calls `action` once, `delay` from now on a clock that also runs during suspend.
    package func after(_ delay: Duration, action: @escaping () -> Void) -> Token {
        preconditionOnThread()
        let token = newToken()
        let (seconds, attoseconds) = delay.components
        let nanoseconds =
            UInt64(clamping: seconds) &* 1_000_000_000
            &+ UInt64(clamping: attoseconds / 1_000_000_000)
        unsafe local.timers[token] = Timer(
            due: BootClock.nanoseconds() &+ nanoseconds, action: action)
        return token
    }

    package func cancelTimer(_ token: Token) {
        preconditionOnThread()
        unsafe local.timers[token] = nil
    }

    private func newToken() -> Token {
        unsafe local.nextToken += 1
        return Token(number: unsafe local.nextToken)
    }

    private func preconditionOnThread() {
        precondition(isOnThread, "not on the thread of \(name)")
    }

    // MARK: Waiting

    private func wait(blocking: Bool) {
        let local = unsafe self.local
        var entries = [pollfd(fd: wakeup, events: Int16(POLLIN), revents: 0)]
        var tokens: [Token] = []
        for (token, watch) in local.watches {
            tokens.append(token)
            let isResting = watch.interest.isEmpty
            entries.append(
                pollfd(
                    fd: isResting ? -1 : watch.descriptor, events: watch.interest.pollEvents,
                    revents: 0))
        }
        let count = unsafe poll(&entries, nfds_t(entries.count), blocking ? timeout() : 0)
        // Jobs that the actions below enqueue are run next; nobody needs to be woken for them.
        inbox.withLock { $0.isAwake = true }
        if count > 0 {
            if entries[0].revents != 0 {
                var value: eventfd_t = 0
                unsafe _ = eventfd_read(wakeup, &value)
            }
            for (entry, token) in zip(entries.dropFirst(), tokens) where entry.revents != 0 {
                // An earlier action may have taken this watch back.
                local.watches[token]?.action(Readiness(pollEvents: entry.revents))
            }
        }
        fireTimers()
    }

    /// Milliseconds until the next timer, rounded up; -1 for ever.
    private func timeout() -> Int32 {
        guard let due = unsafe local.timers.values.map(\.due).min() else { return -1 }
        let now = BootClock.nanoseconds()
        guard due > now else { return 0 }
        return Int32(clamping: (due - now + 999_999) / 1_000_000)
    }

    private func fireTimers() {
        let local = unsafe self.local
        guard !local.timers.isEmpty else { return }
        let now = BootClock.nanoseconds()
        let due = local.timers.filter { $0.value.due <= now }.sorted { $0.value.due < $1.value.due }
        for (token, _) in due { local.timers.removeValue(forKey: token)?.action() }
    }
}

extension PollExecutor.Readiness {
    fileprivate var pollEvents: Int16 {
        (contains(.input) ? Int16(POLLIN) : 0) | (contains(.output) ? Int16(POLLOUT) : 0)
    }

    fileprivate init(pollEvents events: Int16) {
        self = []
        if events & Int16(POLLIN) != 0 { insert(.input) }
        if events & Int16(POLLOUT) != 0 { insert(.output) }
        if events & Int16(POLLERR | POLLHUP | POLLNVAL) != 0 { insert(.failure) }
    }
}
