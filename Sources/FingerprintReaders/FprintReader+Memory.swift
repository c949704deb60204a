// SPDX-License-Identifier: Apache-2.0

internal import CFprint
internal import CGLib
internal import LocalAuthModel

/// What this run knows to be in a reader's own memory, so that the reader need not be asked. It
/// keeps no templates, only numbers that stand for them.
struct MemoryNotes {
    private var numbers: Set<Int> = []

    mutating func note(_ prints: some Sequence<StoredPrint>) {
        numbers.formUnion(prints.map(\.hashValue))
    }

    mutating func forget(_ print: StoredPrint) { numbers.remove(print.hashValue) }

    func has(anyOf prints: [StoredPrint]) -> Bool {
        prints.contains { numbers.contains($0.hashValue) }
    }
}

/// The reader's own memory, which other systems write as well.
extension FprintReader {
    /// Whether a miss says nothing about the finger: the reader compares with prints in its own
    /// memory, and has none of these. It was emptied by another system, say.
    ///
    /// The reader is asked only if no print is known to be there, for that takes some of them a
    /// tenth of a second; and one that does not answer is believed the miss.
    func mustHaveLost(_ prints: [StoredPrint], _ turn: Turn) async -> Bool {
        guard !memory.has(anyOf: prints) else { return false }
        return await has(noneOf: prints, turn) ?? false
    }

    /// Whether a reader that says that it does not have the prints can be right. Where it lists
    /// them all the same it is out of order.
    func canHaveLost(_ prints: [StoredPrint], _ turn: Turn) async -> Bool {
        guard let device, device.features.contains(.storage) else { return false }
        return await has(noneOf: prints, turn) ?? true
    }

    /// `nil` when the reader does not say.
    private func has(noneOf prints: [StoredPrint], _ turn: Turn) async -> Bool? {
        do throws(ReaderFailure) {
            return try await contents(turn, knowing: prints)?.known.isEmpty
        } catch {
            return nil
        }
    }

    /// What is in the reader's memory; `nil` where it has none or does not list it.
    func contents(
        _ turn: Turn, knowing prints: [StoredPrint]
    ) async throws(ReaderFailure) -> ReaderContents? {
        let device = try freeDevice(for: turn)
        // libfprint itself only looks whether there is a memory.
        guard device.features.contains([.storage, .storageList]) else { return nil }
        let gallery = Gallery(prints, for: device)
        let operation = Operation(isCancellable: false)
        let result: Result<ReaderContents, GErrorValue> = await unsafe run(operation) {
            ready, data in
            unsafe fp_device_list_prints(device.raw, nil, ready, data)
        } finish: { result in
            // SAFETY: the array is ours, and has its prints.
            let listed = unsafe catchingGError { error in
                unsafe fp_device_list_prints_finish(device.raw, result, error)
            }
            switch unsafe listed {
            case .success(let array?):
                defer { unsafe g_ptr_array_unref(array) }
                return .success(unsafe ReaderContents(array, knowing: gallery))
            case .success(nil): return .failure(.nothingTold)
            case .failure(let error): return .failure(error)
            }
        }
        gallery?.release()
        switch result {
        case .success(let contents):
            memory.note(prints.filter { contents.known.contains($0.id) })
            return contents
        case .failure(let error): throw failure(error)
        }
    }

    /// Deletes the print from the reader's own memory.
    func delete(_ turn: Turn, _ print: StoredPrint) async throws(ReaderFailure) {
        memory.forget(print)
        try await delete(turn) { device in PrintRef.reading(print.template, for: device) }
    }

    func delete(_ turn: Turn, _ leftover: LeftoverPrint) async throws(ReaderFailure) {
        try await delete(turn) { device in PrintRef.reading(leftover.template, for: device) }
    }

    /// Empties the reader's own memory.
    func erase(_ turn: Turn) async throws(ReaderFailure) {
        let device = try freeDevice(for: turn)
        memory = MemoryNotes()
        guard !device.features.contains(.storageClear) else { return try await clear(device) }
        guard let contents = try await contents(turn, knowing: []) else { throw .notSupported }
        for print in contents.leftovers { try await delete(turn, print) }
    }

    private func clear(_ device: DeviceRef) async throws(ReaderFailure) {
        let result = await unsafe run(Operation(isCancellable: false)) { ready, data in
            unsafe fp_device_clear_storage(device.raw, nil, ready, data)
        } finish: { result in
            unsafe catchingGError { error in
                unsafe fp_device_clear_storage_finish(device.raw, result, error) != 0
            }
        }
        if case .failure(let error) = result { throw failure(error) }
    }

    /// Not to be cancelled half way.
    private func delete(
        _ turn: Turn, _ read: (DeviceRef) -> PrintRef?
    ) async throws(ReaderFailure) {
        let device = try freeDevice(for: turn)
        guard device.features.contains(.storage) else { return }
        guard let ref = read(device) else { throw .noUsablePrints }
        let operation = Operation(isCancellable: false)
        // SAFETY: libfprint holds the print on its own until the end, which is awaited.
        let result = await unsafe run(operation) { ready, data in
            unsafe fp_device_delete_print(device.raw, ref.raw, nil, ready, data)
        } finish: { result in
            unsafe catchingGError { error in
                unsafe fp_device_delete_print_finish(device.raw, result, error) != 0
            }
        }
        if case .failure(let error) = result { throw failure(error) }
    }
}

extension ReaderContents {
    /// Takes what libfprint has listed.
    @ReaderQueue
    fileprivate init(_ array: UnsafeMutablePointer<GPtrArray>, knowing gallery: Gallery?) {
        self.init(known: [], leftovers: [])
        for index in 0..<Int(unsafe array.pointee.len) {
            // SAFETY: the array has so many prints.
            guard let raw = unsafe array.pointee.pdata[index] else { continue }
            let print = OpaquePointer(raw)
            let equals = unsafe gallery?.ids(equalTo: print) ?? []
            known.formUnion(equals)
            if equals.isEmpty, let leftover = unsafe LeftoverPrint(borrowing: print) {
                leftovers.append(leftover)
            }
        }
    }
}

@ReaderQueue
extension LeftoverPrint {
    /// A print as a reader shows it; `nil` if libfprint cannot write it down.
    init?(borrowing raw: OpaquePointer) {
        guard case .success(let template) = unsafe PrintRef.template(of: raw) else { return nil }
        // SAFETY: libfprint's string lives as long as the print; it is copied.
        let name = unsafe fp_print_get_username(raw).map { unsafe String(cString: $0) }
        self.init(user: name.flatMap { UserName($0) }, template: template)
    }
}
