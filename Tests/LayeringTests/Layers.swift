// SPDX-License-Identifier: Apache-2.0

/// Which module may import what. A binding knows no word of ours, an adapter knows the words and
/// one binding and never another adapter, the service names no adapter, and only the daemon wires
/// them together.
let layers: [String: Set<String>] = [
    // Words and rules
    "LocalAuthModel": [],
    // Between the daemon and the program that checks passwords
    "PasswordMessages": ["LocalAuthModel"],
    // Bindings
    "SystemSupport": ["CLinux", "Glibc", "Synchronization"],
    "GLibBinding": ["CGLib"],
    "DBusBinding": ["CDBus", "Glibc", "SystemSupport"],
    // Adapters
    "FingerprintReaders": [
        "CFprint", "CGLib", "CLinux", "Glibc", "LocalAuthModel", "Synchronization",
        "SystemSupport",
    ],
    "PrintStorage": [
        "CGLib", "CLinux", "GLibBinding", "Glibc", "LocalAuthModel", "SystemSupport",
    ],
    "PasswordFallback": ["DBusBinding", "LocalAuthModel", "PasswordMessages", "SystemSupport"],
    "SystemAuthorities": ["CLinux", "DBusBinding", "Glibc", "LocalAuthModel", "SystemSupport"],
    // Contract and service
    "LocalAuthContract": ["DBusBinding"],
    "LocalAuthService": [
        "DBusBinding", "GLibBinding", "LocalAuthContract", "LocalAuthModel", "SystemSupport",
    ],
    // For applications
    "LocalAuthentication": [
        "DBusBinding", "Foundation", "LocalAuthContract", "SystemSupport",
    ],
    // Programs
    "localauthd": [
        "DBusBinding", "FingerprintReaders", "GLibBinding", "Glibc", "LocalAuthContract",
        "LocalAuthModel", "LocalAuthService", "PasswordFallback", "PrintStorage",
        "SystemAuthorities", "SystemSupport",
    ],
    "localauth-pam-helper": [
        "CPAM", "Glibc", "LocalAuthModel", "PasswordMessages", "SystemSupport",
    ],
    "localauthctl": ["DBusBinding", "Glibc", "LocalAuthContract", "SystemSupport"],
]

/// The modules that fulfil a port of the model's.
let adapters: Set<String> = [
    "FingerprintReaders", "PasswordFallback", "PrintStorage", "SystemAuthorities",
]

/// The C modules and who owns them.
let ownersOfC: [String: Set<String>] = [
    "CDBus": ["DBusBinding"],
    "CFprint": ["FingerprintReaders"],
    "CGLib": ["FingerprintReaders", "GLibBinding", "PrintStorage"],
    "CLinux": ["FingerprintReaders", "PrintStorage", "SystemAuthorities", "SystemSupport"],
    "CPAM": ["localauth-pam-helper"],
]

/// What the toolchain brings along, so that it is declared nowhere.
let toolchain: Set<String> = [
    "Foundation", "FoundationXML", "Glibc", "Swift", "Synchronization", "Testing",
]

/// What a module makes known to everybody who imports it: Apple's does so, and code that was written
/// for that relies on it.
let handedOn: [String: Set<String>] = ["LocalAuthentication": ["Foundation"]]

/// What no module of the daemon may use: it would bring threads that wake up by themselves, and
/// several megabytes.
let tooHeavy: Set<String> = ["Dispatch", "Foundation", "FoundationEssentials", "FoundationXML"]

extension [String: Set<String>] {
    /// A module and everything below it.
    func closure(of module: String) -> Set<String> {
        var found: Set<String> = []
        var rest = [module]
        while let next = rest.popLast() {
            if found.insert(next).inserted { rest += self[next] ?? [] }
        }
        return found
    }
}
