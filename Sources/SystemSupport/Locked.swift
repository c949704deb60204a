// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A value that one thread at a time gets at.
///
/// It is the system's own mutex and not `Synchronization.Mutex`, because ThreadSanitizer knows that
/// one thread has waited for another by the first and does not by the second (Swift 6.3 on Linux).
/// With the second, everything that was handed over looks like a race, and real ones hide among it.
@safe package final class Locked<Value>: Sendable {
    // SAFETY: both are made in `init`, given back in `deinit`, and the value is touched only
    // between locking and unlocking.
    private nonisolated(unsafe) let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private nonisolated(unsafe) let value: UnsafeMutablePointer<Value>

    package init(_ value: sending Value) {
        unsafe mutex = .allocate(capacity: 1)
        unsafe mutex.initialize(to: pthread_mutex_t())
        unsafe pthread_mutex_init(mutex, nil)
        unsafe self.value = .allocate(capacity: 1)
        unsafe self.value.initialize(to: value)
    }

    deinit {
        unsafe pthread_mutex_destroy(mutex)
        unsafe mutex.deallocate()
        unsafe value.deinitialize(count: 1)
        unsafe value.deallocate()
    }

    /// Runs `body` with the value while nobody else has it. Not to be called from within `body`.
    package func withLock<R, E: Error>(
        _ body: (inout sending Value) throws(E) -> sending R
    ) throws(E) -> sending R {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return try unsafe body(&value.pointee)
    }
}
