// SPDX-License-Identifier: Apache-2.0

import DBusBinding
import Foundation
import Testing

@testable import localauthctl

@Suite struct `A line of the history` {
    private static let zone = {
        let seconds = TimeZone.current.secondsFromGMT(for: Date(timeIntervalSince1970: 0))
        return seconds == 0
    }()

    @Test(.enabled(if: zone, "the times below are of UTC"))
    func `says what is certain first and the caller's words last`() {
        #expect(
            historyLine([
                "kind": .string("evaluate"), "time": .uint64(1_700_000_000_999_999),
                "caller": .string("firefox"), "caller-evidence": .string("unverified"),
                "caller-uid": .uint32(1_000), "reason": .string("open the safe"),
                "policy": .uint32(1), "method": .string("biometrics"),
                "outcome": .string("success"), "misses": .uint32(2),
            ])
                == "2023-11-14T22:13:20+0000 evaluate success biometrics misses=2 uid=1000 "
                + #"unverified program "firefox": open the safe"#)
        #expect(
            historyLine([
                "kind": .string("delete"), "time": .uint64(0), "caller": .string(""),
                "caller-evidence": .string(""), "caller-uid": .uint32(0),
                "outcome": .string("NoSuchFinger"),
            ]) == "1970-01-01T00:00:00+0000 delete NoSuchFinger uid=0")
    }

    @Test func `does not let a program's name pass for something else`() {
        let line = historyLine([
            "kind": .string("evaluate"), "caller": .string("x\": fine\u{1b}[2K\n"),
            "caller-evidence": .string("label"), "caller-uid": .uint32(1),
            "outcome": .string("Timeout"),
        ])
        #expect(
            line == #"- evaluate Timeout uid=1 label program "x\": fine\u001b[2K\u000a""#)
    }

    @Test func `bears anything that an odd service may send`() {
        #expect(historyLine([:]).hasPrefix("- "))
        _ = historyLine(["time": .uint64(.max), "misses": .string("x"), "caller": .uint32(1)])
        _ = historyLine(["time": .string("now"), "reason": .bytes([0]), "kind": .bool(true)])
    }
}
