// SPDX-License-Identifier: Apache-2.0

import LocalAuthModel
import Testing

/// A line whose joining `#expect` can look at.
private final class Line {
    private(set) var line = WaitingLine<Int>()
    var first: Int? { line.first }
    var isEmpty: Bool { line.isEmpty }
    func hasRoom(for user: UserID) -> Bool { line.hasRoom(for: user) }
    func join(_ id: Int, user: UserID) -> Bool { line.join(id, user: user) }
    func leave(_ id: Int) { line.leave(id) }
}

@Suite struct `A waiting line` {
    private static func user(_ number: Int) -> UserID { valid(UserID(UInt32(number))) }

    @Test func `serves in the order of arrival`() {
        let line = Line()
        #expect(line.isEmpty)
        #expect(line.first == nil)
        for id in 1...4 { #expect(line.join(id, user: Self.user(id))) }
        var served: [Int] = []
        while let first = line.first {
            served.append(first)
            line.leave(first)
        }
        #expect(served == [1, 2, 3, 4])
        #expect(line.isEmpty)
    }

    @Test func `has room for four of one user`() {
        let line = Line()
        for id in 1...4 { #expect(line.join(id, user: Self.user(7))) }
        #expect(!line.hasRoom(for: Self.user(7)))
        #expect(!line.join(5, user: Self.user(7)))
        #expect(line.join(6, user: Self.user(8)))
        line.leave(2)
        #expect(line.join(5, user: Self.user(7)))
    }

    @Test func `has room for 32 in all`() {
        let line = Line()
        for id in 0..<32 { #expect(line.join(id, user: Self.user(id))) }
        #expect(!line.join(32, user: Self.user(99)))
        line.leave(31)
        #expect(line.join(32, user: Self.user(99)))
    }

    @Test func `lets go of those who wait, and minds nobody who is not there`() {
        let line = Line()
        for id in 1...3 { #expect(line.join(id, user: .root)) }
        line.leave(2)
        line.leave(99)
        #expect(line.first == 1)
        line.leave(1)
        #expect(line.first == 3)
    }
}
