// SPDX-License-Identifier: Apache-2.0

import BusTestKit
import DBusBinding
import Foundation
import SystemSupport
import Testing

@Suite(.timeLimit(.minutes(1))) struct `A peer` {
    @Test func `that leaves is told of once, however many there are`() async throws {
        try await withPair { pair in
            let gone = Journal<UniqueName>()
            let alsoGone = Journal<UniqueName>()
            pair.server.watchPeers { gone.add($0) }
            pair.server.watchPeers { alsoGone.add($0) }
            var names: [UniqueName] = []
            for _ in 0..<1_000 {
                let peer = try BusConnection(address: pair.bus.address)
                names.append(peer.uniqueName)
                peer.close()
            }
            await gone.reaches(names.count)
            // What would be told twice would have come by now.
            _ = try await pair.server.credentials(
                of: pair.server.uniqueName, deadline: .seconds(30))
            // The bus may notice two ends in another order.
            for tally in [gone, alsoGone] {
                #expect(tally.entries.count == names.count)
                #expect(Set(tally.entries) == Set(names))
            }
        }
    }

    @Test func `leaves when its connection is dropped`() async throws {
        try await withPair { pair in
            let gone = Journal<UniqueName>()
            pair.server.watchPeers { gone.add($0) }
            var dropped: BusConnection? = try BusConnection(address: pair.bus.address)
            let name = dropped?.uniqueName
            dropped?.watchPeers { _ in }
            dropped?.export(BusObject(Sample.path, [BusInterface(Sample.interface)]))
            dropped = nil
            await gone.reaches(1)
            #expect(gone.entries.first == name)
        }
    }

    @Test func `leaves nothing open behind it`() async {
        // In a process of its own, where nobody else opens files.
        await #expect(processExitsWith: .success) {
            let bus = try await PrivateBus()
            let open = try await countOpenFiles(after: 20, on: bus)
            let later = try await countOpenFiles(after: 200, on: bus)
            #expect(open == later)
        }
    }

    @Test func `cannot be looked up when it is not there`() async throws {
        try await withPair { pair in
            let name = pair.client.uniqueName
            pair.client.close()
            // The bus notices in its own time; until then it answers.
            let gone = Journal<Void>()
            pair.server.watchPeers { _ in gone.add() }
            let late = try BusConnection(address: pair.bus.address)
            late.close()
            await gone.reaches(1)
            await #expect(throws: BusError.self) {
                try await pair.server.credentials(of: name, deadline: .seconds(30))
            }
        }
    }

    @Test func `is who the kernel says`() async throws {
        try await withPair { pair in
            let found = try await pair.server.credentials(
                of: pair.client.uniqueName, deadline: .seconds(30))
            #expect(found.userID == getuid())
            #expect(found.processID == UInt32(getpid()))
        }
    }

    @Test func `gets and gives descriptors, of which no copy stays`() async throws {
        try await withPair { pair in
            pair.serve { $0.serve(Echo<SharedDescriptor>.self) { arguments, _ in arguments } }
            let pipe = Pipe()
            let reading = pipe.fileHandleForReading
            let copy = dup(pipe.fileHandleForWriting.fileDescriptor)
            var sent: SharedDescriptor? = SharedDescriptor(adopting: copy)
            try pipe.fileHandleForWriting.close()
            var back: SharedDescriptor? = try await pair.call(
                Echo.self, Single(try #require(sent))
            ).value
            sent = nil
            let came = try #require(back?.rawValue)
            try FileHandle(fileDescriptor: came, closeOnDealloc: false).write(contentsOf: [7])
            #expect(try reading.read(upToCount: 1) == Data([7]))
            back = nil
            await hangUp(of: reading.fileDescriptor)
        }
    }
}

@Suite(.timeLimit(.minutes(1))) struct `A remote service` {
    @Test func `is heard, and nobody else who says the same`() async throws {
        try await withPair { pair in
            let service = RemoteService(Sample.name, on: pair.client)
            let heard = Journal<String>()
            service.onSignal(Told.self) { signal, _ in heard.add(signal.value) }
            #expect(try await pair.server.requestName(Sample.name))
            await service.findOwner()
            #expect(service.owner == pair.server.uniqueName)
            let client = pair.client.uniqueName
            let forger = try BusConnection(address: pair.bus.address)
            forger.send(Told.self, Single("forged"), from: Sample.path, to: client)
            forger.send(Told.self, Single("forged"), from: Sample.path)
            // Answered after what was sent before has gone to whom it was for.
            _ = try await forger.credentials(of: client, deadline: .seconds(30))
            pair.server.send(Told.self, Single("to all"), from: Sample.path)
            pair.server.send(Told.self, Single("to one"), from: Sample.path, to: client)
            await heard.reaches(2)
            #expect(heard.entries == ["to all", "to one"])
            forger.close()
        }
    }

    @Test func `is followed when another takes its name`() async throws {
        try await withPair { pair in
            let service = RemoteService(Sample.name, on: pair.client)
            let owners = Journal<UniqueName?>()
            service.onOwnerChange = { owners.add($0) }
            await service.findOwner()
            #expect(service.owner == nil)
            #expect(try await pair.server.requestName(Sample.name))
            await owners.reaches(1)
            try await pair.server.releaseName(Sample.name)
            await owners.reaches(2)
            let heir = try BusConnection(address: pair.bus.address)
            #expect(try await heir.requestName(Sample.name))
            #expect(try await pair.server.requestName(Sample.name) == false)
            await owners.reaches(3)
            #expect(owners.entries == [pair.server.uniqueName, nil, heir.uniqueName])
            #expect(service.owner == heir.uniqueName)
            heir.close()
            await owners.reaches(4)
            #expect(service.owner == nil)
        }
    }

    @Test func `is believed to be whom the bus named last`() async throws {
        try await withPair { pair in
            let owner = try BusConnection(address: pair.bus.address)
            #expect(try await owner.requestName(Sample.name))
            let service = RemoteService(Sample.name, on: pair.client)
            let owners = Journal<UniqueName?>()
            service.onOwnerChange = { owners.add($0) }
            // The bus takes what comes over one connection in order, and not what comes over two: by
            // now it knows what is listened for.
            _ = try await pair.client.credentials(
                of: pair.client.uniqueName, deadline: .seconds(30))
            let found = Task.immediate { @BusQueue in await service.findOwner() }
            owner.close()
            // Keeps this thread until the bus has done both, so that the answer and what makes
            // it old come together.
            for _ in 0..<3 { try BusConnection(address: pair.bus.address).close() }
            await found.value
            await owners.reaches(1)
            #expect(owners.entries == [nil])
            #expect(service.owner == nil)
        }
    }
}

/// How many files are open after so many connections have come and gone.
@BusQueue private func countOpenFiles(
    after count: Int, on bus: PrivateBus
) async throws -> Int {
    for number in 0..<count {
        let connection = try BusConnection(address: bus.address)
        connection.watchPeers { _ in }
        if number % 2 == 0 { connection.close() }
    }
    // A connection is kept until what it has planned has been done.
    await withCheckedContinuation { continuation in BusQueue.post { continuation.resume() } }
    return try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
}

/// Waits until nobody holds the other end.
@BusQueue private func hangUp(of descriptor: Int32) async {
    var token: PollExecutor.Token?
    await withCheckedContinuation { continuation in
        var waiting: CheckedContinuation<Void, Never>? = continuation
        token = BusQueue.executor.watch(descriptor, for: .input) { readiness in
            guard readiness.contains(.failure) else { return }
            waiting?.resume()
            waiting = nil
        }
    }
    if let token { BusQueue.executor.unwatch(token) }
}
