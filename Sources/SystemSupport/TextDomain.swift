// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc

/// Texts in the user's language, from catalogues of GNU gettext.
///
/// The language is the environment's (`LC_ALL`, `LC_MESSAGES`, `LANG`, `LANGUAGE`), also in a process
/// that has never called `setlocale`. To call it is the application's business and not a library's: it
/// is about the whole process.
@safe package final class TextDomain: Sendable {
    private let name: String
    // SAFETY: a locale is never changed, and any thread may use it. `nil` where the environment names
    // one that is not installed.
    private nonisolated(unsafe) let locale: locale_t?

    /// - Parameters:
    ///   - name: what the catalogues are called.
    ///   - directory: where they are: in `LANGUAGE/LC_MESSAGES` below it.
    package init(_ name: String, directory: String) {
        self.name = name
        // CTYPE because gettext goes by it when it makes one encoding of another.
        let categories = Int32(1 << LC_MESSAGES | 1 << LC_CTYPE)
        // SAFETY (all): the C library copies the names.
        unsafe locale = newlocale(categories, "", nil)
        unsafe _ = bindtextdomain(name, directory)
        unsafe _ = bind_textdomain_codeset(name, "UTF-8")
    }

    deinit { if let locale = unsafe locale { unsafe freelocale(locale) } }

    /// A text's translation; the text itself where there is none.
    package func translate(_ text: String) -> String {
        // The translation of nothing would be the catalogue's head.
        guard !text.isEmpty, let locale = unsafe locale else { return text }
        // Only for this thread, and only for now.
        let before = unsafe uselocale(locale)
        defer { unsafe _ = uselocale(before) }
        // SAFETY: what comes back is the catalogue's, or the text that went in, and is copied before
        // that is gone.
        return unsafe text.withCString { text in
            // No translation is empty; but the C library reads zeros behind the end of a catalogue that
            // was cut off.
            guard let found = unsafe dgettext(name, text), unsafe found.pointee != 0 else {
                return unsafe String(cString: text)
            }
            return unsafe String(cString: found)
        }
    }
}
