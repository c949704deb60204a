// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import SystemSupport
import Testing

/// Lives on an executor and counts without a lock.
private actor Counter {
    private let executor: PollExecutor
    private(set) var value = 0
    private(set) var wasElsewhere = false

    init(_ executor: PollExecutor) { self.executor = executor }

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe executor.asUnownedSerialExecutor()
    }

    func add() {
        value += 1
        if !executor.isOnThread { wasElsewhere = true }
    }

    func run<Value: Sendable>(_ step: @Sendable (PollExecutor) -> Value) -> Value {
        step(executor)
    }

    nonisolated func addFromCallback() { assumeIsolated { $0.add() } }
}

@Suite(.timeLimit(.minutes(1))) struct `A poll executor` {
    private let executor = PollExecutor(name: "poll test")
    private let counter: Counter

    init() {
        counter = Counter(executor)
        executor.start()
    }

    @Test func `runs jobs of many tasks on one thread`() async {
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<50 {
                group.addTask { for _ in 0..<100 { await counter.add() } }
            }
        }
        #expect(await counter.value == 5_000)
        #expect(await !counter.wasElsewhere)
        #expect(!executor.isOnThread)
        executor.stop()
    }

    @Test func `lets a callback into an actor`() async {
        let counter = counter
        await counter.run { _ in counter.addFromCallback() }
        #expect(await counter.value == 1)
        executor.stop()
    }

    @Test func `has the name it was given`() async throws {
        let name = try await counter.run { _ in
            Result { try String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8) }
        }.get()
        #expect(name == "poll test\n")
        executor.stop()
    }

    @Test func `fires timers in the order they are due`() async {
        let (stream, continuation) = AsyncStream.makeStream(of: String.self)
        await counter.run { executor in
            _ = executor.after(.milliseconds(20)) {
                continuation.yield("late")
                continuation.finish()
            }
            let cancelled = executor.after(.milliseconds(10)) { continuation.yield("cancelled") }
            _ = executor.after(.milliseconds(5)) {
                continuation.yield("early")
                executor.cancelTimer(cancelled)
            }
            _ = executor.after(.zero) { continuation.yield("now") }
        }
        var fired: [String] = []
        for await name in stream { fired.append(name) }
        #expect(fired == ["now", "early", "late"])
        executor.stop()
    }

    @Test func `fires no timer early`() async {
        let before = BootClock.nanoseconds()
        await withCheckedContinuation { done in
            Task {
                await counter.run { executor in
                    _ = executor.after(.milliseconds(15)) { done.resume() }
                }
            }
        }
        #expect(BootClock.nanoseconds() - before >= 15_000_000)
        executor.stop()
    }

    @Test func `tells of a descriptor until the watch is taken back`() async throws {
        let pipe = Pipe()
        let (reading, writing) = (
            pipe.fileHandleForReading.fileDescriptor, pipe.fileHandleForWriting
        )
        let (stream, continuation) = AsyncStream.makeStream(of: PollExecutor.Readiness.self)
        let token = await counter.run { executor in
            executor.watch(reading, for: .input) { readiness in
                // Not read here, so it stays ready and would be told again.
                continuation.yield(readiness)
            }
        }
        try writing.write(contentsOf: [1])
        var events = stream.makeAsyncIterator()
        #expect(await events.next() == .input)
        #expect(await events.next() == .input)
        await counter.run { $0.setInterest([], of: token) }
        await counter.run { $0.setInterest(.input, of: token) }
        await counter.run { $0.unwatch(token) }
        continuation.finish()
        while let event = await events.next() { #expect(event == .input) }
        executor.stop()
    }

    @Test func `tells of a peer that hangs up`() async throws {
        let pipe = Pipe()
        let reading = pipe.fileHandleForReading.fileDescriptor
        let (stream, continuation) = AsyncStream.makeStream(of: PollExecutor.Readiness.self)
        await counter.run { executor in
            let token = Mutex<PollExecutor.Token?>(nil)
            let watch = executor.watch(reading, for: .input) { readiness in
                continuation.yield(readiness)
                token.withLock { $0.map(executor.unwatch) }
            }
            token.withLock { $0 = watch }
        }
        try pipe.fileHandleForWriting.close()
        var events = stream.makeAsyncIterator()
        #expect(await events.next()?.contains(.failure) == true)
        executor.stop()
        withExtendedLifetime(pipe) {}
    }

    @Test func `does the jobs at hand before it stops`() async {
        let stopping = PollExecutor(name: "stopping")
        let counter = Counter(stopping)
        async let sum: Int = {
            for _ in 0..<10 { await counter.add() }
            return await counter.value
        }()
        stopping.start()
        #expect(await sum == 10)
        stopping.stop()
        executor.stop()
    }

    @Test func `traps where a thread touches what is not its own`() async {
        await #expect(processExitsWith: .failure) {
            _ = PollExecutor(name: "other").after(.zero) {}
        }
        executor.stop()
    }

    @Test func `sleeps while nothing happens`() async throws {
        let thread = try #require(
            await counter.run { _ in
                try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")
            })
        func switches() throws -> String {
            let status = try String(
                contentsOfFile: "/proc/\(thread)/status", encoding: .utf8)
            return status.split(separator: "\n").filter { $0.contains("ctxt_switches") }
                .joined()
        }
        // Another executor's timer measures the time; this one must not notice.
        let clock = PollExecutor(name: "clock")
        clock.start()
        let other = Counter(clock)
        @Sendable func pause() async {
            await withCheckedContinuation { done in
                Task {
                    await other.run { executor in
                        _ = executor.after(.milliseconds(50)) { done.resume() }
                    }
                }
            }
        }
        await pause()
        let before = try switches()
        await pause()
        #expect(try switches() == before)
        clock.stop()
        executor.stop()
    }
}
