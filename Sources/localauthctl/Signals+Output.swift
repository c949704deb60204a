// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import LocalAuthContract

// How the service's signals are told: to programs, and as a hint to the person at the reader.

extension ProgressSignal.Arguments {
    var json: JSON {
        .members(["type": "progress", "token": .string(token), "state": .string(state)])
    }

    /// What to do now; `nil` when there is nothing to do.
    var hint: String? {
        switch state {
        case "queued": "Waiting for another evaluation to end."
        case "waiting-for-finger": "Touch the fingerprint reader."
        case "waiting-for-password": "Enter the password in the prompt."
        default: nil
        }
    }
}

extension RetrySignal.Arguments {
    var json: JSON {
        .members([
            "type": "retry", "token": .string(token), "cause": .string(cause),
            "attempts-left": .unsigned(UInt64(attemptsLeft)), "message": .string(message),
        ])
    }

    var hint: String { "\(message) (attempts left: \(attemptsLeft))" }
}

extension LockoutSignal.Arguments {
    var json: JSON {
        .members([
            "type": "lockout", "locked-out": .bool(lockedOut),
            "attempts-left": .unsigned(UInt64(attemptsLeft)),
            "seconds-left": .unsigned(UInt64(secondsLeft)),
        ])
    }
}

extension EnrollProgressSignal.Arguments {
    var json: JSON {
        .members([
            "type": "enroll-progress", "token": .string(token), "done": .unsigned(UInt64(done)),
            "total": .unsigned(UInt64(total)), "cause": .string(cause),
        ])
    }

    func hint(_ finger: String) -> String {
        let count = "\(done) of \(total)"
        return switch cause {
        case "" where done == 0:
            "Touch the fingerprint reader with the \(finger) (touches: \(total))."
        case "": done < total ? "\(count); touch again." : "\(count)."
        case "too-short": "\(count); the touch was too short, touch again."
        case "too-fast": "\(count); the movement was too fast, touch again."
        case "not-centered": "\(count); put the finger in the middle and touch again."
        case "remove-finger": "\(count); lift the finger, then touch again."
        default: "\(count); the finger could not be read (\(cause)), touch again."
        }
    }
}
