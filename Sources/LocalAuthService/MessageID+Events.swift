// SPDX-License-Identifier: Apache-2.0

package import SystemSupport

/// The events that an administrator looks for. The ids never change (docs/journal.md).
extension MessageID {
    /// The service has its name and can be called.
    package static let ready = MessageID("cc603dc978684b11b8cfb35533792542")
    /// The service is about to leave, because it was told to or because nobody needs it.
    package static let stopping = MessageID("4b208a6be596433aa88fe0c43b068f68")
    /// An evaluation has its answer.
    package static let evaluationEnded = MessageID("78866e8659f54c26862c7f721d63c9cc")
    /// A user's lockout has begun or ended.
    package static let lockoutChanged = MessageID("6e79ec16d42c480dbc0dd127a8fa5385")
    /// A user's finger was enrolled, or fingers were deleted, through the service.
    package static let fingersChanged = MessageID("99a3ddb047cf49a38d472f5f82106048")

    /// All of them.
    package static let events: [MessageID] = [
        ready, stopping, evaluationEnded, lockoutChanged, fingersChanged,
    ]
}
