// SPDX-License-Identifier: Apache-2.0

/// What a ticket says to the one who redeems it.
package struct TicketClaims: Hashable, Sendable {
    /// The user who was authenticated.
    package let account: Account
    package let policy: Policy
    package let method: AuthenticationMethod
    package let authenticatedAt: BootTime
    /// The connection that was given the ticket.
    package let caller: String
    /// What was known of its program when it asked.
    package let program: CallerProgram?

    package init(
        account: Account, policy: Policy, method: AuthenticationMethod,
        authenticatedAt: BootTime, caller: String, program: CallerProgram?
    ) {
        self.account = account
        self.policy = policy
        self.method = method
        self.authenticatedAt = authenticatedAt
        self.caller = caller
        self.program = program
    }
}

/// The tickets that can still be redeemed: each once, for a while, and with the challenge that it
/// was given for.
package struct TicketLedger: Sendable {
    package static let ticketSize = 32
    package static let challengeSizes = 16...64
    package static let lifetime: Duration = .seconds(30)
    /// So many are open at most; then the oldest goes.
    package static let limit = 256
    /// So many of one user, whose oldest goes then: nobody can push out everybody else's.
    package static let limitPerUser = 32

    private struct Ticket {
        let secret: [UInt8]
        let challenge: [UInt8]
        let claims: TicketClaims
        let issued: BootTime
    }

    /// The oldest first.
    private var tickets: [Ticket] = []

    package init() {}

    /// Opens a ticket; `secret` is random, and nobody has had it before.
    package mutating func issue(
        _ secret: [UInt8], for claims: TicketClaims, challenge: [UInt8], at now: BootTime
    ) {
        drop(at: now)
        let own = tickets.indices.filter { tickets[$0].claims.account == claims.account }
        if own.count >= Self.limitPerUser {
            tickets.remove(at: own[0])
        } else if tickets.count >= Self.limit {
            tickets.removeFirst()
        }
        tickets.append(
            Ticket(secret: secret, challenge: challenge, claims: claims, issued: now))
    }

    /// What the ticket says, if there is such a one and the challenge is its own. Right or wrong,
    /// it is used up.
    package mutating func redeem(
        _ secret: [UInt8], challenge: [UInt8], at now: BootTime
    ) -> TicketClaims? {
        drop(at: now)
        // All of them are compared, so that the time tells nothing of one that nearly fits.
        let found = tickets.indices.filter { isSameSecret(tickets[$0].secret, secret) }
        guard let index = found.first else { return nil }
        let ticket = tickets.remove(at: index)
        return isSameSecret(ticket.challenge, challenge) ? ticket.claims : nil
    }

    /// Whether there is one that can still be redeemed.
    package mutating func hasOpen(at now: BootTime) -> Bool {
        drop(at: now)
        return !tickets.isEmpty
    }

    private mutating func drop(at now: BootTime) {
        tickets.removeAll { now.since($0.issued) > Self.lifetime }
    }
}
