// SPDX-License-Identifier: Apache-2.0

internal import Glibc

do throws(Complaint) {
    try Request(CommandLine.arguments.dropFirst()).perform()
} catch {
    printError("virtual-finger: \(error.text)")
    exit(error.status)
}
