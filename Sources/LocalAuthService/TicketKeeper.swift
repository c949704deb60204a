// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import LocalAuthModel
internal import SystemSupport

/// Gives tickets for successes, and takes them back.
@BusQueue final class TicketKeeper {
    private var ledger = TicketLedger()

    /// Whether no ticket can be redeemed any more.
    var isIdle: Bool { !ledger.hasOpen(at: now) }

    func issue(for claims: TicketClaims, challenge: [UInt8]) -> [UInt8] {
        let ticket = randomBytes(TicketLedger.ticketSize)
        ledger.issue(ticket, for: claims, challenge: challenge, at: now)
        return ticket
    }

    func redeem(_ ticket: [UInt8], challenge: [UInt8]) -> TicketClaims? {
        ledger.redeem(ticket, challenge: challenge, at: now)
    }

    private var now: BootTime { BootTime(microseconds: BootClock.microseconds()) }
}
