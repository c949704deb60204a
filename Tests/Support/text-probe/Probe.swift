// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Foundation
internal import LocalAuthentication
internal import SystemSupport

/// Says texts in the language of its environment, as an application that never calls `setlocale`.
@main struct Probe {
    static func main() {
        let arguments = CommandLine.arguments.dropFirst()
        guard let mode = arguments.first, let directory = arguments.dropFirst().first else {
            fatalError("usage: text-probe texts|threads|errors DIRECTORY [TEXT...]")
        }
        let texts = arguments.dropFirst(2)
        switch mode {
        case "texts":
            let domain = TextDomain("probe", directory: directory)
            for text in texts { print(domain.translate(text)) }
            // What the process and the thread had, they still have.
            unsafe print(String(cString: setlocale(LC_ALL, nil)), uselocale(nil) == globalLocale)
        case "threads":
            let domain = TextDomain("probe", directory: directory)
            DispatchQueue.concurrentPerform(iterations: 1_000) { _ in
                for text in texts { precondition(domain.translate(text) != text) }
            }
            print("done")
        case "errors":
            // The module's own catalogues are those of the system; these are to be tested.
            _ = LAError(.userCancel).localizedDescription
            unsafe _ = bindtextdomain("localauth", directory)
            for code in (-20...0).reversed() + [-1004] {
                guard let code = LAError.Code(rawValue: code) else { continue }
                print(LAError(code).localizedDescription)
            }
        default: fatalError("no such mode")
        }
    }

    /// `LC_GLOBAL_LOCALE` (uselocale(3)), which is a cast, and so not imported.
    private static var globalLocale: locale_t? { unsafe locale_t(bitPattern: -1) }
}
