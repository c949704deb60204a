// SPDX-License-Identifier: Apache-2.0

internal import CFprint
internal import CGLib
internal import Glibc

extension DeviceRef {
    /// Makes the reader fit to be opened again after an open that failed.
    ///
    /// When a driver's open fails, libfprint 1.94.5 leaves the USB device open
    /// (`fpi_device_open_complete`, `fpi-device.c:1182`). Every later open then says that it "is
    /// already open", and close that it is not, until the process ends. So we close it ourselves.
    /// The function is looked up at run time: libgusb comes with libfprint, and we need no more
    /// of it than this.
    func unwedge() {
        typealias CloseFunction =
            @convention(c) (
                UnsafeMutableRawPointer, UnsafeMutablePointer<UnsafeMutablePointer<GError>?>
            ) -> gboolean

        // SAFETY: the property is an object or NULL; the value holds a reference to it until it
        // is unset. The type is `g_usb_device_close`'s in libgusb's header.
        unsafe raw.withMemoryRebound(to: GObject.self, capacity: 1) { object in
            guard
                unsafe g_object_class_find_property(
                    UnsafeMutableRawPointer(object.pointee.g_type_instance.g_class)
                        .assumingMemoryBound(to: GObjectClass.self), "fpi-usb-device") != nil,
                let symbol = unsafe dlsym(nil, "g_usb_device_close")
            else { return }
            let close = unsafe unsafeBitCast(symbol, to: CloseFunction.self)
            var value = GValue()
            unsafe g_value_init(&value, g_object_get_type())
            defer { unsafe g_value_unset(&value) }
            unsafe g_object_get_property(object, "fpi-usb-device", &value)
            // A virtual or SPI reader has none. One that is closed already answers with an error.
            guard let device = unsafe g_value_get_object(&value) else { return }
            _ = unsafe catchingGError { error in unsafe close(device, error) }
        }
    }
}
