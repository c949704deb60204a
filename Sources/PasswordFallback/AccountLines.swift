// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import LocalAuthModel
internal import SystemSupport

/// One check of an account's password at a time; others wait in order.
@BusQueue final class AccountLines {
    private struct Waiter {
        let number: UInt64
        let continuation: CheckedContinuation<Bool, Never>
    }

    /// Those who wait, for each account whose turn is taken.
    private var lines: [UserName: [Waiter]] = [:]
    private var lastNumber: UInt64 = 0

    nonisolated init() {}

    /// Waits for the turn, which is then to be given back; false when the task was cancelled.
    func enter(_ account: UserName) async -> Bool {
        lastNumber += 1
        let number = lastNumber
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard !Task.isCancelled else { return continuation.resume(returning: false) }
                guard lines[account] != nil else {
                    lines[account] = []
                    return continuation.resume(returning: true)
                }
                lines[account]?.append(Waiter(number: number, continuation: continuation))
            }
        } onCancel: {
            BusQueue.post { self.giveUp(number, on: account) }
        }
    }

    /// Gives the turn back, to the next after a pause.
    func leave(_ account: UserName, after pause: Duration = .zero) {
        guard pause > .zero else { return passOn(account) }
        _ = BusQueue.executor.after(pause) { [weak self] in
            BusQueue.assumeIsolated { self?.passOn(account) }
        }
    }

    private func passOn(_ account: UserName) {
        guard lines[account]?.isEmpty == false else { return lines[account] = nil }
        lines[account]?.removeFirst().continuation.resume(returning: true)
    }

    private func giveUp(_ number: UInt64, on account: UserName) {
        guard let index = lines[account]?.firstIndex(where: { $0.number == number }) else { return }
        lines[account]?.remove(at: index).continuation.resume(returning: false)
    }
}
