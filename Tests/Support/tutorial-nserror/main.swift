// SPDX-License-Identifier: Apache-2.0

// The shape of wrappers: a manager that maps errors of every kind to its own, with `LAError` and
// `NSError` cast to one another, and a subclass for tests. Compiled as Swift 5; the lines that start
// the program are at the end.

import Foundation
import LocalAuthentication

enum BiometricError: Error {
    case notAvailable, notEnrolled, locked, canceled, fallback, failed, other(String)

    init(_ error: NSError) {
        switch LAError.Code(rawValue: error.code) {
        case .biometryNotAvailable?: self = .notAvailable
        case .biometryNotEnrolled?: self = .notEnrolled
        case .biometryLockout?: self = .locked
        case .userCancel?, .systemCancel?, .appCancel?: self = .canceled
        case .userFallback?: self = .fallback
        case .authenticationFailed?: self = .failed
        default: self = .other(error.localizedDescription)
        }
    }
}

struct BiometricManager {
    var context: LAContext
    var policy: LAPolicy

    var kind: String {
        _ = context.canEvaluatePolicy(policy, error: nil)
        switch context.biometryType {
        case .none: return "none"
        case .touchID: return "Touch ID"
        case .faceID: return "Face ID"
        case .opticID: return "Optic ID"
        @unknown default: return "unknown"
        }
    }

    func authenticate(completion: @escaping (Result<Data?, BiometricError>) -> Void) {
        var authError: NSError?
        guard context.canEvaluatePolicy(policy, error: &authError) else {
            guard let error = authError else { return completion(.failure(.notAvailable)) }
            return completion(.failure(BiometricError(error)))
        }
        print("available")
        context.evaluatePolicy(policy, localizedReason: "unlock your vault") { success, error in
            if success { return completion(.success(context.evaluatedPolicyDomainState)) }
            guard let error = error as NSError? else { return completion(.failure(.failed)) }
            guard error.domain == LAErrorDomain, let laError = error as? LAError else {
                return completion(.failure(.other(error.localizedDescription)))
            }
            switch laError {
            case LAError.userCancel, LAError.appCancel: completion(.failure(.canceled))
            default: completion(.failure(BiometricError(laError as NSError)))
            }
        }
    }
}

/// What projects put in the place of the real one in their tests. (Without the conformance there is a
/// warning on Linux, and only a warning.)
class MockContext: LAContext, @unchecked Sendable {
    override var biometryType: LABiometryType { .faceID }
    override func canEvaluatePolicy(_ policy: LAPolicy, error: NSErrorPointer) -> Bool {
        error?.pointee = NSError(
            domain: LAError.errorDomain, code: LAError.Code.biometryLockout.rawValue)
        return false
    }
    override func evaluatePolicy(
        _ policy: LAPolicy, localizedReason: String, reply: @escaping (Bool, Error?) -> Void
    ) {
        reply(false, LAError(.userFallback))
    }
    override func evaluatePolicy(_ policy: LAPolicy, localizedReason: String) async throws -> Bool {
        throw LAError(.userFallback)
    }
}

setvbuf(stdout, nil, _IOLBF, 0)
let policy: LAPolicy =
    CommandLine.arguments.contains("any")
    ? .deviceOwnerAuthentication : .deviceOwnerAuthenticationWithBiometrics
if CommandLine.arguments.contains("mock") {
    let mock = BiometricManager(context: MockContext(), policy: policy)
    print(mock.kind)
    mock.authenticate { print($0) }
    exit(0)
}
let manager = BiometricManager(context: LAContext(), policy: policy)
print("kind: \(manager.kind)")
Thread.detachNewThread {
    while let line = readLine() { if line == "invalidate" { manager.context.invalidate() } }
}
let semaphore = DispatchSemaphore(value: 0)
var status: Int32 = 1
manager.authenticate { result in
    switch result {
    case .success(let state):
        print("success")
        status = state?.count == 32 ? 0 : 3
    case .failure(let error): print("failed: \(error)")
    }
    semaphore.signal()
}
semaphore.wait()
exit(status)
