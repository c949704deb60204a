// SPDX-License-Identifier: Apache-2.0

internal import CPAM
internal import Glibc
internal import LocalAuthModel
internal import PasswordMessages

/// The person's side of PAM's conversation: the first hidden question gets what was submitted, and
/// whatever else is asked or told goes to the person.
final class PAMConversation {
    private let daemon: DaemonLink
    private var submitted: Secret?
    /// Whether PAM has asked for what was submitted.
    private(set) var wasAsked = false
    /// What ends the check whatever PAM says: an answer that cannot be given on.
    private(set) var refusal: PasswordVerdict?

    init(_ submitted: consuming Secret, with daemon: consuming DaemonLink) {
        self.submitted = consume submitted
        self.daemon = daemon
    }

    func tell(_ verdict: PasswordVerdict) { daemon.tell(.verdict(verdict)) }

    /// Wipes what PAM has not asked for.
    func forget() { submitted = nil }

    /// Answers one of PAM's messages; `nil` ends the conversation. What tells something has an
    /// empty answer.
    private func answer(_ style: Int32, _ text: String) -> Answer? {
        switch style {
        case PAM_TEXT_INFO:
            daemon.tell(.text(PasswordText(.information, text)))
            return Answer()
        case PAM_ERROR_MSG:
            daemon.tell(.text(PasswordText(.error, text)))
            return Answer()
        case PAM_PROMPT_ECHO_OFF where !wasAsked:
            wasAsked = true
            guard let secret = submitted.take() else { return nil }
            return unsafe Answer(secret.copyForPAM())
        case PAM_PROMPT_ECHO_OFF, PAM_PROMPT_ECHO_ON:
            return ask(PasswordText(.question(isEchoed: style == PAM_PROMPT_ECHO_ON), text))
        default: return nil
        }
    }

    private func ask(_ question: PasswordText) -> Answer? {
        daemon.tell(.text(question))
        switch daemon.nextEntry() {
        case .refused(let verdict):
            refusal = verdict
            return nil
        case .secret(let secret):
            // Some modules only want to hear that one may go on, and show what is typed. An answer
            // that is hidden is a password, and an empty one never counts as that.
            if secret.isEmpty, question.kind == .question(isEchoed: false) {
                refusal = .empty
                return nil
            }
            return unsafe Answer(secret.copyForPAM())
        }
    }

    /// What PAM gets; it wipes and frees it.
    @safe private struct Answer {
        let text: UnsafeMutablePointer<CChar>?
        init() { unsafe text = nil }
        init(_ text: UnsafeMutablePointer<CChar>?) { unsafe self.text = text }
    }
}

extension PAMConversation {
    /// PAM's struct for this conversation, which must live as long as PAM uses it.
    var forPAM: pam_conv {
        unsafe pam_conv(
            conv: { count, messages, responses, context in
                guard let messages = unsafe messages, let responses = unsafe responses,
                    let context = unsafe context, (1...PAM_MAX_NUM_MSG).contains(count)
                else { return PAM_CONV_ERR }
                // SAFETY: `check` keeps the conversation until PAM has ended.
                let conversation = unsafe Unmanaged<PAMConversation>.fromOpaque(context)
                    .takeUnretainedValue()
                guard
                    let answers = unsafe conversation.answers(
                        to: UnsafeBufferPointer(start: messages, count: Int(count)))
                else { return PAM_CONV_ERR }
                unsafe responses.pointee = answers
                return PAM_SUCCESS
            }, appdata_ptr: Unmanaged.passUnretained(self).toOpaque())
    }

    /// All answers in memory that PAM frees, or none.
    private func answers(
        to messages: UnsafeBufferPointer<UnsafePointer<pam_message>?>
    ) -> UnsafeMutablePointer<pam_response>? {
        guard
            let memory = unsafe calloc(messages.count, MemoryLayout<pam_response>.stride)
        else { return nil }
        // SAFETY: the memory has room for as many as there are messages, and is zero.
        let answers = unsafe memory.bindMemory(to: pam_response.self, capacity: messages.count)
        for index in messages.indices {
            guard let message = unsafe messages[index]?.pointee,
                let answer = answer(unsafe message.msg_style, unsafe Self.text(message.msg))
            else {
                unsafe Self.wipe(answers, count: index)
                return nil
            }
            unsafe answers[index].resp = answer.text
        }
        return unsafe answers
    }

    /// A text as it came, with what is no UTF-8 made visible.
    private static func text(_ start: UnsafePointer<CChar>?) -> String {
        guard let start = unsafe start else { return "" }
        return unsafe String(cString: start)
    }

    private static func wipe(_ answers: UnsafeMutablePointer<pam_response>, count: Int) {
        for index in 0..<count {
            guard let text = unsafe answers[index].resp else { continue }
            // SAFETY: made by `copyForPAM`, and given to nobody.
            unsafe explicit_bzero(text, strlen(text))
            unsafe free(text)
        }
        unsafe free(answers)
    }
}
