// SPDX-License-Identifier: Apache-2.0

// As Apple's module does: code that imports only this one has Foundation and Dispatch too.
@_exported public import Foundation

/// Where a method that answers with a `Bool` leaves its error.
///
/// Foundation has this name on Apple's systems only. With it, `canEvaluatePolicy(_:error:)` takes
/// `&error`, where `error` is a variable of the type `NSError?`, or `nil`.
public typealias NSErrorPointer = UnsafeMutablePointer<NSError?>?
