// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation
import LocalAuthContract
import LocalAuthModel
import LocalAuthService
import Testing

private let reader = ReaderID(1)

/// The table that the README publishes, cell by cell against the service.
@Suite(.timeLimit(.minutes(3))) struct `The table of the policies` {
    @Test func `has one cell for everything that can meet`() throws {
        let rows = try PolicyTable.published()
        for scene in Scene.all {
            #expect(rows.filter { $0.covers(scene) }.count == 1, "\(scene)")
        }
        #expect(Scene.all.count * Act.allCases.count == 294)
    }

    @Test(arguments: Scene.all) func `says what happens`(scene: Scene) async throws {
        let row = try #require(try PolicyTable.published().first { $0.covers(scene) })
        for act in Act.allCases {
            try await withService(present: scene.readers) { fixture, client in
                let play = try await Play(scene, fixture, client)
                let cell = try await play.outcome(of: act)
                #expect(cell == row.cells[act], "\(scene), \(act.rawValue)")
            }
        }
    }
}

/// What a person does. The raw values head the table's columns.
enum Act: String, CaseIterable {
    case hit, miss
    case rightPassword = "right password"
    case wrongPassword = "wrong password"
    case fallback, cancel
    case timeOut = "time-out"
}

/// Under which circumstances.
struct Scene: CustomStringConvertible, Sendable {
    enum Circumstance: String, CaseIterable, Sendable {
        case fine
        case noReader = "no reader"
        case notEnrolled = "not enrolled"
        case lockedOut = "locked out"
        case noPassword = "no password"
        case lidClosed = "lid closed"
        case noAgent = "no agent"
    }

    enum Title: String, CaseIterable, Sendable { case standard = "default", custom, empty }

    let policy: UInt32
    let circumstance: Circumstance
    let title: Title

    static let all: [Scene] = [1, 2].flatMap { policy in
        Circumstance.allCases.flatMap { circumstance in
            Title.allCases.map {
                Scene(policy: policy, circumstance: circumstance, title: $0)
            }
        }
    }

    var description: String { "\(policy), \(circumstance.rawValue), \(title.rawValue)" }

    var readers: [ReaderDescription] {
        switch circumstance {
        case .noReader: []
        case .lidClosed: [.sample(1, .builtIn)]
        case .fine, .notEnrolled, .lockedOut, .noPassword, .noAgent: [.sample(1)]
        }
    }
}

/// A row of the table in the README: which scenes it is about, and its cells.
struct PolicyTable {
    let policies: [String]
    let circumstances: [String]
    let titles: [String]
    var cells: [Act: String] = [:]

    func covers(_ scene: Scene) -> Bool {
        policies.contains("\(scene.policy)")
            && circumstances.contains(scene.circumstance.rawValue)
            && (titles == ["any"] || titles.contains(scene.title.rawValue))
    }

    static func published() throws -> [PolicyTable] {
        let root = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let text = try String(contentsOf: root.appending(path: "README.md"), encoding: .utf8)
        let header = (["policy", "circumstances", "fallback title"] + Act.allCases.map(\.rawValue))
            .joined(separator: " | ")
        let lines = text.components(separatedBy: "\n")
        let start = try #require(lines.firstIndex(of: "| \(header) |"), "the table is not there")
        return lines[(start + 2)...].prefix { $0.hasPrefix("|") }.map(PolicyTable.init)
    }

    private init(line: String) {
        let fields = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
        func list(_ field: String) -> [String] { field.components(separatedBy: ", ") }
        policies = list(fields[0])
        circumstances = list(fields[1])
        titles = list(fields[2])
        for (act, cell) in zip(Act.allCases, fields.dropFirst(3)) {
            cells[act] = cell.replacing("`", with: "")
        }
    }
}

/// One scene, in which one thing is done.
@BusQueue private final class Play {
    private let scene: Scene
    private let fixture: ServiceFixture
    private let client: TestClient
    private var agent: TestAgent?

    init(_ scene: Scene, _ fixture: ServiceFixture, _ client: TestClient) async throws {
        self.scene = scene
        self.fixture = fixture
        self.client = client
        switch scene.circumstance {
        case .notEnrolled: fixture.prints.prints = []
        case .lockedOut: fixture.lockouts.readings[.alice] = .unreadable
        case .noPassword: fixture.passwords.standing.isSet = false
        case .lidClosed: fixture.machine.move(LidState(isClosed: true, isDocked: false))
        case .fine, .noReader, .noAgent: break
        }
        if scene.circumstance != .noAgent {
            let agent = TestAgent(try await fixture.connect())
            try await agent.register()
            self.agent = agent
        }
    }

    /// What the act leads to, as a cell of the table says it.
    func outcome(of act: Act) async throws -> String {
        var options: [String: BusValue] = [:]
        switch scene.title {
        case .standard: break
        case .custom: options["fallback-title"] = .string("Use PIN")
        case .empty: options["fallback-title"] = .string("")
        }
        if act == .timeOut { options["timeout"] = .uint32(1) }
        let (policy, client, request) = (scene.policy, client, options)
        let endings = Journal<String>()
        let evaluation = BusQueue.task {
            var method: BusValue?
            let error = await ending {
                method = try await client.evaluate(policy: policy, request)["method"]
            }
            endings.add(error ?? (method == .string("password") ? "✔ password" : "✔ finger"))
        }
        if await isAsked(endings), let cell = try await perform(act) {
            // Nothing has happened, or something is asked again; either way it goes on.
            #expect(endings.entries == [])
            try await client.cancel()
            await evaluation.value
            return cell
        }
        await evaluation.value
        return endings.entries.first ?? "?"
    }

    /// Waits until a finger or a password is waited for, or until it has ended.
    private func isAsked(_ endings: Journal<String>) async -> Bool {
        let waiting = Journal<Void>()
        let heard = BusQueue.task { [client] in
            await client.next { heard in
                switch heard {
                case .progress(_, "waiting-for-finger"), .progress(_, "waiting-for-password"): true
                default: false
                }
            }
            waiting.add()
        }
        let ended = BusQueue.task {
            await endings.reaches(1)
            waiting.add()
        }
        await waiting.reaches(1)
        heard.cancel()
        ended.cancel()
        return endings.entries.isEmpty
    }

    /// Does it; gives a cell's text where it has no effect or leads to another question.
    private func perform(_ act: Act) async throws -> String? {
        switch act {
        case .hit, .miss:
            guard fixture.readers.isScanning(reader) else { return "–" }
            fixture.readers.touch(
                reader, act == .hit ? .matched(StoredPrint.sample.id) : .missed)
            return act == .miss ? await client.nextRetry().map { _ in "again" } : nil
        case .rightPassword, .wrongPassword:
            guard let (agent, id) = prompt() else { return "–" }
            let text = act == .rightPassword ? FakePasswords.right : "wrong"
            var reply: SubmitPassword.Reply?
            let refusal = await ending { reply = try await agent.enter(text, id) }
            if refusal == "NotSupported" { return "–" }
            return reply?.accepted == false ? "again" : nil
        case .fallback:
            guard let (agent, id) = prompt() else { return "–" }
            let hasButton = agent.shown(id)[.fallbackTitle] != nil
            let title = scene.title == .custom ? "Use PIN" : ""
            if hasButton { #expect(agent.shown(id)[.fallbackTitle] == .string(title)) }
            let refusal = await ending { try await agent.fallBack(id) }
            #expect((refusal == "NotSupported") == !hasButton)
            if refusal == "NotSupported" { return "–" }
            guard scene.policy == 2 else { return nil }
            await agent.shows(id, .finger, .bool(false))
            return agent.shown(id)[.password] == .bool(true) ? "password" : "?"
        case .cancel:
            guard let (agent, id) = prompt() else { return "–" }
            try await agent.cancel(id)
            return nil
        case .timeOut: return nil
        }
    }

    private func prompt() -> (TestAgent, String)? {
        guard let agent, let id = agent.begun.entries.last else { return nil }
        return (agent, id)
    }
}
