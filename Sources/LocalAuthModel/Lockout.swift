// SPDX-License-Identifier: Apache-2.0

/// How a lockout ends.
package enum LockoutRecovery: Hashable, Sendable {
    /// Only by the password or an administrator.
    case password
    /// Also by waiting, until too many misses have been made without a password.
    case timed
}

/// How many misses are allowed.
package struct LockoutRules: Hashable, Sendable {
    /// Misses that end one evaluation.
    package var missesPerEvaluation: UInt32 = 3
    /// Consecutive misses, over all evaluations, that lock the user's biometry.
    package var missesBeforeLockout: UInt32 = 5
    package var recovery: LockoutRecovery = .password
    /// How long a timed lockout lasts.
    package var period: Duration = .seconds(30)
    /// Misses since the last match or password after which waiting does not help any more.
    package var missesBeforePassword: UInt32 = 20

    package init() {}
}

/// What is kept of a user's misses.
package struct LockoutRecord: Hashable, Sendable {
    /// Consecutive misses towards the next lockout.
    package var misses: UInt32 = 0
    /// Misses since the last match or password.
    package var total: UInt32 = 0
    /// Set while locked.
    package var locked: Locked?

    /// When a lockout began: a moment means something only within its boot.
    package struct Locked: Hashable, Sendable {
        package var at: BootTime
        package var boot: BootID
        package init(at: BootTime, boot: BootID) {
            self.at = at
            self.boot = boot
        }
    }

    package init() {}

    package init(misses: UInt32, total: UInt32, locked: Locked?) {
        self.misses = misses
        self.total = total
        self.locked = locked
    }

    /// Nothing to remember: no miss since the last match.
    package var isClear: Bool { self == Self() }

    /// Charges one miss.
    package mutating func charge(_ rules: LockoutRules, at now: BootTime, boot: BootID) {
        misses = misses < rules.missesBeforeLockout ? misses + 1 : rules.missesBeforeLockout
        total = total == .max ? .max : total + 1
        if misses >= rules.missesBeforeLockout, locked == nil {
            locked = Locked(at: now, boot: boot)
        }
    }

    /// What holds at `now`. A record whose count has reached the limit is locked even if it does
    /// not say so.
    package func standing(_ rules: LockoutRules, at now: BootTime, boot: BootID) -> LockoutStanding
    {
        guard locked != nil || misses >= rules.missesBeforeLockout else {
            return .open(attemptsLeft: rules.missesBeforeLockout - misses)
        }
        guard rules.recovery == .timed, total < rules.missesBeforePassword, let locked else {
            return .locked(for: nil)
        }
        // Of another boot only the order is known, so the wait begins anew with this one.
        let began = locked.boot == boot ? locked.at : BootTime(microseconds: 0)
        let waited = now.since(began)
        if waited < rules.period { return .locked(for: rules.period - waited) }
        let allowed = min(rules.missesBeforeLockout, rules.missesBeforePassword - total)
        return .open(attemptsLeft: allowed)
    }

    /// The record to go on with at `now`: a timed lockout that has ended is taken out.
    package func settled(_ rules: LockoutRules, at now: BootTime, boot: BootID) -> LockoutRecord {
        guard locked != nil, case .open(let left) = standing(rules, at: now, boot: boot) else {
            return self
        }
        return LockoutRecord(misses: rules.missesBeforeLockout - left, total: total, locked: nil)
    }
}

/// Whether a user's biometry is locked.
package enum LockoutStanding: Hashable, Sendable {
    case open(attemptsLeft: UInt32)
    /// `for` is set when waiting ends it.
    case locked(for: Duration?)

    package var isLocked: Bool {
        if case .locked = self { true } else { false }
    }

    package var attemptsLeft: UInt32 {
        if case .open(let left) = self { left } else { 0 }
    }

    /// Whole seconds to wait, rounded up; 0 when waiting does not help or is not needed.
    package var secondsLeft: UInt32 {
        guard case .locked(let wait?) = self else { return 0 }
        let micros = wait.wholeMicroseconds
        return UInt32(clamping: (micros + 999_999) / 1_000_000)
    }
}

/// The kernel's name for this run of the machine (`/proc/sys/kernel/random/boot_id`).
package struct BootID: Hashable, Sendable {
    package let rawValue: String

    /// Letters, digits and hyphens, as in a UUID.
    package init?(_ text: String) {
        let allowed = text.utf8.allSatisfy {
            ($0 >= 0x30 && $0 <= 0x39) || ($0 >= 0x61 && $0 <= 0x66) || $0 == 0x2d
        }
        guard allowed, !text.isEmpty, text.utf8.count <= 64 else { return nil }
        rawValue = text
    }
}
