// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import LocalAuthModel
internal import SystemSupport

/// One reader while an evaluation has it: opened, scanned on, and let go. Its work is done one
/// after the other, and what comes of it is told as events.
@BusQueue final class ArmedReader {
    private let id: ReaderID
    private let readers: any ReaderDriving
    private let gallery: [StoredPrint]
    private let tell: @Sendable @BusQueue (EvaluationEvent) -> Void
    private var open: (any OpenReader)?
    private var work: Task<Void, Never>?
    private var pause: PollExecutor.Token?
    /// Runs while nothing is known of what the sensor sees.
    private var silence: PollExecutor.Token?
    private var isReleased = false
    /// Changes when a scan begins and when it ends.
    private var scans: UInt64 = 0

    /// A reader that has said nothing for so long is taken to wait for a finger. Image readers need
    /// up to a third of a second before they can; some drivers never say it (synaptics does not
    /// when it identifies), and nobody would be told to touch the reader.
    private static let longestSilence: Duration = .milliseconds(700)

    init(
        _ id: ReaderID, of readers: any ReaderDriving, gallery: [StoredPrint],
        tell: @escaping @Sendable @BusQueue (EvaluationEvent) -> Void
    ) {
        self.id = id
        self.readers = readers
        self.gallery = gallery
        self.tell = tell
    }

    /// Opens the reader; one that another program holds is asked for again, a few times.
    func openReader() {
        work = BusQueue.task {
            for delay in [Duration.milliseconds(100), .milliseconds(300), nil] {
                do throws(ReaderFailure) {
                    self.open = try await self.readers.open(self.id)
                    return self.tell(.opened(self.id))
                } catch {
                    guard error == .busy, let delay, !self.isReleased else {
                        return self.tell(.failed(self.id, error))
                    }
                    await BusQueue.sleep(delay)
                    // It is wanted no more, and must not be opened for nobody.
                    guard !isReleased else { return }
                }
            }
        }
    }

    /// Compares the next touch.
    func scan() {
        guard let open, !isReleased else { return }
        let previous = work
        scans += 1
        let number = scans
        work = BusQueue.task {
            await previous?.value
            let event: EvaluationEvent
            listen(to: number)
            do throws(ReaderFailure) {
                let verdict = try await open.scan(against: gallery) { [weak self] sensor in
                    BusQueue.post { self?.note(sensor, during: number) }
                }
                event = .judged(id, checked(verdict))
            } catch {
                event = .failed(id, error)
            }
            // What the sensor said of this scan and is heard later is old news.
            scans += 1
            endSilence()
            tell(event)
        }
    }

    private func note(_ sensor: SensorState, during scan: UInt64) {
        guard scan == scans else { return }
        endSilence()
        tell(.sensed(id, sensor))
    }

    private func listen(to scan: UInt64) {
        silence = BusQueue.executor.after(Self.longestSilence) { [weak self] in
            BusQueue.assumeIsolated {
                self?.silence = nil
                self?.note(.fingerNeeded, during: scan)
            }
        }
    }

    private func endSilence() {
        if let silence { BusQueue.executor.cancelTimer(silence) }
        silence = nil
    }

    /// Compares the next touch a little later, so that the finger can be lifted.
    func scanAfterPause() {
        pause = BusQueue.executor.after(.milliseconds(100)) { [weak self] in
            BusQueue.assumeIsolated {
                self?.pause = nil
                self?.scan()
            }
        }
    }

    /// Stops whatever goes on, and closes the reader when the driver has really ended it.
    func release() {
        guard !isReleased else { return }
        isReleased = true
        if let pause { BusQueue.executor.cancelTimer(pause) }
        let work = work
        work?.cancel()
        BusQueue.task {
            await work?.value
            await self.open?.close()
            self.open = nil
            self.tell(.released(self.id))
        }
    }

    /// A match counts only if the print is one that was given for this scan; anything else that
    /// the hardware claims is a miss.
    private func checked(_ verdict: ScanVerdict) -> ScanVerdict {
        guard case .matched(let print) = verdict else { return verdict }
        return gallery.contains { $0.id == print } ? verdict : .missed
    }
}
