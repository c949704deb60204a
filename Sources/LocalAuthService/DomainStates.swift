// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import GLibBinding
internal import LocalAuthModel
internal import SystemSupport

/// What each application is told of the state of a user's enrolment: the same as long as nothing
/// changes, and of no use to any other application.
///
/// Each change of the prints makes a new generation, which is on disk before anything is told.
@BusQueue final class DomainStates {
    private struct Settled {
        var generation: Generation
        /// How often the prints had changed.
        var turn: UInt64
        var isWritten = true
    }

    private let prints: PrintIndex
    private let store: any GenerationStoring
    private let log: Log
    private var settled: [Account: Settled] = [:]
    /// What is being read or written; gives whether that could be.
    private var settling: [Account: Task<Bool, Never>] = [:]
    /// The accounts that were asked about, by name.
    private var accounts: [UserName: Set<Account>] = [:]
    private var secret: [UInt8]?
    private var isFailing = false
    /// Changes that are being written down without anybody asking.
    private var notedChanges = 0
    private let endings = Waiters()

    init(prints: PrintIndex, store: any GenerationStoring, log: Log) {
        self.prints = prints
        self.store = store
        self.log = log
    }

    /// The state as one application sees it; `nil` when it could not be found out, which is not
    /// the same as another one. An application of which nothing is known counts as one.
    func state(of account: Account, for program: CallerProgram?) async -> [UInt8]? {
        note(account)
        guard let generation = await settle(account), let secret = await machineSecret() else {
            return nil
        }
        var code = MessageAuthentication(key: secret)
        code.add(field: Array("org.example.LocalAuth domain-state 1".utf8))
        code.add((0..<4).map { UInt8(truncatingIfNeeded: account.id.rawValue >> ($0 * 8)) })
        code.add(field: Array(account.name.rawValue.utf8))
        code.add(field: Array((program?.evidence.rawValue ?? "").utf8))
        code.add(field: Array((program?.name ?? "").utf8))
        code.add(field: generation.nonce)
        code.add(field: generation.digest)
        return code.finish()
    }

    /// Changes of this account's prints are written down from now on, asked or not.
    func note(_ account: Account) { accounts[account.name, default: []].insert(account) }

    /// The prints of a user have changed. That is written down at once: we may have ended before
    /// anybody asks, and by then it may be undone.
    func noteChange(of user: UserName) {
        for account in accounts[user] ?? [] {
            notedChanges += 1
            BusQueue.task {
                _ = await settle(account)
                notedChanges -= 1
                endings.resume()
            }
        }
    }

    /// Whether every change that was heard of is written down.
    var isIdle: Bool { notedChanges == 0 }

    /// Returns when it is so.
    func waitUntilIdle() async {
        while !isIdle { await endings.wait(unless: { isIdle }) }
    }

    /// The generation of the prints as they are; `nil` when that could not be found out.
    private func settle(_ account: Account) async -> Generation? {
        var hasTried = false
        // Bounded, as the index is: a directory that never rests must not keep us busy.
        for _ in 0..<10 {
            guard let look = await prints.look(at: account.name) else { return nil }
            if let known = settled[account], known.turn == look.turn,
                known.generation.digest == look.listing.digest, known.isWritten || hasTried
            {
                return known.generation
            }
            // Whoever is at it may have begun with an older look.
            let isOwn = settling[account] == nil
            let task = settling[account] ?? BusQueue.task { await self.renew(account, look) }
            settling[account] = task
            guard await task.value else { return nil }
            hasTried = hasTried || isOwn
        }
        return settled[account]?.generation
    }

    private func renew(_ account: Account, _ look: PrintIndex.Look) async -> Bool {
        defer { settling[account] = nil }
        var next: Settled
        if let known = settled[account] {
            let isSame = known.turn == look.turn && known.generation.digest == look.listing.digest
            next = isSame ? known : fresh(look)
        } else {
            do throws(StorageFailure) {
                next = begin(with: try await store.read(for: account), look)
            } catch {
                log.warning("the state of enrolment could not be read", ["error": "\(error)"])
                return false
            }
        }
        if !next.isWritten {
            do throws(StorageFailure) {
                try await store.write(next.generation, for: account)
                next.isWritten = true
                isFailing = false
            } catch {
                // It holds as long as we run, and the next run begins another one. Said once, until
                // it works again.
                if !isFailing {
                    log.warning(
                        "the state of enrolment could not be written down",
                        ["uid": "\(account.id.rawValue)", "error": "\(error)"])
                }
                isFailing = true
            }
        }
        settled[account] = next
        return true
    }

    /// The first look of this run at an account's generation.
    private func begin(with reading: GenerationReading, _ look: PrintIndex.Look) -> Settled {
        switch reading {
        case .none where look.listing.prints.isEmpty && look.turn == 0:
            // No file for everybody who ever asks.
            Settled(generation: .unenrolled(look.listing.digest), turn: 0)
        case .generation(let kept) where kept.digest == look.listing.digest && look.turn == 0:
            Settled(generation: kept, turn: 0)
        case .none, .generation, .unreadable: fresh(look)
        }
    }

    private func fresh(_ look: PrintIndex.Look) -> Settled {
        Settled(
            generation: Generation(
                nonce: randomBytes(Generation.nonceSize), digest: look.listing.digest),
            turn: look.turn, isWritten: false)
    }

    private func machineSecret() async -> [UInt8]? {
        if let secret { return secret }
        do throws(StorageFailure) {
            let found = try await store.secret()
            secret = secret ?? found
        } catch {
            log.warning("the machine's secret could not be read", ["error": "\(error)"])
        }
        return secret
    }
}
