// SPDX-License-Identifier: Apache-2.0

package import Foundation
internal import Synchronization
internal import TestKit

/// A process that a test has started, and that ends with it.
package final class Child: Sendable {
    package struct Ended: Error, CustomStringConvertible {
        package let awaited: String
        package let log: String
        package var description: String { "ended before \(awaited); log:\n\(log)" }
    }

    package let processID: pid_t
    /// Where its standard error goes.
    package let log: String
    private let process: Process
    private let ending: Ending
    private let endsByItself: Bool

    /// Starts a program.
    /// - Parameters:
    ///   - program: its path.
    ///   - arguments: its arguments.
    ///   - environment: variables on top of this process's own, less those of libfprint.
    ///   - log: the file for its standard error.
    ///   - output: where its standard output goes; nowhere by default.
    ///   - input: where its standard input comes from; nowhere by default.
    ///   - endsByItself: whether it need not be ended by us.
    /// - Throws: what kept it from starting.
    package init(
        _ program: String, _ arguments: [String], environment: [String: String] = [:],
        log: String, output: Any = FileHandle.nullDevice, input: Any = FileHandle.nullDevice,
        endsByItself: Bool = false
    ) throws {
        self.log = log
        self.endsByItself = endsByItself
        let process = Process()
        process.executableURL = URL(filePath: program)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment
            .filter { !$0.key.hasPrefix("FP_") && !$0.key.hasPrefix("DBUS_") }
            .merging(environment) { $1 }
        if !FileManager.default.fileExists(atPath: log) {
            _ = FileManager.default.createFile(atPath: log, contents: nil)
        }
        let errors = try FileHandle(forWritingTo: URL(filePath: log))
        try errors.seekToEnd()
        process.standardError = errors
        process.standardOutput = output
        process.standardInput = input
        let ending = Ending()
        self.ending = ending
        process.terminationHandler = { process in
            let status = process.terminationStatus
            ending.note(process.terminationReason == .uncaughtSignal ? -status : status)
            process.letGo()
        }
        // A thread of Dispatch's has most signals blocked, and a process inherits that.
        var none = sigset_t()
        var before = sigset_t()
        // SAFETY (all): libc fills what is ours, or only reads it.
        unsafe sigemptyset(&none)
        unsafe pthread_sigmask(SIG_SETMASK, &none, &before)
        defer { unsafe _ = pthread_sigmask(SIG_SETMASK, &before, nil) }
        try process.run()
        processID = process.processIdentifier
        self.process = process
    }

    deinit {
        if process.isRunning, !endsByItself { Foundation.kill(processID, SIGKILL) }
    }

    package var isRunning: Bool { process.isRunning }

    /// What it has written to standard error so far.
    package var logText: String { (try? String(contentsOfFile: log, encoding: .utf8)) ?? "" }

    package func signal(_ number: Int32) { Foundation.kill(processID, number) }

    /// Waits for its end; the status, or the negative number of the signal that ended it.
    @discardableResult
    package func wait() async -> Int32 { await ending.wait() }
}

/// The end of a process, which any number of tasks can wait for. (`Process.waitUntilExit` keeps
/// a thread of the pool busy, of which there are as few as cores.)
final class Ending: Sendable {
    private struct State {
        var status: Int32?
        var waiting: [CheckedContinuation<Int32, Never>] = []
    }

    private let state = Mutex(State())

    func note(_ status: Int32) {
        let waiting = state.withLock { state in
            state.status = status
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume(returning: status) }
    }

    /// The status; -1 when the waiting task is cancelled, as a test's is when its time is over.
    func wait() async -> Int32 {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let status = state.withLock { state in
                    if state.status == nil { state.waiting.append(continuation) }
                    return state.status
                }
                if let status { continuation.resume(returning: status) }
            }
        } onCancel: {
            let waiting = state.withLock { state in
                defer { state.waiting = [] }
                return state.waiting
            }
            for continuation in waiting { continuation.resume(returning: -1) }
        }
    }
}

extension Process {
    /// Lets Foundation forget a process that has ended; for its termination handler.
    ///
    /// Without it Foundation keeps the process for good, and with it every handle it was given. And
    /// a test run with more than some 1,300 open descriptors crashes in `run()`, which then reads
    /// past the end of what `readdir` returns.
    package func letGo() { waitUntilExit() }
}

/// The folder with the programs that were built together with the tests.
package let productsDirectory: URL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    .deletingLastPathComponent()

/// What a program that has ended gave.
package struct ProgramResult: Sendable {
    package let status: Int32
    package let output: String
    package let errors: String
}

/// Runs a program to its end.
package func run(
    _ program: String, _ arguments: [String], environment: [String: String] = [:]
) async throws -> ProgramResult {
    let scratch = try Scratch()
    let output = scratch.file("out")
    _ = FileManager.default.createFile(atPath: output, contents: nil)
    let handle = try FileHandle(forWritingTo: URL(filePath: output))
    let child = try Child(
        program, arguments, environment: environment, log: scratch.file("err"), output: handle)
    let status = await child.wait()
    let text = try String(contentsOfFile: output, encoding: .utf8)
    return ProgramResult(status: status, output: text, errors: child.logText)
}
