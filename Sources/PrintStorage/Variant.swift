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

    /// The number, if this is a `u` or a `t`.
    var large: UInt64? {
        switch type {
        case "u": UInt64(unsafe g_variant_get_uint32(raw))
        case "t": UInt64(unsafe g_variant_get_uint64(raw))
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

/// A value to be serialised.
indirect enum VariantBuilder {
    case number(UInt32)
    case large(UInt64)
    case text(String)
    case tuple([VariantBuilder])
    /// The elements' type is needed when there are none.
    case array(of: String, [VariantBuilder])

    /// The value in its little-endian form.
    var bytes: [UInt8] {
        // SAFETY: the variant is ours once it is sunk, and its bytes are copied before it goes.
        guard let floating = unsafe make(), let variant = unsafe g_variant_ref_sink(floating) else {
            preconditionFailure("out of memory")
        }
        defer { unsafe g_variant_unref(variant) }
        #if _endian(big)
            guard let value = unsafe g_variant_byteswap(variant) else {
                preconditionFailure("out of memory")
            }
            defer { unsafe g_variant_unref(value) }
        #else
            let value = unsafe variant
        #endif
        let count = unsafe Int(g_variant_get_size(value))
        return unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            if let start = buffer.baseAddress { unsafe g_variant_store(value, start) }
            filled = count
        }
    }

    /// A floating variant; containers take over their children, which float too.
    private func make() -> OpaquePointer? {
        switch self {
        case .number(let value): return unsafe g_variant_new_uint32(value)
        case .large(let value): return unsafe g_variant_new_uint64(guint64(value))
        case .text(let value):
            // SAFETY: GLib copies the text, which is UTF-8 and ends at its first NUL.
            return unsafe g_variant_new_string(value)
        case .tuple(let values):
            var children = unsafe values.map { unsafe $0.make() }
            // SAFETY: GLib takes the children over and copies the list of them.
            return unsafe g_variant_new_tuple(&children, gsize(children.count))
        case .array(let element, let values):
            guard let type = unsafe g_variant_type_new(element) else {
                preconditionFailure("not a type: \(element)")
            }
            // SAFETY: as for tuples; the type is copied.
            defer { unsafe g_variant_type_free(type) }
            var children = unsafe values.map { unsafe $0.make() }
            return unsafe g_variant_new_array(type, &children, gsize(children.count))
        }
    }
}
