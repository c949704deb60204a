// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import LocalAuthContract

extension Conversation {
    /// Shows what the service says about itself and the caller. Asks nobody for anything.
    func status() async throws(BusError) -> ExitCode {
        let status = Status(
            version: try await version(), readers: try await readers(),
            environment: try await call(
                GetEnvironment.self, NoValues(), deadline: Self.deadline
            ).environment, policies: try await policies(), fingers: try await fingers())
        output.result(status.json, status.lines)
        return .success
    }

    private func version() async throws(BusError) -> String {
        let property = GetProperty.Arguments(
            interface: Service.interface.rawValue, property: "Version")
        return try await call(GetProperty.self, property, deadline: Self.deadline).value.plainText
    }

    /// The readers in the order of their numbers.
    private func readers() async throws(BusError) -> [Status.Reader] {
        let objects = try await call(
            GetManagedObjects.self, NoValues(), deadline: Self.deadline
        ).value
        return objects.compactMap { path, interfaces in
            interfaces[Service.readerInterface.rawValue].map { properties in
                Status.Reader(path: path, properties: properties)
            }
        }.sorted { ($0.path.rawValue.utf8.count, $0.path) < ($1.path.rawValue.utf8.count, $1.path) }
    }

    private func policies() async throws(BusError) -> [(PolicyChoice, CanEvaluatePolicy.Reply)] {
        var result: [(PolicyChoice, CanEvaluatePolicy.Reply)] = []
        for policy in PolicyChoice.allCases {
            let arguments = CanEvaluatePolicy.Arguments(policy: policy.rawValue)
            result.append(
                (
                    policy,
                    try await call(CanEvaluatePolicy.self, arguments, deadline: Self.deadline)
                ))
        }
        return result
    }

    /// The fingers, or why they are not shown: that they may not be listed is no reason to show
    /// nothing else.
    private func fingers() async throws(BusError) -> Result<[String], BusError> {
        do throws(BusError) {
            return .success(
                try await call(ListFingers.self, UserArgument(user: ""), deadline: Self.deadline)
                    .fingers)
        } catch {
            guard ExitCode(error) != .notReachable else { throw error }
            return .failure(error)
        }
    }
}

/// What `status` shows.
private struct Status {
    struct Reader {
        let path: ObjectPath
        let properties: [String: BusValue]
    }

    let version: String
    let readers: [Reader]
    let environment: [String: BusValue]
    let policies: [(PolicyChoice, CanEvaluatePolicy.Reply)]
    let fingers: Result<[String], BusError>

    var json: JSON {
        let listed: JSON
        let reason: JSON
        switch fingers {
        case .success(let names): (listed, reason) = (.strings(names), .null)
        case .failure(let error): (listed, reason) = (.null, .string(error.name.rawValue))
        }
        return .members([
            "type": "status", "version": .string(version),
            "readers": .array(
                readers.map {
                    .members([
                        "path": .string($0.path.rawValue),
                        "properties": .dictionary($0.properties),
                    ])
                }),
            "policies": .array(policies.map { $1.json($0) }),
            "fingers": listed, "fingers-error": reason,
            "environment": .dictionary(environment),
        ])
    }

    var lines: [String] {
        var lines = ["service: \(version)"]
        if readers.isEmpty { lines.append("reader: none") }
        for reader in readers {
            lines.append("reader: \(reader.path.rawValue)")
            lines += Self.list(reader.properties)
        }
        for (policy, reply) in policies { lines.append("\(policy.name): \(reply.line)") }
        switch fingers {
        case .success(let names):
            lines.append("fingers: \(names.isEmpty ? "none" : names.joined(separator: ", "))")
        case .failure(let error): lines.append("fingers: not shown: \(error.message)")
        }
        lines.append("environment:")
        return lines + Self.list(environment)
    }

    private static func list(_ values: [String: BusValue]) -> [String] {
        values.sorted { $0.key < $1.key }.map { "  \($0.key): \($0.value.plainText)" }
    }
}
