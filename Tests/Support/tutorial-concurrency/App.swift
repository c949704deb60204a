// SPDX-License-Identifier: Apache-2.0

// The shape of Apple's own samples since 2021: `async`, an observable model on the main actor, and
// errors that are caught by their codes. Compiled as Swift 6; the lines that start the program are at
// the end.

import Foundation
import LocalAuthentication

@MainActor final class Model {
    enum State { case loggedIn, loggedOut }

    var context = LAContext()
    private(set) var state = State.loggedOut
    private(set) var message = ""

    func logIn(_ policy: LAPolicy) async {
        context = LAContext()
        context.localizedCancelTitle = "Enter Username/Password"

        var error: NSError?
        guard context.canEvaluatePolicy(policy, error: &error) else {
            message = "unavailable: \(error?.localizedDescription ?? "Can't evaluate policy")"
            return
        }
        show("available")
        do {
            try await context.evaluatePolicy(policy, localizedReason: "Log in to your account")
            state = .loggedIn
        } catch LAError.userCancel, LAError.appCancel {
            message = "failed: canceled"
        } catch LAError.userFallback {
            message = "failed: fallback"
        } catch let error as LAError where error.code == .biometryLockout {
            message = "failed: locked out"
        } catch let error as LAError {
            message = "failed: \(error.errorCode)"
        } catch {
            message = "failed: \(error.localizedDescription)"
        }
    }
}

@main enum App {
    @MainActor static func main() async {
        let policy: LAPolicy =
            CommandLine.arguments.contains("any")
            ? .deviceOwnerAuthentication : .deviceOwnerAuthenticationWithBiometrics
        let model = Model()
        let logIn = Task { await model.logIn(policy) }
        Thread.detachNewThread {
            while let line = readLine() { if line == "invalidate" { logIn.cancel() } }
        }
        await logIn.value
        show(model.state == .loggedIn ? "success" : model.message)
        exit(model.state == .loggedIn ? 0 : 1)
    }
}

func show(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }
