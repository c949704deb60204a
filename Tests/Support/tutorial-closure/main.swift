// SPDX-License-Identifier: Apache-2.0

// The shape of most tutorials since 2014: an `NSError` by pointer, a reply closure, and the main
// queue for what is shown. Compiled as Swift 5, as it was written; the lines that start the program
// are at the end.

import LocalAuthentication

class ViewController {
    let context = LAContext()
    var policy = LAPolicy.deviceOwnerAuthenticationWithBiometrics

    func unlockTapped() {
        var error: NSError?

        if context.canEvaluatePolicy(policy, error: &error) {
            let reason = "Identify yourself!"
            show("available")

            context.evaluatePolicy(policy, localizedReason: reason) {
                [weak self] success, authenticationError in
                DispatchQueue.main.async {
                    if success {
                        self?.show("success")
                    } else {
                        let message = authenticationError?.localizedDescription
                        self?.show("failed: \(message ?? "nothing said")")
                    }
                    exit(success ? 0 : 1)
                }
            }
        } else {
            show("unavailable: \(error?.localizedDescription ?? "nothing said")")
            exit(2)
        }
    }

    func show(_ message: String) {
        print(message)
        fflush(stdout)
    }
}

let controller = ViewController()
if CommandLine.arguments.contains("any") { controller.policy = .deviceOwnerAuthentication }
Thread.detachNewThread {
    while let line = readLine() { if line == "invalidate" { controller.context.invalidate() } }
}
DispatchQueue.main.async { controller.unlockTapped() }
dispatchMain()
