// SPDX-License-Identifier: Apache-2.0

// The codes by their short names: `LAError.userCancel` is a `Code`, and matches errors in `switch`
// and `catch`.
extension LAError {
    /// ``Code/authenticationFailed``, -1.
    public static var authenticationFailed: Code { .authenticationFailed }
    /// ``Code/userCancel``, -2.
    public static var userCancel: Code { .userCancel }
    /// ``Code/userFallback``, -3.
    public static var userFallback: Code { .userFallback }
    /// ``Code/systemCancel``, -4.
    public static var systemCancel: Code { .systemCancel }
    /// ``Code/passcodeNotSet``, -5.
    public static var passcodeNotSet: Code { .passcodeNotSet }
    /// ``Code/biometryNotAvailable``, -6.
    public static var biometryNotAvailable: Code { .biometryNotAvailable }
    /// ``Code/biometryNotEnrolled``, -7.
    public static var biometryNotEnrolled: Code { .biometryNotEnrolled }
    /// ``Code/biometryLockout``, -8.
    public static var biometryLockout: Code { .biometryLockout }
    /// ``Code/appCancel``, -9.
    public static var appCancel: Code { .appCancel }
    /// ``Code/invalidContext``, -10.
    public static var invalidContext: Code { .invalidContext }
    /// ``Code/companionNotAvailable``, -11.
    public static var companionNotAvailable: Code { .companionNotAvailable }
    /// ``Code/biometryNotPaired``, -12.
    public static var biometryNotPaired: Code { .biometryNotPaired }
    /// ``Code/biometryDisconnected``, -13.
    public static var biometryDisconnected: Code { .biometryDisconnected }
    /// ``Code/invalidDimensions``, -14.
    public static var invalidDimensions: Code { .invalidDimensions }
    /// ``Code/notInteractive``, -1004.
    public static var notInteractive: Code { .notInteractive }

    /// The name that -6 had when fingers were the only biometry.
    @available(*, deprecated, renamed: "biometryNotAvailable")
    public static var touchIDNotAvailable: Code { .biometryNotAvailable }
    /// The name that -7 had when fingers were the only biometry.
    @available(*, deprecated, renamed: "biometryNotEnrolled")
    public static var touchIDNotEnrolled: Code { .biometryNotEnrolled }
    /// The name that -8 had when fingers were the only biometry.
    @available(*, deprecated, renamed: "biometryLockout")
    public static var touchIDLockout: Code { .biometryLockout }
    /// The name that -11 had when watches were the only companions.
    @available(*, deprecated, renamed: "companionNotAvailable")
    public static var watchNotAvailable: Code { .companionNotAvailable }
}

extension LAError.Code {
    /// The name that -6 had when fingers were the only biometry.
    @available(*, deprecated, renamed: "biometryNotAvailable")
    public static var touchIDNotAvailable: Self { .biometryNotAvailable }
    /// The name that -7 had when fingers were the only biometry.
    @available(*, deprecated, renamed: "biometryNotEnrolled")
    public static var touchIDNotEnrolled: Self { .biometryNotEnrolled }
    /// The name that -8 had when fingers were the only biometry.
    @available(*, deprecated, renamed: "biometryLockout")
    public static var touchIDLockout: Self { .biometryLockout }
    /// The name that -11 had when watches were the only companions.
    @available(*, deprecated, renamed: "companionNotAvailable")
    public static var watchNotAvailable: Self { .companionNotAvailable }
}
