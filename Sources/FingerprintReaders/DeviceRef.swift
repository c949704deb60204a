// SPDX-License-Identifier: Apache-2.0

internal import CFprint
internal import CGLib
internal import LocalAuthModel

/// Owns one reference to a device of libfprint, and reads its properties.
@ReaderQueue
@safe final class DeviceRef {
    let raw: UnsafeMutablePointer<FpDevice>

    /// Adds a reference; the caller keeps its own (transfer none).
    init(retaining raw: UnsafeMutablePointer<FpDevice>) {
        unsafe g_object_ref(raw)
        unsafe self.raw = raw
    }

    // Only ever dropped on the queue, but that is not to be left to care.
    isolated deinit { unsafe g_object_unref(raw) }

    /// Which of libfprint's objects it is.
    var address: ObjectAddress { unsafe ObjectAddress(raw) }

    // SAFETY, of all that follows: libfprint's strings live as long as the device, and
    // `String(cString:)` copies them.

    /// What its prints are filed under; `nil` when its names are not fit for that.
    var kind: ReaderKind? {
        ReaderKind(
            driver: unsafe string(fp_device_get_driver(raw)),
            deviceID: unsafe string(fp_device_get_device_id(raw)))
    }

    var isOpen: Bool { unsafe fp_device_is_open(raw) != 0 }

    var sensorState: SensorState {
        let status = unsafe fp_device_get_finger_status(raw).rawValue
        if status & FP_FINGER_STATUS_PRESENT.rawValue != 0 { return .fingerPresent }
        if status & FP_FINGER_STATUS_NEEDED.rawValue != 0 { return .fingerNeeded }
        return .idle
    }

    var features: ReaderFeatures {
        let told = unsafe fp_device_get_features(raw).rawValue
        let names: [(FpDeviceFeature, ReaderFeatures)] = [
            (FP_DEVICE_FEATURE_VERIFY, .verify), (FP_DEVICE_FEATURE_IDENTIFY, .identify),
            (FP_DEVICE_FEATURE_STORAGE, .storage), (FP_DEVICE_FEATURE_STORAGE_LIST, .storageList),
            (FP_DEVICE_FEATURE_STORAGE_DELETE, .storageDelete),
            (FP_DEVICE_FEATURE_STORAGE_CLEAR, .storageClear),
            (FP_DEVICE_FEATURE_DUPLICATES_CHECK, .duplicatesCheck),
        ]
        return names.reduce(into: []) { features, name in
            if told & name.0.rawValue != 0 { features.insert(name.1) }
        }
    }

    /// A snapshot of all that is told about a reader.
    func description(
        id: ReaderID, kind: ReaderKind, placement: ReaderPlacement
    ) -> ReaderDescription {
        let temperature: ReaderTemperature =
            switch unsafe fp_device_get_temperature(raw) {
            case FP_TEMPERATURE_COLD: .cold
            case FP_TEMPERATURE_WARM: .warm
            default: .hot
            }
        return ReaderDescription(
            id: id, kind: kind, name: unsafe string(fp_device_get_name(raw)),
            scanType: unsafe fp_device_get_scan_type(raw) == FP_SCAN_TYPE_PRESS ? .press : .swipe,
            enrolmentStages: UInt32(clamping: unsafe fp_device_get_nr_enroll_stages(raw)),
            features: features, temperature: temperature, placement: placement)
    }

    private func string(_ text: UnsafePointer<gchar>?) -> String {
        unsafe text.map { unsafe String(cString: $0) } ?? ""
    }
}
