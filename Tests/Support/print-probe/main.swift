// SPDX-License-Identifier: Apache-2.0

// Gives files to libfprint as a program would that trusts them. The file named holds prints, each
// after its length as a little-endian number of four bytes. Says how many libfprint took, and
// dies where libfprint does.

internal import CFprint
internal import CGLib

guard let path = CommandLine.arguments.dropFirst().first else {
    fatalError("usage: print-probe FILE")
}
var content: UnsafeMutablePointer<gchar>?
var size: gsize = 0
guard unsafe g_file_get_contents(path, &content, &size, nil) != 0, let content = unsafe content
else { fatalError("cannot read \(path)") }

// SAFETY: GLib's buffer holds `size` bytes and lives to the end of the program.
let bytes = unsafe Array(UnsafeRawBufferPointer(start: content, count: Int(size)))
var rest = bytes[...]
var total = 0
var taken = 0
while rest.count >= 4 {
    let length = rest.prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
    let one = Array(rest.dropFirst(4).prefix(length))
    rest = rest.dropFirst(4 + length)
    total += 1
    guard let print = unsafe fp_print_deserialize(one, gsize(one.count), nil) else { continue }
    taken += 1
    // Walks all of what was read.
    var copy: UnsafeMutablePointer<guchar>?
    var copied: gsize = 0
    _ = unsafe fp_print_serialize(print, &copy, &copied, nil)
    unsafe g_free(copy)
    _ = unsafe fp_print_equal(print, print)
    unsafe g_object_unref(UnsafeMutableRawPointer(print))
}
print(taken, "of", total)
