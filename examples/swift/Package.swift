// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

let package = Package(
    name: "note",
    dependencies: [.package(name: "LocalAuth", path: "../..")],
    targets: [
        .executableTarget(
            name: "note",
            dependencies: [.product(name: "LocalAuthentication", package: "LocalAuth")])
    ]
)
