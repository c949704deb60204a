// SPDX-License-Identifier: Apache-2.0

package import DBusBinding
package import LocalAuthModel
package import SystemSupport

/// The passwords of this system's accounts, as PAM knows them. Each check is a process of its own,
/// which alone sees what was typed.
@BusQueue package final class SystemPasswords: PasswordVerifying {
    /// The program and the service that it asks.
    package struct Helper: Sendable {
        package var program: String
        package var service: PAMServiceName
        /// Where PAM's services are; `nil`: where PAM looks for them.
        package var directory: String?
        /// How long it may say nothing when it is its turn.
        package var patience: Duration = .seconds(60)
        /// After a check that was cut short, from its last entry to the next check of the account.
        ///
        /// After a wrong password PAM waits, by default for two seconds more or less half of it.
        /// Whoever cancelled instead of waiting could guess as fast as the machine computes.
        package var pauseAfterCut: Duration = .seconds(3)

        package init(program: String, service: PAMServiceName, directory: String? = nil) {
            self.program = program
            self.service = service
            self.directory = directory
        }
    }

    private let helper: Helper
    private let standings: @Sendable @BusQueue (Account) async -> PasswordStanding
    private let watch: @Sendable @BusQueue (@escaping @Sendable () -> Void) -> Void
    private let lines = AccountLines()
    private let log: Log

    /// - Parameters:
    ///   - helper: the program that checks.
    ///   - standings: what is known of an account's password without a check.
    ///   - watch: is given what to call when that changes.
    ///   - log: for what is wrong with the checking.
    package nonisolated init(
        helper: Helper,
        standings: @escaping @Sendable @BusQueue (Account) async -> PasswordStanding,
        watch: @escaping @Sendable @BusQueue (@escaping @Sendable () -> Void) -> Void = { _ in },
        log: Log
    ) {
        self.helper = helper
        self.standings = standings
        self.watch = watch
        self.log = log
    }

    @BusQueue package func start(changed: @escaping @Sendable () -> Void) async { watch(changed) }

    @BusQueue package func standing(of account: Account) async -> PasswordStanding {
        await standings(account)
    }

    @BusQueue package func verify(
        _ entry: any PasswordEntry, of account: Account, with person: any PasswordConversing
    ) async -> PasswordVerdict {
        guard await standings(account).isSet else { return .notSet }
        guard await lines.enter(account.name) else { return .unavailable }
        guard !Task.isCancelled else {
            lines.leave(account.name)
            return .unavailable
        }
        let (verdict, pause) = await check(entry, of: account, with: person)
        lines.leave(account.name, after: pause)
        return verdict
    }

    /// The verdict, and how long the account's next check has to wait.
    private func check(
        _ entry: any PasswordEntry, of account: Account, with person: any PasswordConversing
    ) async -> (PasswordVerdict, pause: Duration) {
        let directory = helper.directory.map { ["--confdir", $0] } ?? []
        let run: HelperRun
        do throws(SystemError) {
            run = try HelperRun(
                helper.program,
                directory + [helper.service.rawValue, account.name.rawValue],
                patience: helper.patience)
        } catch {
            log.error("passwords cannot be checked", ["error": "\(error)"])
            return (.unavailable, .zero)
        }
        let (verdict, ending) = await run.converse(entry, with: person)
        if let verdict {
            if verdict == .unavailable {
                log.warning("a password could not be checked", ["uid": "\(account.id.rawValue)"])
            }
            return (verdict, .zero)
        }
        switch run.cut {
        case .cancelled, .unanswered: log.debug("a check of a password was cut short")
        case let cut:
            log.warning(
                "a check of a password failed",
                [
                    "uid": "\(account.id.rawValue)",
                    "cause": cut?.rawValue ?? "ended without a verdict", "ending": "\(ending)",
                ])
        }
        let taken = BootClock.nanoseconds() &- run.lastEntry
        return (
            .unavailable, helper.pauseAfterCut - .nanoseconds(Int64(clamping: taken))
        )
    }
}
