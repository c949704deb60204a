// SPDX-License-Identifier: Apache-2.0

import Foundation
import LocalAuthentication

// An application for tests about what is left behind, and about threads.
//
//   context-probe leaks COUNT   evaluates so often, each time in a new context; somebody else touches
//                               the reader. Says what the process holds after a tenth and at the end.
//   context-probe threads COUNT does everything from many threads at once, so often.

/// What a process holds that could be lost.
private struct Holdings: CustomStringConvertible {
    let descriptors: Int
    let threads: Int

    init() {
        func count(_ folder: String) -> Int {
            (try? FileManager.default.contentsOfDirectory(atPath: folder).count) ?? -1
        }
        descriptors = count("/proc/self/fd")
        threads = count("/proc/self/task")
    }

    var description: String { "descriptors \(descriptors), threads \(threads)" }
}

private let biometrics = LAPolicy.deviceOwnerAuthenticationWithBiometrics

private func show(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
}

/// Evaluates in the way whose turn it is.
private func evaluate(_ round: Int) async -> Bool {
    let context = LAContext()
    guard unsafe context.canEvaluatePolicy(biometrics, error: nil) else { return false }
    if round.isMultiple(of: 2) {
        return (try? await context.evaluatePolicy(biometrics, localizedReason: "leak")) ?? false
    }
    return await withCheckedContinuation { continuation in
        context.evaluatePolicy(biometrics, localizedReason: "leak") { success, _ in
            // Holds the context, as an application has to.
            withExtendedLifetime(context) { continuation.resume(returning: success) }
        }
    }
}

private func lookForLeaks(_ count: Int) async {
    for round in 1...count {
        guard await evaluate(round) else { return show("failed in round \(round)") }
        if round == count / 10 || round == count { show("\(round): \(Holdings())") }
    }
}

/// Notes nothing; that it is called is enough.
private final class Observer: LAEnvironmentObserver {
    func environment(
        _ environment: LAEnvironment, stateDidChangeFromOldState oldState: LAEnvironment.State
    ) {
        _ = environment.state
    }
}

/// One thread's share: contexts that are used, ended and let go at all moments.
private func use(_ shared: LAContext, _ round: Int) async {
    let context = round.isMultiple(of: 3) ? shared : LAContext()
    context.localizedCancelTitle = "Cancel \(round)"
    context.localizedFallbackTitle = round.isMultiple(of: 2) ? nil : "Other"
    _ = unsafe context.canEvaluatePolicy(biometrics, error: nil)
    _ = (context.biometryType, context.evaluatedPolicyDomainState, context.domainState)
    context.setCredential(Data([1]), type: .applicationPassword)
    let options = LAEvaluationOptions(timeout: 1)
    let task = Task {
        try? await context.evaluate(biometrics, localizedReason: "race", options: options) { _ in
            _ = context.isCredentialSet(.applicationPassword)
        }
    }
    context.evaluatePolicy(biometrics, localizedReason: "race") { _, _ in }
    switch round % 4 {
    case 0: task.cancel()
    case 1 where context !== shared: context.invalidate()
    case 2:
        await Task.yield()
        task.cancel()
    default: break
    }
    _ = await task.value
}

private func raceThreads(_ count: Int) async {
    let observer = Observer()
    LAEnvironment.currentUser.addObserver(observer)
    let shared = LAContext()
    await withTaskGroup { group in
        for thread in 0..<4 {
            group.addTask {
                for round in 0..<count { await use(shared, thread + round) }
            }
        }
    }
    shared.invalidate()
    LAEnvironment.currentUser.removeObserver(observer)
    withExtendedLifetime(observer) { show("done") }
}

@main enum Probe {
    static func main() async {
        let arguments = CommandLine.arguments
        guard arguments.count == 3, let count = Int(arguments[2]), count >= 10 else { exit(2) }
        switch arguments[1] {
        case "leaks": await lookForLeaks(count)
        case "threads": await raceThreads(count)
        default: exit(2)
        }
    }
}
