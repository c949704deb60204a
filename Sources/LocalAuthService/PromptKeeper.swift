// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import LocalAuthModel
internal import SystemSupport

/// Remembers whose prompts nobody answers, or are sent away.
@BusQueue final class PromptKeeper {
    private var patience: PromptPatience

    init(_ patience: PromptPatience) { self.patience = patience }

    /// Whether anything is held against the user's programs.
    func remembers(_ user: UserID) -> Bool { patience.remembers(user) }

    /// A prompt has led to nothing.
    func noteVain(_ asker: PromptPatience.Asker) { patience.noteVain(asker, at: now) }

    func noteTouch(by user: UserID) { patience.noteTouch(by: user) }

    /// How long the next prompt has to wait.
    func pause(for asker: PromptPatience.Asker) -> Duration { patience.pause(for: asker, at: now) }

    private var now: BootTime { BootTime(microseconds: BootClock.microseconds()) }
}
