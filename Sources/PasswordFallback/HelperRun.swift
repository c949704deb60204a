// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import LocalAuthModel
internal import PasswordMessages
internal import SystemSupport

/// One run of the program that checks passwords, from its start to its end.
///
/// Whatever it says is believed only once it has ended as it should: with status 0, after exactly
/// one verdict.
@BusQueue final class HelperRun {
    private enum Event {
        case report(PasswordReport)
        case answered((any PasswordEntry)?)
        case ended(ChildProcess.Ending)
    }

    /// Why a run was cut short.
    enum Cut: String {
        case cancelled, mute, unanswered
        case garbled = "not understood"
        case refused = "entry not handed over"
    }

    /// More texts and questions than any conversation has.
    private static let mostReports = 100

    private let child: ChildProcess
    private let patience: Duration
    private var events: [Event] = []
    private var waiting: CheckedContinuation<Event, Never>?
    private var input: PollExecutor.Token?
    private var deadline: PollExecutor.Token?
    private var reports = 0
    /// The person is being asked.
    private var asking: Task<Void, Never>?
    private(set) var cut: Cut?
    /// When it was last given something to check.
    private(set) var lastEntry: UInt64 = 0

    /// Starts it.
    init(
        _ program: String, _ arguments: [String], patience: Duration
    ) throws(SystemError) {
        self.patience = patience
        // No language and nothing of ours: what PAM's modules say goes on as it comes.
        child = try ChildProcess(
            program, arguments, environment: ["PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8"])
        input = BusQueue.executor.watch(child.messages.rawValue, for: .input) { [weak self] _ in
            BusQueue.assumeIsolated { self?.takeReports() }
        }
        // Keeps this object until the program has ended.
        child.watchEnd(on: BusQueue.executor) { [self] ending in
            BusQueue.assumeIsolated { noteEnd(ending) }
        }
    }

    /// Hands the entry over and carries the conversation on to its end. The verdict is `nil` when
    /// there was none to be believed.
    func converse(
        _ entry: any PasswordEntry, with person: any PasswordConversing
    ) async -> (verdict: PasswordVerdict?, ending: ChildProcess.Ending) {
        await withTaskCancellationHandler {
            hand(over: entry)
            return await carryOn(with: person)
        } onCancel: {
            BusQueue.post { self.cutShort(.cancelled) }
        }
    }

    private func carryOn(
        with person: any PasswordConversing
    ) async -> (verdict: PasswordVerdict?, ending: ChildProcess.Ending) {
        var verdict: PasswordVerdict?
        while true {
            switch await next() {
            case .report where verdict != nil || asking != nil: cutShort(.garbled)
            case .report(.verdict(let given)): verdict = given
            case .report(.text(let text)):
                if case .question = text.kind {
                    ask(text, person)
                } else {
                    await person.tell(text)
                }
            case .answered(let entry):
                asking = nil
                if let entry { hand(over: entry) } else { cutShort(.unanswered) }
            case .ended(let ending):
                asking?.cancel()
                let isSound = cut == nil && ending == .exited(0)
                return (isSound ? verdict : nil, ending)
            }
        }
    }

    /// Ends it at once. It is over when the program has ended.
    private func cutShort(_ cause: Cut) {
        guard cut == nil else { return }
        cut = cause
        child.kill()
    }

    // MARK: The person

    private func ask(_ question: PasswordText, _ person: any PasswordConversing) {
        asking = BusQueue.task { [weak self] in
            let entry = await person.answer(to: question)
            self?.note(.answered(entry))
        }
    }

    private func hand(over entry: any PasswordEntry) {
        guard cut == nil else { return }
        guard child.messages.send(PasswordOrder.entry.message, with: entry.descriptor) else {
            return cutShort(.refused)
        }
        lastEntry = BootClock.nanoseconds()
        startDeadline()
    }

    // MARK: The program

    private func takeReports() {
        while true {
            switch child.messages.receive(limit: PasswordReport.longestMessage) {
            case .message(let bytes):
                reports += 1
                guard reports <= Self.mostReports, let report = PasswordReport(message: bytes)
                else { return stopListening(.garbled) }
                startDeadline()
                if case .text(let text) = report, case .question = text.kind { stopDeadline() }
                note(.report(report))
            case .nothing: return
            case .end: return stopListening(nil)
            case .broken: return stopListening(.garbled)
            }
        }
    }

    private func stopListening(_ cause: Cut?) {
        if let input { BusQueue.executor.unwatch(input) }
        input = nil
        if let cause { cutShort(cause) }
    }

    private func noteEnd(_ ending: ChildProcess.Ending) {
        // What it has said before may still be there.
        if input != nil { takeReports() }
        stopListening(nil)
        stopDeadline()
        note(.ended(ending))
    }

    /// The time in which it has to say something, while it is its turn.
    private func startDeadline() {
        stopDeadline()
        deadline = BusQueue.executor.after(patience) { [weak self] in
            BusQueue.assumeIsolated { self?.cutShort(.mute) }
        }
    }

    private func stopDeadline() {
        if let deadline { BusQueue.executor.cancelTimer(deadline) }
        deadline = nil
    }

    // MARK: Events

    private func note(_ event: Event) {
        if let waiting {
            self.waiting = nil
            return waiting.resume(returning: event)
        }
        events.append(event)
    }

    private func next() async -> Event {
        await withCheckedContinuation { continuation in
            guard events.isEmpty else {
                return continuation.resume(returning: events.removeFirst())
            }
            waiting = continuation
        }
    }
}
