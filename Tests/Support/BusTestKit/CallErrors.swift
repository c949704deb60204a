// SPDX-License-Identifier: Apache-2.0

package import DBusBinding
package import LocalAuthContract

/// The service's error that a call ends with; `nil` when it ends otherwise.
package func error<T: Sendable>(of call: Task<T, any Error>) async -> ServiceError? {
    await errorName(of: call).flatMap { ServiceError($0) }
}

/// The error name that a call ends with; `nil` when it succeeds.
package func errorName<T: Sendable>(of call: Task<T, any Error>) async -> ErrorName? {
    guard case .failure(let failure as BusError) = await call.result else { return nil }
    return failure.name
}
