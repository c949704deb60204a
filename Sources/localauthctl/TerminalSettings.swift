// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A terminal's settings, to be taken back: while they are ours, lines are edited by the kernel
/// and what is typed is not shown.
///
/// With the kernel's own line editing, everybody's keys do what they always do; and of a line that
/// is not shown, Linux wipes its own copy when it is read (n_tty).
struct TerminalSettings {
    private let descriptor: Int32
    private var present: termios
    /// As they were before ours.
    private var saved: termios?

    /// `nil` for what is no terminal.
    init?(_ descriptor: Int32) {
        self.descriptor = descriptor
        var present = termios()
        // SAFETY (all): libc reads or fills the value, which is ours.
        guard unsafe tcgetattr(descriptor, &present) == 0 else { return nil }
        self.present = present
    }

    /// Whether this program is the one that the terminal's user talks to. A shell lets others run
    /// too, and their settings would be its own.
    var isForeground: Bool { tcgetpgrp(descriptor) == getpgrp() }

    /// Takes the terminal: nothing that was typed before now comes after it.
    mutating func take(echo: Bool) {
        guard isForeground else { return }
        adopt()
        present.c_iflag |= tcflag_t(ICRNL)
        present.c_lflag |= tcflag_t(ICANON | ISIG)
        present.c_lflag &= ~tcflag_t(ECHO | ECHONL)
        if echo { present.c_lflag |= tcflag_t(ECHO) }
        apply(present)
        discardInput()
    }

    /// Gives the terminal back as it was. A line half typed is not for whoever reads next.
    mutating func giveBack() {
        guard let settings = saved else { return }
        saved = nil
        guard isForeground else { return }
        discardInput()
        apply(settings)
    }

    /// Whether they are ours now.
    var areTaken: Bool { saved != nil }

    func discardInput() { tcflush(descriptor, TCIFLUSH) }

    /// Learns how the terminal is now. While this program was stopped, a shell may have made it
    /// its own again: then that is what it goes back to.
    private mutating func adopt() {
        let ours = present.c_lflag
        guard unsafe tcgetattr(descriptor, &present) == 0 else { return }
        if saved == nil || present.c_lflag != ours { saved = present }
    }

    /// At once: to wait until everything is written could last as long as somebody holds the
    /// output (Ctrl-S).
    private func apply(_ settings: termios) {
        var settings = settings
        unsafe _ = tcsetattr(descriptor, TCSANOW, &settings)
    }
}
