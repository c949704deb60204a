// SPDX-License-Identifier: Apache-2.0

internal import CPAM
internal import Glibc
internal import LocalAuthModel

/// One check: a service of PAM's, and whose password it is.
struct PAMCheck {
    let service: PAMServiceName
    let user: UserName
    /// Where services are looked for; `nil`: where PAM does.
    let directory: String?

    /// Runs PAM's two stages, authentication and account, and gives what they come to.
    func run(_ conversation: PAMConversation) -> PasswordVerdict {
        guard hasService else {
            complain("there is no PAM service \(service.rawValue)")
            return .unavailable
        }
        var way = unsafe conversation.forPAM
        var handle: OpaquePointer?
        // SAFETY: PAM copies the texts and the struct; the conversation lives until `pam_end`.
        let started =
            if let directory {
                unsafe pam_start_confdir(
                    service.rawValue, user.rawValue, &way, directory, &handle)
            } else {
                unsafe pam_start(service.rawValue, user.rawValue, &way, &handle)
            }
        guard started == PAM_SUCCESS, let pam = unsafe handle else { return .unavailable }
        var last = unsafe pam_authenticate(pam, 0)
        var verdict = Self.verdict(authentication: last, wasAsked: conversation.wasAsked)
        if verdict == .correct {
            last = unsafe pam_acct_mgmt(pam, 0)
            verdict = Self.verdict(account: last)
        }
        if verdict == .correct, unsafe !isStillUser(pam) {
            complain("a PAM module has changed the user")
            verdict = .unavailable
        }
        unsafe pam_end(pam, last)
        conversation.forget()
        return conversation.refusal ?? verdict
    }

    /// Whether the service has a file of its own. Where there is none, PAM goes by the service
    /// `other`, which on some systems is as good as a login.
    private var hasService: Bool {
        let directories = directory.map { [$0] } ?? ["/etc/pam.d", "/usr/lib/pam.d"]
        return directories.contains { directory in
            // Opened and not looked for: what PAM cannot read is as good as missing.
            let file = unsafe open(
                "\(directory)/\(service.rawValue)", O_RDONLY | O_CLOEXEC | O_NONBLOCK)
            guard file >= 0 else { return false }
            defer { close(file) }
            var status = stat()
            // SAFETY: the kernel fills the struct.
            return unsafe fstat(file, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        }
    }

    /// Modules can make another user of the one that was asked about.
    private func isStillUser(_ pam: OpaquePointer) -> Bool {
        var item: UnsafeRawPointer?
        // SAFETY: the text is PAM's and lives as long as the handle.
        guard unsafe pam_get_item(pam, PAM_USER, &item) == PAM_SUCCESS, let item = unsafe item
        else { return false }
        return unsafe strcmp(item.assumingMemoryBound(to: CChar.self), user.rawValue) == 0
    }

    private func complain(_ message: String) {
        let line = "localauth-pam-helper: \(message)\n"
        // SAFETY: the string lives during the call.
        unsafe line.withCString { _ = unsafe write(2, $0, strlen($0)) }
    }
}

extension PAMCheck {
    /// What the first stage comes to; `correct` leads to the second.
    private static func verdict(authentication code: Int32, wasAsked: Bool) -> PasswordVerdict {
        switch code {
        // A yes without a look at what was typed says nothing about who is there. It is what
        // pam_rootok gives to us, and pam_unix with "nullok" where there is no password.
        case PAM_SUCCESS: wasAsked ? .correct : .unavailable
        // The second is what PAM makes of a stack in which nobody said yes; pam_faillock, when it
        // has counted the miss, leaves that.
        case PAM_AUTH_ERR, PAM_PERM_DENIED: wasAsked ? .wrong : .accountUnavailable
        case PAM_ACCT_EXPIRED, PAM_NEW_AUTHTOK_REQD: .accountUnavailable
        case PAM_MAXTRIES: .triesUsedUp
        default: .unavailable
        }
    }

    private static func verdict(account code: Int32) -> PasswordVerdict {
        switch code {
        case PAM_SUCCESS: .correct
        // The last is a password that is right and has to be changed first, which cannot be done
        // here. Until then the account is closed, as it is for login and sudo.
        case PAM_ACCT_EXPIRED, PAM_PERM_DENIED, PAM_AUTH_ERR, PAM_NEW_AUTHTOK_REQD:
            .accountUnavailable
        default: .unavailable
        }
    }
}
