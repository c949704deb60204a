// SPDX-License-Identifier: Apache-2.0

internal import CFprint
internal import CGLib
internal import Glibc
internal import LocalAuthModel

/// The hardware behind a device. libfprint keeps it as properties for its own use; functions of
/// libgusb are looked up at run time, because it comes with libfprint and we need no more of it.
extension DeviceRef {
    private typealias CloseFunction =
        @convention(c) (
            UnsafeMutableRawPointer, UnsafeMutablePointer<UnsafeMutablePointer<GError>?>
        ) -> gboolean
    private typealias NumberFunction = @convention(c) (UnsafeMutableRawPointer) -> guint8

    /// Makes the reader fit to be opened again after an open that failed.
    ///
    /// When a driver's open fails, libfprint 1.94.5 leaves the USB device open
    /// (`fpi_device_open_complete`, `fpi-device.c:1182`). Every later open then says that it "is
    /// already open", and close that it is not, until the process ends. So we close it ourselves.
    func unwedge() {
        withProperty("fpi-usb-device", g_object_get_type()) { value in
            guard let device = unsafe g_value_get_object(&value),
                let symbol = unsafe dlsym(nil, "g_usb_device_close")
            else { return }
            // SAFETY: the type is the function's in libgusb's header. One that is closed already
            // answers with an error.
            let close = unsafe unsafeBitCast(symbol, to: CloseFunction.self)
            _ = unsafe catchingGError { error in unsafe close(device, error) }
        }
    }

    /// Where the reader is.
    var placement: ReaderPlacement {
        if let (bus, address) = usbAddress {
            return USBTree().placement(bus: bus, address: address)
        }
        // Nobody plugs in a reader on an SPI bus. A virtual reader is nowhere.
        return isOnSPI ? .builtIn : .unknown
    }

    private var usbAddress: (bus: UInt8, address: UInt8)? {
        withProperty("fpi-usb-device", g_object_get_type()) { value in
            guard let device = unsafe g_value_get_object(&value),
                let bus = unsafe dlsym(nil, "g_usb_device_get_bus"),
                let address = unsafe dlsym(nil, "g_usb_device_get_address")
            else { return nil }
            // SAFETY: the type is both functions' in libgusb's header.
            return unsafe (
                unsafeBitCast(bus, to: NumberFunction.self)(device),
                unsafeBitCast(address, to: NumberFunction.self)(device)
            )
        } ?? nil
    }

    private var isOnSPI: Bool {
        // 16 << 2 is G_TYPE_STRING, a macro that Swift does not see.
        withProperty("fpi-udev-data-spidev", GType(16 << 2)) { value in
            unsafe g_value_get_string(&value) != nil
        } ?? false
    }

    /// Reads a property of libfprint's own, if this version has it.
    private func withProperty<T>(
        _ name: StaticString, _ type: GType, _ body: (inout GValue) -> T
    ) -> T? {
        // SAFETY: the name is a literal; the value holds what the property gives, an object or a
        // string or nothing, until it is unset.
        unsafe raw.withMemoryRebound(to: GObject.self, capacity: 1) { object -> T? in
            let name = unsafe UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self)
            let kind = unsafe UnsafeMutableRawPointer(object.pointee.g_type_instance.g_class)
                .assumingMemoryBound(to: GObjectClass.self)
            guard let property = unsafe g_object_class_find_property(kind, name),
                unsafe property.pointee.flags.rawValue & G_PARAM_READABLE.rawValue != 0
            else { return nil }
            var value = GValue()
            unsafe g_value_init(&value, type)
            defer { unsafe g_value_unset(&value) }
            unsafe g_object_get_property(object, name, &value)
            return body(&value)
        }
    }
}
