// SPDX-License-Identifier: Apache-2.0

internal import CGLib

/// Owns one reference to a `GVariant` that is known to be in normal form, so that what a child
/// says does not depend on who reads it.
@safe struct Variant: ~Copyable {
    private let raw: OpaquePointer

    /// Takes over a reference that the caller owned (transfer full).
    private init(adopting raw: OpaquePointer) { unsafe self.raw = raw }

    deinit { unsafe g_variant_unref(raw) }

    /// Copies little-endian serialised bytes; `nil` unless they are of this type and in normal
    /// form all the way down.
    init?(_ bytes: ArraySlice<UInt8>, type: String) {
        // SAFETY: GLib copies the bytes into memory that it aligns; the type is freed after the
        // variant has copied it; a new variant is floating, and sinking makes it ours.
        guard unsafe g_variant_type_string_is_valid(type) != 0,
            let variantType = unsafe g_variant_type_new(type)
        else { return nil }
        defer { unsafe g_variant_type_free(variantType) }
        let copy = unsafe bytes.withUnsafeBytes {
            unsafe g_bytes_new($0.baseAddress, gsize($0.count))
        }
        defer { unsafe g_bytes_unref(copy) }
        guard let fresh = unsafe g_variant_new_from_bytes(variantType, copy, 0),
            let sunk = unsafe g_variant_ref_sink(fresh)
        else { return nil }
        guard unsafe g_variant_is_normal_form(sunk) != 0 else {
            unsafe g_variant_unref(sunk)
            return nil
        }
        #if _endian(big)
            guard let swapped = unsafe g_variant_byteswap(sunk) else { return nil }
            unsafe g_variant_unref(sunk)
            unsafe raw = swapped
        #else
            unsafe raw = sunk
        #endif
    }

    var type: String {
        // SAFETY: the string lives as long as the variant and is copied.
        unsafe String(cString: g_variant_get_type_string(raw))
    }

    var count: Int {
        precondition(unsafe g_variant_is_container(raw) != 0)
        return Int(unsafe g_variant_n_children(raw))
    }

    /// The child at `index`; for a variant in a variant, the one inside.
    subscript(index: Int) -> Variant {
        precondition(index >= 0 && index < count)
        guard let child = unsafe g_variant_get_child_value(raw, gsize(index)) else {
            preconditionFailure("a container without a child that it counts")
        }
        return unsafe Variant(adopting: child)
    }

    /// The number, if this is an `i` or a `y`.
    var number: Int? {
        switch type {
        case "i": Int(unsafe g_variant_get_int32(raw))
        case "y": Int(unsafe g_variant_get_byte(raw))
        default: nil
        }
    }

    /// The text, if this is an `s`, or an `ms` that holds one.
    var text: String? {
        switch type {
        case "s":
            // SAFETY: the string ends in a NUL, lives as long as the variant and is copied.
            unsafe g_variant_get_string(raw, nil).map { unsafe String(cString: $0) }
        case "ms": count == 1 ? self[0].text : nil
        default: nil
        }
    }

    /// The numbers, if this is an `ai`.
    var numbers: [Int32]? {
        guard type == "ai" else { return nil }
        var count: gsize = 0
        // SAFETY: in normal form an `ai` is `count` aligned integers; they are copied.
        guard let start = unsafe g_variant_get_fixed_array(raw, &count, gsize(4)) else {
            return []
        }
        let values = unsafe start.assumingMemoryBound(to: Int32.self)
        return unsafe Array(UnsafeBufferPointer(start: values, count: Int(count)))
    }
}
