// SPDX-License-Identifier: Apache-2.0

internal import DBusBinding
internal import Glibc
internal import LocalAuthService
internal import GLibBinding
internal import SystemSupport

@main
enum LocalAuthDaemon {
    static let version = "0.1.0"

    static func main() {
        let options: Options
        do throws(Options.Failure) {
            options = try Options(CommandLine.arguments.dropFirst())
        } catch {
            fail("\(error.message); see --help", status: 2)
        }
        if options.wantsHelp { return print(Options.help, terminator: "") }
        if options.wantsVersion { return print("localauthd \(version)") }
        umask(0o077)
        forbidCoreDumps()
        // Before any thread is there, so that none is interrupted.
        guard let signals = SignalWatch([SIGTERM, SIGINT]) else {
            fail("no descriptor left", status: 1)
        }
        let manager = ServiceManager()
        let configuration = configuration(of: options)
        BusQueue.post {
            let daemon = Daemon(options, configuration, manager)
            signals.start(on: BusQueue.executor) { BusQueue.assumeIsolated { daemon.stop() } }
            daemon.start(signals)
        }
        // Ends only with the process.
        BusQueue.executor.run()
    }

    private static func configuration(of options: Options) -> Configuration {
        let path = options.config ?? Options.defaultConfig
        do {
            let text = try readSmallFile(path, limit: 65_536)
            return try Configuration(try KeyFile(parsing: text))
        } catch let error as SystemError {
            // Without a file of the usual name, everything has its default.
            if error.code == ENOENT, options.config == nil { return Configuration() }
            fail("\(path): \(error)", status: 78)
        } catch let error as KeyFile.Failure {
            fail("\(path): \(error.message)", status: 78)
        } catch let error as Configuration.Failure {
            fail("\(path): \(error.message)", status: 78)
        } catch {
            fail("\(path): \(error)", status: 78)
        }
    }

    static func fail(_ message: String, status: Int32) -> Never {
        let line = "localauthd: \(message)\n"
        // SAFETY: the string lives during the call.
        unsafe line.withCString { _ = unsafe write(2, $0, strlen($0)) }
        exit(status)
    }
}
