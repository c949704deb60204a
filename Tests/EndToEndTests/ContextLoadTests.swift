// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation
import LocalAuthContract
import TestKit
import Testing

/// An application that evaluates all day.
@Suite(.timeLimit(.minutes(3))) struct `A thousand evaluations` {
    @Test func `leave no descriptor and no thread behind`() async throws {
        let scene = try await ContextScene()
        let count = 1_000
        let run = try TutorialRun(
            "context-probe", ["leaks", "\(count)"], environment: scene.service.bus.environment)
        let touches = Task { [watcher = scene.watcher, storage = scene.service.storage] in
            for _ in 0..<count {
                await watcher.fingerIsNeeded()
                guard !Task.isCancelled else { return }
                try storage.send("SCAN mine")
            }
        }
        let early = try #require(await run.nextLine())
        #expect(early.hasPrefix("100: descriptors "))
        let (rest, status) = await run.end()
        touches.cancel()
        await scene.watcher.stopWaiting()
        let late = try #require(rest.last)
        #expect(late.hasPrefix("1000: descriptors ") && status == 0)
        print(early, late, separator: "; ")
        let numbers = [early, late].map { line in
            line.matches(of: /(\d+)/).compactMap { Int($0.1) }
        }
        #expect(numbers[1][1] == numbers[0][1], "descriptors")
        // Dispatch keeps as many threads as it has use for, and no thousand.
        #expect(numbers[1][2] <= numbers[0][2] + 8, "threads")
    }
}
