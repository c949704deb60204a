// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import LocalAuthModel
internal import SystemSupport

/// Knows which readers are better left alone: those whose drivers fail again and again, for a
/// while, and those that do not let go of their last work, until they do.
@BusQueue final class ReaderCare {
    /// Called when a reader is out of order, or is not any more.
    var onChange: (() -> Void)?

    private let log: Log
    private var health: [ReaderID: ReaderHealth] = [:]
    private var stuck: Set<ReaderID> = []
    private var wakeUps: [ReaderID: PollExecutor.Token] = [:]

    init(log: Log) { self.log = log }

    /// The readers that nothing can be asked of now.
    var outOfOrder: Set<ReaderID> { stuck.union(resting) }

    /// Whether a reader rests after failures, which would be forgotten with the process.
    var isAnyResting: Bool { !wakeUps.isEmpty }

    private var resting: Set<ReaderID> {
        let now = now
        return Set(health.filter { $0.value.isResting(at: now) }.keys)
    }

    /// Takes note of what a reader's work came to.
    func note(_ event: EvaluationEvent) {
        switch event {
        case .judged(let reader, _): health[reader] = nil
        case .failed(let reader, let failure): note(failure, of: reader)
        case .released(let reader): noteFree(reader)
        case .admitted, .refused, .turnCame, .prepared, .presented, .opened, .sensed, .charged,
            .fallbackChosen, .passwordSubmitted, .passwordQuestioned, .passwordJudged,
            .confirmed, .interrupted, .overdue:
            break
        }
    }

    /// A reader could not do its work.
    func note(_ failure: ReaderFailure, of reader: ReaderID) {
        guard failure.isFault else { return }
        health[reader, default: ReaderHealth()].fail(at: now)
        guard let end = health[reader]?.restsUntil else { return }
        let rest = end.since(now)
        log.warning(
            "a reader fails again and again, and rests",
            ["reader": "\(reader.number)", "seconds": "\(rest.components.seconds)"])
        if let token = wakeUps[reader] { BusQueue.executor.cancelTimer(token) }
        wakeUps[reader] = BusQueue.executor.after(rest) { [weak self] in
            BusQueue.assumeIsolated {
                self?.wakeUps[reader] = nil
                self?.onChange?()
            }
        }
        onChange?()
    }

    /// A reader has done what was wanted.
    func noteWork(of reader: ReaderID) { health[reader] = nil }

    /// These readers do not let go.
    func noteStuck(_ readers: some Sequence<ReaderID>) {
        for reader in readers where stuck.insert(reader).inserted {
            log.warning("a reader does not let go", ["reader": "\(reader.number)"])
        }
        onChange?()
    }

    /// A reader is closed.
    func noteFree(_ reader: ReaderID) {
        guard stuck.remove(reader) != nil else { return }
        log.notice("a reader has let go after all", ["reader": "\(reader.number)"])
        onChange?()
    }

    /// A reader is gone.
    func forget(_ reader: ReaderID) {
        health[reader] = nil
        stuck.remove(reader)
        if let token = wakeUps.removeValue(forKey: reader) { BusQueue.executor.cancelTimer(token) }
    }

    private var now: BootTime { BootTime(microseconds: BootClock.microseconds()) }
}
