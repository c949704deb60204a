// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import LocalAuthContract
internal import LocalAuthModel

/// The readers that are here, as objects on the bus.
@BusQueue final class ReaderRegistry {
    /// Called when a reader came, went, or became different.
    var onChange: (() -> Void)?

    private let connection: BusConnection
    private var known: [ReaderID: ReaderDescription] = [:]

    init(on connection: BusConnection) { self.connection = connection }

    /// In the order in which they were found.
    var readers: [ReaderDescription] { known.values.sorted { $0.id.number < $1.id.number } }

    func reader(at path: ObjectPath) -> ReaderDescription? {
        known.values.first { Service.readerPath($0.id.number) == path }
    }

    func take(_ change: ReaderChange) {
        switch change {
        case .added(let reader):
            known[reader.id] = reader
            connection.export(object(for: reader))
        case .changed(let reader):
            guard let old = known.updateValue(reader, forKey: reader.id) else {
                known[reader.id] = nil
                return
            }
            tell(reader, after: old)
        case .removed(let id):
            guard known.removeValue(forKey: id) != nil else { return }
            connection.unexport(Service.readerPath(id.number))
        }
        onChange?()
    }

    private func tell(_ reader: ReaderDescription, after old: ReaderDescription) {
        for property in ReaderProperty.allCases
        where property.value(of: reader) != property.value(of: old) {
            connection.tellChange(
                of: property.name, in: Service.readerInterface,
                at: Service.readerPath(reader.id.number))
        }
    }

    private func object(for reader: ReaderDescription) -> BusObject {
        var interface = BusInterface(Service.readerInterface)
        for property in ReaderProperty.allCases {
            let initial = property.value(of: reader)
            interface.has(
                BusProperty(property.name, initial.typeSignature, property.emission) {
                    [weak self] in
                    self?.known[reader.id].map { property.value(of: $0) } ?? initial
                })
        }
        return BusObject(Service.readerPath(reader.id.number), [interface])
    }
}

/// The properties of a reader object.
private enum ReaderProperty: CaseIterable {
    case name, driver, placement, scanType, enrollStages, features, temperature

    var name: MemberName {
        switch self {
        case .name: "Name"
        case .driver: "Driver"
        case .placement: "Placement"
        case .scanType: "ScanType"
        case .enrollStages: "EnrollStages"
        case .features: "Features"
        case .temperature: "Temperature"
        }
    }

    var emission: BusProperty.Emission {
        switch self {
        case .name, .driver, .placement: .constant
        case .scanType, .enrollStages, .features, .temperature: .value
        }
    }

    func value(of reader: ReaderDescription) -> BusValue {
        switch self {
        case .name: .string(reader.name)
        case .driver: .string(reader.kind.driver)
        case .placement: .string(reader.placement.rawValue)
        case .scanType: .string(reader.scanType.rawValue)
        case .enrollStages: .uint32(reader.enrolmentStages)
        case .features: .strings(reader.features.wireNames)
        case .temperature: .string(reader.temperature.rawValue)
        }
    }
}
