// SPDX-License-Identifier: Apache-2.0
// swift-format-ignore-file: NeverForceUnwrap

// The shape of 2014's and 2015's tutorials: everything by its number, and the application's own
// password where the user wants that. Compiled as Swift 5; the lines that start the program are at
// the end.

import Foundation
import LocalAuthentication

class NotesController {
    let context = LAContext()
    var policy = LAPolicy.deviceOwnerAuthenticationWithBiometrics

    func authenticateUser() {
        var error: NSError?
        let reasonString = "Authentication is needed to access your notes."

        if context.canEvaluatePolicy(policy, error: &error) {
            print("available")
            context.localizedFallbackTitle = "Enter the notes' password"
            context.localizedCancelTitle = "Not now"
            context.touchIDAuthenticationAllowableReuseDuration =
                LATouchIDAuthenticationMaximumAllowableReuseDuration * 2
            context.evaluatePolicy(
                policy, localizedReason: reasonString,
                reply: { (success: Bool, evalPolicyError: Error?) -> Void in
                    if success {
                        OperationQueue.main.addOperation { self.finish("success", 0) }
                        return
                    }
                    switch evalPolicyError!._code {
                    case LAError.systemCancel.rawValue:
                        self.finish("failed: canceled by the system", 1)
                    case LAError.appCancel.rawValue:
                        self.finish("failed: canceled by the application", 1)
                    case LAError.userCancel.rawValue:
                        self.finish("failed: canceled by the user", 1)
                    case LAError.userFallback.rawValue:
                        OperationQueue.main.addOperation { self.showPasswordAlert() }
                    case LAError.authenticationFailed.rawValue:
                        self.finish("failed: not the user", 1)
                    case LAError.biometryLockout.rawValue:
                        self.finish("failed: locked out", 1)
                    default:
                        self.finish("failed: \(evalPolicyError!.localizedDescription)", 1)
                    }
                })
        } else {
            switch error!.code {
            case LAError.Code.biometryNotEnrolled.rawValue:
                finish("unavailable: no finger is enrolled", 2)
            case LAError.passcodeNotSet.rawValue:
                finish("unavailable: no passcode has been set", 2)
            case LAError.biometryLockout.rawValue:
                finish("unavailable: locked out", 2)
            default:
                finish("unavailable: \(error!.localizedDescription)", 2)
            }
        }
    }

    func showPasswordAlert() { finish("failed: asking for the notes' password", 1) }

    func finish(_ message: String, _ status: Int32) {
        print(message)
        exit(status)
    }
}

setvbuf(stdout, nil, _IOLBF, 0)
let controller = NotesController()
if CommandLine.arguments.contains("any") { controller.policy = .deviceOwnerAuthentication }
Thread.detachNewThread {
    while let line = readLine() { if line == "invalidate" { controller.context.invalidate() } }
}
controller.authenticateUser()
RunLoop.main.run()
