// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import SystemSupport

/// Has logind wait before the machine sleeps, for as long as we hold its descriptor. There is
/// never more than one.
@BusQueue final class SleepInhibitor {
    /// A descriptor could not be had.
    var onFailure: ((BusError) -> Void)?

    private enum State {
        case none
        /// Asked for; the number tells this question from earlier ones.
        case asked(UInt64)
        case held(SharedDescriptor)
    }

    private let logind: RemoteService
    private var state = State.none
    private var questions: UInt64 = 0
    private var timer: PollExecutor.Token?

    /// logind waits five seconds where nobody has set another time, but a machine that is slow to
    /// sleep is a fault of ours. The rest of a second is for the way.
    private static let longest: Duration = .milliseconds(900)

    init(_ logind: RemoteService) { self.logind = logind }

    /// Asks for one, unless there is one.
    func take() {
        guard case .none = state else { return }
        questions += 1
        let number = questions
        state = .asked(number)
        BusQueue.task { await self.ask(number) }
    }

    /// Lets go.
    func release() {
        keep()
        state = .none
    }

    /// Lets go within a second, whatever happens.
    func releaseSoon() {
        guard timer == nil else { return }
        timer = BusQueue.executor.after(Self.longest) { [weak self] in
            BusQueue.assumeIsolated { self?.release() }
        }
    }

    /// Takes `releaseSoon` back.
    func keep() {
        if let timer { BusQueue.executor.cancelTimer(timer) }
        timer = nil
    }

    private func ask(_ number: UInt64) async {
        let result: Result<SharedDescriptor, BusError>
        do throws(BusError) {
            result = .success(
                try await logind.call(
                    Logind.Inhibit.self,
                    Logind.Inhibit.Arguments(
                        what: "sleep", who: "LocalAuth",
                        why: "Fingerprint readers must be let go of", mode: "delay"),
                    at: Logind.managerPath, deadline: .seconds(5)
                ).value)
        } catch {
            result = .failure(error)
        }
        // One that comes too late is closed with the result.
        guard case .asked(number) = state else { return }
        switch result {
        case .success(let descriptor): state = .held(descriptor)
        case .failure(let error):
            state = .none
            onFailure?(error)
        }
    }
}
