// SPDX-License-Identifier: Apache-2.0

internal import CFprint
internal import CGLib
internal import LocalAuthModel

/// The prints that a scan is compared with, in libfprint's form and in the caller's order.
///
/// libfprint gives back the very object that matched, so a match is found by its identity;
/// anything else is a miss.
@ReaderQueue
@safe final class Gallery {
    private(set) var prints: UnsafeMutablePointer<GPtrArray>?
    private var ids: [ObjectAddress: PrintID] = [:]
    private(set) var first: OpaquePointer?

    /// Takes those prints that fit the reader; `nil` when none does.
    init?(_ stored: [StoredPrint], for device: DeviceRef) {
        // SAFETY: the array owns one reference to each print, and we own the array.
        unsafe prints = g_ptr_array_new_with_free_func { object in unsafe g_object_unref(object) }
        for print in stored {
            guard let ref = PrintRef.reading(print.template, for: device) else { continue }
            unsafe g_ptr_array_add(prints, g_object_ref(UnsafeMutableRawPointer(ref.raw)))
            unsafe ids[ObjectAddress(ref.raw)] = print.id
            unsafe first = first ?? ref.raw
        }
        guard !ids.isEmpty else {
            release()
            return nil
        }
    }

    var count: Int { ids.count }

    func id(at address: ObjectAddress) -> PrintID? { ids[address] }

    /// The prints that are the same as this one, which the reader has shown.
    func ids(equalTo shown: OpaquePointer) -> [PrintID] {
        guard let prints = unsafe prints else { return [] }
        return (0..<Int(unsafe prints.pointee.len)).compactMap { index -> PrintID? in
            // SAFETY: the array has so many prints, and holds them.
            guard let raw = unsafe prints.pointee.pdata[index] else { return nil }
            let print = OpaquePointer(raw)
            guard unsafe fp_print_equal(print, shown) != 0 else { return nil }
            return ids[unsafe ObjectAddress(print)]
        }
    }

    /// Lets go of the prints. Later matches are misses.
    func release() {
        guard let prints = unsafe prints else { return }
        unsafe (self.prints, first) = (nil, nil)
        ids = [:]
        // SAFETY: our reference, given back once.
        unsafe g_ptr_array_unref(prints)
    }
}
