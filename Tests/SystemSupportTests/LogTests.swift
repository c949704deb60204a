// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import SystemSupport

@Suite struct `A log line` {
    @Test(arguments: [
        ("plain", "plain"), ("", "\"\""), ("two words", "\"two words\""), ("a\"b", "\"a\\u{22}b\""),
        ("a\nb", "\"a\\u{a}b\""), ("a\\b", "a\\b"), ("a \\b", "\"a \\u{5c}b\""),
        ("\u{7f}", "\"\\u{7f}\""), ("é", "\"\\u{e9}\""), ("\u{202e}x", "\"\\u{202e}x\""),
        ("\0", "\"\\u{0}\""), ("\u{2028}", "\"\\u{2028}\""),
    ]) func `cannot be forged by a value`(value: String, quoted: String) {
        #expect(Log.quoted(value) == quoted)
    }

    @Test func `has priority, topic, message and fields`() async {
        let result = await #expect(
            processExitsWith: .success, observing: [\.standardErrorContent]
        ) {
            let log = Log(topic: "tests")
            log.error("e", ["a": "1", "b": "x y"])
            log.topic("other").warning("w")
            log.notice("n")
            log.debug("unseen", ["never": { fatalError("made for nobody") }()])
            Log(topic: "loud", threshold: .debug).debug("d")
            Log(topic: "quiet", threshold: .error).warning("unseen")
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        let lines = text.split(separator: "\n").filter { $0.hasPrefix("<") }
        #expect(
            lines == [
                "<3>tests: e a=1 b=\"x y\"", "<4>other: w", "<5>tests: n", "<7>loud: d",
            ])
    }
}
