// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

/// What every target of ours is held to: Swift 6, no warning, no unmarked unsafe code.
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"),
]

/// A target of the daemon's side: the layers of docs/architecture.md, lowest first.
func layer(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: strict)
}

func support(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(
        name: name, dependencies: dependencies, path: "Tests/Support/\(name)",
        swiftSettings: strict)
}

func program(_ name: String, path: String? = nil, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(
        name: name, dependencies: dependencies, path: path, swiftSettings: strict)
}

/// A program as an application's developer writes it: with nothing of ours but the product, and none
/// of our settings.
func application(
    _ name: String, path: String? = nil, _ mode: SwiftLanguageMode,
    _ dependencies: [Target.Dependency]
) -> Target {
    .executableTarget(
        name: name, dependencies: dependencies, path: path ?? "Tests/Support/\(name)",
        swiftSettings: [.swiftLanguageMode(mode)])
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: dependencies, swiftSettings: strict)
}

let package = Package(
    name: "LocalAuth",
    products: [
        .library(name: "LocalAuthentication", targets: ["LocalAuthentication"]),
        .executable(name: "localauthd", targets: ["localauthd"]),
        .executable(name: "localauthctl", targets: ["localauthctl"]),
        .executable(name: "localauth-pam-helper", targets: ["localauth-pam-helper"]),
    ],
    targets: [
        // C: module maps and static inline helpers, nothing else.
        .systemLibrary(name: "CDBus", pkgConfig: "dbus-1", providers: [.apt(["libdbus-1-dev"])]),
        .systemLibrary(
            name: "CGLib", pkgConfig: "gio-2.0", providers: [.apt(["libglib2.0-dev"])]),
        .systemLibrary(
            name: "CFprint", pkgConfig: "libfprint-2",
            providers: [.apt(["libfprint-2-dev", "libglib2.0-dev"])]),
        .systemLibrary(name: "CLinux"),
        .systemLibrary(name: "CPAM", pkgConfig: "pam", providers: [.apt(["libpam0g-dev"])]),

        // Words and rules: imports nothing.
        layer("LocalAuthModel"),

        // What the daemon and the program that checks passwords tell each other.
        layer("PasswordMessages", ["LocalAuthModel"]),

        // Bindings: know no word of ours.
        layer("SystemSupport", ["CLinux"]),
        layer("GLibBinding", ["CGLib"]),
        layer("DBusBinding", ["CDBus", "SystemSupport"]),

        // Adapters: know the words and one binding.
        layer(
            "FingerprintReaders",
            ["LocalAuthModel", "SystemSupport", "CGLib", "CFprint", "CLinux"]),
        layer(
            "PrintStorage",
            ["LocalAuthModel", "SystemSupport", "GLibBinding", "CGLib", "CLinux"]),
        layer(
            "SystemAuthorities", ["LocalAuthModel", "SystemSupport", "DBusBinding", "CLinux"]),
        layer(
            "PasswordFallback",
            ["LocalAuthModel", "PasswordMessages", "SystemSupport", "DBusBinding"]),

        // Contract and service: name no adapter.
        layer("LocalAuthContract", ["DBusBinding"]),
        layer(
            "LocalAuthService",
            [
                "LocalAuthModel", "LocalAuthContract", "DBusBinding", "SystemSupport",
                "GLibBinding",
            ]),

        // For applications: the only public interface in Swift.
        layer(
            "LocalAuthentication",
            ["LocalAuthContract", "DBusBinding", "SystemSupport"]),

        // Programs: wiring.
        program(
            "localauthd",
            [
                "LocalAuthModel", "LocalAuthContract", "LocalAuthService", "DBusBinding",
                "SystemSupport", "GLibBinding", "FingerprintReaders", "PrintStorage",
                "SystemAuthorities", "PasswordFallback",
            ]),
        program(
            "localauth-pam-helper",
            ["CPAM", "LocalAuthModel", "PasswordMessages", "SystemSupport"]),
        program("localauthctl", ["LocalAuthContract", "DBusBinding", "SystemSupport"]),

        // Test support.
        support("TestKit", ["SystemSupport", "CGLib"]),
        support(
            "BusTestKit",
            [
                "DBusBinding", "LocalAuthContract", "LocalAuthModel", "SystemSupport", "TestKit",
                "localauthd", "localauth-pam-helper",
            ]),
        program(
            "reader-probe", path: "Tests/Support/reader-probe",
            ["FingerprintReaders", "LocalAuthModel", "SystemSupport", "TestKit"]),
        program("print-probe", path: "Tests/Support/print-probe", ["CFprint", "CGLib"]),
        program(
            "virtual-finger", path: "Tests/Support/virtual-finger", ["TestKit", "SystemSupport"]),

        program(
            "context-probe", path: "Tests/Support/context-probe", ["LocalAuthentication"]),
        program(
            "text-probe", path: "Tests/Support/text-probe",
            ["LocalAuthentication", "SystemSupport", "CLinux"]),
        application("tutorial-closure", .v5, ["LocalAuthentication"]),
        application("tutorial-codes", .v5, ["LocalAuthentication"]),
        application("tutorial-nserror", .v5, ["LocalAuthentication"]),
        application("tutorial-concurrency", .v6, ["LocalAuthentication"]),

        application(
            "note", path: "examples/swift/Sources/note", .v6, ["LocalAuthentication"]),

        // Tests.
        tests("TestKitTests", ["TestKit", "BusTestKit"]),
        tests("SystemSupportTests", ["SystemSupport", "TestKit", "CLinux"]),
        tests("GLibBindingTests", ["GLibBinding"]),
        tests(
            "PrintStorageTests",
            ["PrintStorage", "LocalAuthModel", "SystemSupport", "TestKit", "print-probe"]),
        tests(
            "FingerprintReadersTests",
            [
                "BusTestKit", "FingerprintReaders", "LocalAuthModel", "SystemSupport", "TestKit",
                "reader-probe", "virtual-finger",
            ]),
        tests(
            "SystemAuthoritiesTests",
            [
                "SystemAuthorities", "LocalAuthModel", "DBusBinding", "SystemSupport",
                "BusTestKit",
            ]),
        tests(
            "PasswordFallbackTests",
            [
                "PasswordFallback", "PasswordMessages", "SystemAuthorities", "LocalAuthModel",
                "DBusBinding", "SystemSupport", "CLinux", "BusTestKit", "localauth-pam-helper",
            ]),
        tests("LayeringTests", []),
        tests(
            "ContractTests",
            [
                "LocalAuthModel", "LocalAuthContract", "LocalAuthService", "DBusBinding",
                "SystemSupport", "BusTestKit", "localauthd",
            ]),
        tests("localauthctlTests", ["localauthctl", "LocalAuthContract", "DBusBinding"]),
        tests("LocalAuthModelTests", ["LocalAuthModel", "TestKit"]),
        tests("DBusBindingTests", ["DBusBinding", "SystemSupport", "BusTestKit"]),
        tests(
            "LocalAuthServiceTests",
            [
                "LocalAuthService", "LocalAuthModel", "LocalAuthContract", "DBusBinding",
                "SystemSupport", "GLibBinding", "BusTestKit",
            ]),
        tests("localauthdTests", ["localauthd"]),
        tests(
            "LocalAuthenticationTests",
            [
                "LocalAuthentication", "LocalAuthContract", "DBusBinding", "SystemSupport",
                "BusTestKit", "text-probe",
            ]),
        tests(
            "InteropTests",
            [
                "BusTestKit", "TestKit", "DBusBinding", "LocalAuthContract", "localauthd", "note",
            ]),
        tests(
            "ReplayTests",
            ["BusTestKit", "TestKit", "DBusBinding", "LocalAuthContract", "localauthd"]),
        tests(
            "EndToEndTests",
            [
                "BusTestKit", "TestKit", "DBusBinding", "LocalAuthContract",
                "LocalAuthentication", "SystemSupport", "localauthd", "localauthctl",
                "context-probe",
                "tutorial-closure", "tutorial-codes", "tutorial-nserror", "tutorial-concurrency",
            ]),
    ]
)
