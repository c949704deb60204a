// SPDX-License-Identifier: Apache-2.0
// swift-format-ignore-file: NoLeadingUnderscores

// What Foundation asks of an error that is an `NSError` as well, under the names that it gives it;
// on Apple's systems the compiler writes this for errors that come from Objective-C.

extension LAError: _BridgedStoredNSError {
    /// The same error as an `NSError`.
    public var _nsError: NSError { bridged }

    /// The domain of these errors.
    public static var _nsErrorDomain: String { LAErrorDomain }

    /// Looks at an error of this domain as an `LAError`; Foundation has compared the domain before.
    public init(_nsError error: NSError) { self.init(bridging: error) }

    // Foundation's own ways to hash an error trap on Linux (swift-corelibs-foundation 6.3), an
    // `NSError`'s included.

    /// Equal errors have equal hashes.
    public func hash(into hasher: inout Hasher) { hasher.combine(errorCode) }

    /// Equal errors have equal hashes.
    public var hashValue: Int {
        var hasher = Hasher()
        hash(into: &hasher)
        return hasher.finalize()
    }
}

// With it, a code matches an error in `switch` and `catch`.
extension LAError.Code: _ErrorCodeProtocol {
    /// What Foundation makes of a code.
    public typealias _ErrorType = LAError
}

// The casts `error as? LAError` of an `NSError` and `laError as NSError`, which the compiler and the
// runtime do on Linux for types that say how.
extension LAError: _ObjectiveCBridgeable {
    /// The same error as an `NSError`.
    public func _bridgeToObjectiveC() -> NSError { bridged }

    /// For a cast that must not fail.
    public static func _forceBridgeFromObjectiveC(_ source: NSError, result: inout LAError?) {
        guard _conditionallyBridgeFromObjectiveC(source, result: &result) else {
            preconditionFailure("\(source) is not of the domain \(LAErrorDomain)")
        }
    }

    /// For a cast that may fail: for errors of other domains it does.
    @discardableResult
    public static func _conditionallyBridgeFromObjectiveC(
        _ source: NSError, result: inout LAError?
    ) -> Bool {
        result = source.domain == LAErrorDomain ? LAError(bridging: source) : nil
        return result != nil
    }

    /// For a conversion without a cast.
    public static func _unconditionallyBridgeFromObjectiveC(_ source: NSError?) -> LAError {
        guard let source, source.domain == LAErrorDomain else {
            preconditionFailure("not of the domain \(LAErrorDomain)")
        }
        return LAError(bridging: source)
    }
}
