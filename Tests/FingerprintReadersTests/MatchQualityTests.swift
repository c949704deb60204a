// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import Foundation
import TestKit
import Testing

/// `scripts/measure-match-quality`, held against what is known beforehand.
@Suite(.timeLimit(.minutes(3))) struct `The report on match quality` {
    @Test func `different fingers are no false accepts, and their own touches no rejects`()
        async throws
    {
        let report = try await MatchQuality.measured(
            "--numbers", "2,3,4", "--touches", "2", "--ways", "careful", "--stranger-ways",
            "careful", "--pairs", "6")
        let own = try #require(report.own["careful"])
        #expect(own.hits == 0 && own.trials == 6 && own.bad == 0)
        let strangers = try #require(report.strangers["careful"])
        #expect(strangers.hits == 0 && strangers.trials == 6 && strangers.bad == 0)
        #expect(strangers.accepted == [])
        // What Wilson's interval gives for none of six.
        #expect(abs(strangers.high - 0.390) < 0.001 && strangers.low == 0)
        #expect(report.pairsVerified == 6)
        #expect(report.thresholds == [40])
    }

    @Test func `a stranger that is the same finger is a false accept, both ways`() async throws {
        let report = try await MatchQuality.measured(
            "--numbers", "2,3,2", "--touches", "1", "--ways", "careful", "--stranger-ways",
            "careful", "--pairs", "6")
        // The same finger, but laid down in a way of its own each time.
        #expect(report.ownScores.count == 3 && report.ownScores[0] != report.ownScores[2])
        let strangers = try #require(report.strangers["careful"])
        #expect(strangers.accepted == [[2, 2], [2, 2]])
        #expect(strangers.hits == 2 && strangers.trials == 6)
        #expect(strangers.acceptedFingers == 2 && strangers.fingers == 3)
        #expect(abs(strangers.low - 0.0968) < 0.001 && abs(strangers.high - 0.700) < 0.001)
        let lower = try #require(report.lowerThresholds["careful"])
        #expect(lower.first?.threshold == 40)
        #expect(lower.first?.falseAccepts == 2 && lower.first?.others == 6)
        #expect(zip(lower, lower.dropFirst()).allSatisfy { $0.falseAccepts <= $1.falseAccepts })
    }

    @Test func `nothing on the sensor is a bad scan, neither a miss nor a comparison`()
        async throws
    {
        let report = try await MatchQuality.measured(
            "--numbers", "2,3", "--touches", "3", "--ways", "missed", "--stranger-ways", "missed")
        let own = try #require(report.own["missed"])
        #expect(own.bad == 6 && own.trials == 0 && own.hits == 0 && own.refusable == 0)
        let strangers = try #require(report.strangers["missed"])
        #expect(strangers.bad == 2 && strangers.trials == 0 && strangers.hits == 0)
    }

    @Test func `too little finger to compare is a false reject, and said to be empty`()
        async throws
    {
        let report = try await MatchQuality.measured(
            "--numbers", "2,3", "--touches", "3", "--ways", "tip,careful", "--stranger-ways",
            "tip")
        let tip = try #require(report.own["tip"])
        #expect(tip.hits == 6 && tip.trials == 6 && tip.bad == 0 && tip.empty == 6)
        #expect(tip.refused == 2 && tip.refusable == 2)
        let careful = try #require(report.own["careful"])
        #expect(careful.hits == 0 && careful.refused == 0 && careful.refusable == 2)
    }

    @Test func `a reader that has worked long is replaced, and nothing is lost`() async throws {
        let arguments = [
            "", "--program", MatchQuality.finger, "--numbers", "2,3,2", "--touches", "1",
            "--ways", "careful", "--stranger-ways", "careful", "--pairs", "2",
        ]
        let result = try await MatchQuality.python(
            """
            tired = []
            script.Reader.is_tired = lambda reader: tired.append(reader.device) or True
            script.sys.argv = \(arguments)
            script.main()
            print(len(set(tired)), file=script.ERRORS, flush=True)
            """)
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output.contains("0 of 3"))
        #expect(result.output.contains("2 of 6"))
        // Three enrolments, three touches of their own, four identifications, two pairs.
        #expect(result.errors.split(separator: "\n").last == "12")
    }

    @Test func `alike touches of one finger count for less`() async throws {
        // Ten fingers, three touches each; half of the fingers miss always: worth ten touches.
        let outcomes = "[((f,), f % 2 == 0) for f in range(10) for _ in range(3)]"
        let alike = try await MatchQuality.python("print(script.rate(\(outcomes)))")
        #expect(alike.status == 0, "\(alike.errors)")
        #expect(alike.output.contains("'hits': 15, 'trials': 30, 'rate': 0.5, 'low': 0.2365"))
        // As many, one of two at each finger: worth all of them.
        let mixed = "[((f,), t % 2 == 0) for f in range(15) for t in range(2)]"
        let unlike = try await MatchQuality.python("print(script.rate(\(mixed)))")
        #expect(unlike.output.contains("'hits': 15, 'trials': 30, 'rate': 0.5, 'low': 0.3315"))
    }

    @Test(arguments: [
        ("'miss', None, [0] * 10", true), ("'miss', None, [0] * 9", false),
        ("'match', 1, [0] * 6", true), ("'match', 1, [0] * 5", false),
        ("'bad', None, []", true), ("'bad', None, [0]", false),
    ]) func `what the matcher's log does not confirm is not reported`(
        scan: String, confirmed: Bool
    ) async throws {
        let result = try await MatchQuality.python(
            "script.expect_comparisons(script.Scan(\(scan), 0), 2)")
        #expect((result.status == 0) == confirmed)
        #expect(confirmed || result.errors.contains("Unmeasurable"))
    }

    @Test func `the fingers are fit for the tests, and twins are not`() async throws {
        let fit = try await MatchQuality.run(
            "--check", "--first", "2", "--fingers", "3", "--touches", "3", "--pairs", "6")
        #expect(fit.status == 0, "\(fit.errors)")
        #expect(fit.output.contains("own touches     9 of 9 match"))
        let twins = try await MatchQuality.run(
            "--check", "--numbers", "2,2", "--touches", "1", "--pairs", "2")
        #expect(twins.status == 1)
        #expect(twins.errors.contains("these fingers are not what the tests need"))
    }

    @Test func `what cannot be measured ends with an error and no report`() async throws {
        let unknown = try await MatchQuality.run("--numbers", "2,3", "--ways", "upside-down")
        #expect(unknown.status == 1 && unknown.output.isEmpty)
        #expect(unknown.errors.contains("upside-down is no way of touching"))
    }
}
