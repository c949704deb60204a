// SPDX-License-Identifier: Apache-2.0

internal import CGLib

/// A parsed key file, as GLib reads them: `[Group]`, `Key=value`, `#` comments.
package struct KeyFile: Equatable, Sendable {
    /// Why a text is not a key file, in words.
    package struct Failure: Error, Hashable, Sendable { package let message: String }

    /// Values by key, by group.
    package private(set) var groups: [String: [String: String]] = [:]

    package init() {}

    /// Parses the text. Later entries win over earlier ones with the same name.
    package init(parsing text: String) throws(Failure) {
        // GLib would take the text after a NUL for a part of the value and hide it from us.
        guard !text.utf8.contains(0) else { throw Failure(message: "there is a NUL in it") }
        // SAFETY: the key file is ours alone until it is freed below; every string GLib hands out
        // is copied before it is freed.
        guard let file = unsafe g_key_file_new() else { return }
        defer { unsafe g_key_file_unref(file) }
        var error: UnsafeMutablePointer<GError>?
        let bytes = text.utf8.count
        let isLoaded = unsafe g_key_file_load_from_data(
            file, text, gsize(bytes), G_KEY_FILE_NONE, &error)
        guard isLoaded != 0 else {
            let message = unsafe error.flatMap { unsafe $0.pointee.message }
                .map { unsafe String(cString: $0) }
            unsafe g_clear_error(&error)
            throw Failure(message: message ?? "not a key file")
        }
        for group in unsafe Self.strings(g_key_file_get_groups(file, nil)) {
            var values: [String: String] = [:]
            for key in unsafe Self.strings(g_key_file_get_keys(file, group, nil, nil)) {
                // With an escape that it does not know, GLib gives a value *and* an error.
                let value = unsafe g_key_file_get_string(file, group, key, &error)
                defer { unsafe g_free(value) }
                guard unsafe error == nil, let value = unsafe value else {
                    unsafe g_clear_error(&error)
                    throw Failure(message: "the value of \(group)/\(key) is not text")
                }
                values[key] = unsafe String(cString: value)
            }
            groups[group] = values
        }
    }

    package subscript(group: String, key: String) -> String? {
        get { groups[group]?[key] }
        set { groups[group, default: [:]][key] = newValue }
    }

    /// The file's text, groups and keys in alphabetical order.
    package var text: String {
        // SAFETY: as in `init(parsing:)`.
        guard let file = unsafe g_key_file_new() else { return "" }
        defer { unsafe g_key_file_unref(file) }
        for (group, values) in groups.sorted(by: { $0.key < $1.key }) {
            for (key, value) in values.sorted(by: { $0.key < $1.key }) {
                unsafe g_key_file_set_string(file, group, key, value)
            }
        }
        guard let data = unsafe g_key_file_to_data(file, nil, nil) else { return "" }
        defer { unsafe g_free(data) }
        return unsafe String(cString: data)
    }

    /// Copies and frees a vector of strings that GLib handed over.
    private static func strings(
        _ vector: UnsafeMutablePointer<UnsafeMutablePointer<gchar>?>?
    ) -> [String] {
        guard let vector = unsafe vector else { return [] }
        defer { unsafe g_strfreev(vector) }
        var result: [String] = []
        var index = 0
        while let item = unsafe vector[index] {
            result.append(unsafe String(cString: item))
            index += 1
        }
        return result
    }
}
