// SPDX-License-Identifier: Apache-2.0

internal import SystemSupport

/// The catalogues of the texts, where packages install them.
private let texts = TextDomain("localauth", directory: "/usr/share/locale")

/// A text in the user's language; itself where there is no translation.
///
/// `scripts/messages` finds the texts by this function's name.
func localized(_ text: String) -> String { texts.translate(text) }

extension LAError.Code {
    /// The sentence for people that goes with it.
    var localizedDescription: String {
        switch self {
        case .authenticationFailed: localized("Application retry limit exceeded.")
        case .userCancel: localized("Canceled by user.")
        case .userFallback: localized("Fallback authentication mechanism selected.")
        case .systemCancel: localized("Canceled by system.")
        case .passcodeNotSet: localized("Passcode not set.")
        case .biometryNotAvailable: localized("Biometry is not available on this device.")
        case .biometryNotEnrolled: localized("No fingers are enrolled.")
        case .biometryLockout: localized("Biometry is locked out.")
        case .appCancel: localized("Canceled by application.")
        case .invalidContext: localized("Context has been invalidated.")
        case .companionNotAvailable: localized("No companion device is available.")
        case .biometryNotPaired: localized("No biometric accessory is paired.")
        case .biometryDisconnected: localized("The fingerprint reader is not connected.")
        case .invalidDimensions:
            localized("The size of the embedded user interface is invalid.")
        case .notInteractive: localized("User interaction required.")
        }
    }
}
