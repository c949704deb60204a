// SPDX-License-Identifier: Apache-2.0

import LocalAuthModel

/// Explores everything that can happen to an evaluation, breadth first, so that what it finds is
/// the shortest way to it.
struct ModelCheck {
    struct Node: Hashable {
        var state: EvaluationState
        var world: World
    }

    /// Something wrong, and the events that lead to it.
    struct Fault: Error, CustomStringConvertible {
        let what: String
        let way: [EvaluationEvent]
        var description: String {
            what + " after:" + way.map { "\n  \($0)" }.joined()
        }
    }

    let terms: EvaluationTerms
    private(set) var nodes: [Node] = []
    private(set) var transitions = 0
    private(set) var answers: Set<EvaluationError?> = []
    private var parents: [(node: Int, event: EvaluationEvent)?] = []
    private var seen: Set<Node> = []

    init(
        _ terms: EvaluationTerms, readers: Int, attemptsLeft: UInt32, hasAgent: Bool = false
    ) throws(Fault) {
        self.terms = terms
        var world = World(readers: readers, attemptsLeft: attemptsLeft, hasAgent: hasAgent)
        do throws(World.Wrong) {
            for effect in firstEvaluationEffects { try world.carryOut(effect) }
        } catch {
            throw Fault(what: error.what, way: [])
        }
        add(Node(state: .admitting, world: world), from: nil)
        try explore()
    }

    var states: Set<EvaluationState> { Set(nodes.map(\.state)) }

    private mutating func explore() throws(Fault) {
        var next = 0
        while next < nodes.count {
            let node = nodes[next]
            let wanted = node.world.happenings
            if node.state == .finished {
                try check(node.world.wasAnswered && node.world.hasLeft, "ended in silence", next)
            } else {
                try check(!wanted.isEmpty, "waits for nothing", next)
            }
            for (event, after) in wanted { try follow(event, from: next, to: after) }
            try follow(.interrupted(.timeout), from: next, to: node.world)
            try follow(.overdue, from: next, to: node.world)
            next += 1
        }
    }

    private mutating func follow(
        _ event: EvaluationEvent, from index: Int, to world: World
    ) throws(Fault) {
        let outcome = step(nodes[index].state, event, terms)
        transitions += 1
        var world = world
        do throws(World.Wrong) {
            for effect in outcome.effects { try world.carryOut(effect) }
        } catch {
            throw Fault(what: error.what, way: way(to: index) + [event])
        }
        answers.formUnion(outcome.effects.answers)
        // Each reader but the one that ends it can have found one more by then.
        if world.charges > terms.missesAllowed + UInt32(world.readers.count) - 1 {
            throw Fault(what: "too many misses", way: way(to: index) + [event])
        }
        if world.wrongPasswords > terms.passwordsAllowed {
            throw Fault(what: "too many passwords", way: way(to: index) + [event])
        }
        add(Node(state: outcome.state, world: world), from: (index, event))
    }

    private mutating func add(_ node: Node, from parent: (Int, EvaluationEvent)?) {
        guard seen.insert(node).inserted else { return }
        nodes.append(node)
        parents.append(parent.map { ($0.0, $0.1) })
    }

    private func check(_ isRight: Bool, _ what: String, _ index: Int) throws(Fault) {
        if !isRight { throw Fault(what: what + ": \(nodes[index].state)", way: way(to: index)) }
    }

    private func way(to index: Int) -> [EvaluationEvent] {
        var way: [EvaluationEvent] = []
        var index = index
        while let parent = parents[index] {
            way.append(parent.event)
            index = parent.node
        }
        return way.reversed()
    }
}
