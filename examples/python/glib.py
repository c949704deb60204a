#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Authenticates the user over D-Bus, with Gio. See ../README.md."""

import os
import signal
import sys
import uuid

from gi.repository import Gio, GLib

NAME = INTERFACE = "org.example.LocalAuth"
PATH = "/org/example/LocalAuth"
BIOMETRICS = 1
TIMEOUT = 60  # seconds that the service waits for the user
# The library's own limit has to be longer, or it would give up while the prompt is still there.
PATIENCE_MS = (TIMEOUT + 10) * 1000


class Service:
    def __init__(self):
        self.bus = Gio.bus_get_sync(Gio.BusType.SYSTEM)

    def call(self, member, arguments, reply_type, patience_ms=25_000):
        """Calls a method that asks nobody; an answer of another type is an error of GLib's."""
        return self.bus.call_sync(
            NAME, PATH, INTERFACE, member, arguments, GLib.VariantType(reply_type),
            Gio.DBusCallFlags.NONE, patience_ms)

    def can_evaluate(self, policy=BIOMETRICS):
        arguments = GLib.Variant("(u)", (policy,))
        return self.call("CanEvaluatePolicy", arguments, "(bis)").unpack()

    def evaluate(self, reason, challenge=None, policy=BIOMETRICS):
        """Waits for the answer in a main loop; Ctrl-C cancels. A reply is a success, and nothing else is."""
        token = str(uuid.uuid4())
        options = {
            "token": GLib.Variant("s", token),
            "timeout": GLib.Variant("u", TIMEOUT),
        }
        if challenge is not None:
            options["challenge"] = GLib.Variant("ay", challenge)

        def on_retry(_bus, _sender, _path, _interface, _member, values):
            # Only what is said of this evaluation, and only in the form that is documented.
            if values.get_type_string() == "(ssus)" and values.unpack()[0] == token:
                _, cause, attempts_left, _ = values.unpack()
                print(f"retry: {cause}, attempts left: {attempts_left}", flush=True)

        def on_interrupt(_number, _frame):
            # The answer still comes: AppCancel, or the success that was faster.
            self.bus.call(
                NAME, PATH, INTERFACE, "Cancel", GLib.Variant("(s)", (token,)), None,
                Gio.DBusCallFlags.NONE, -1, None, None)

        loop = GLib.MainLoop()
        answers = []

        def on_answer(bus, answer):
            answers.append(answer)
            loop.quit()

        retries = self.bus.signal_subscribe(
            NAME, INTERFACE, "Retry", PATH, None, Gio.DBusSignalFlags.NONE, on_retry)
        # Python's own handlers are called in GLib's main loop, too; a GLib source would not be, since
        # the loop takes SIGINT where it finds Python's default.
        before = signal.signal(signal.SIGINT, on_interrupt)
        try:
            self.bus.call(
                NAME, PATH, INTERFACE, "EvaluatePolicy",
                GLib.Variant("(usa{sv})", (policy, reason, options)),
                GLib.VariantType("(a{sv})"),
                # polkit may ask the user whether this program may.
                Gio.DBusCallFlags.ALLOW_INTERACTIVE_AUTHORIZATION, PATIENCE_MS, None, on_answer)
            loop.run()
        finally:
            signal.signal(signal.SIGINT, before)
            self.bus.signal_unsubscribe(retries)
        return self.bus.call_finish(answers[0]).unpack()[0]

    def redeem(self, ticket, challenge):
        arguments = GLib.Variant("(ayay)", (ticket, challenge))
        return self.call("RedeemTicket", arguments, "(a{sv})").unpack()[0]


class BadReply(Exception):
    """The service says something else than it is documented to."""


def value(claims, name, kind):
    """One value of a dictionary, if it has that type."""
    found = claims.get(name)
    if not isinstance(found, kind):
        raise BadReply(f"the service does not say the {name}")
    return found


def described(error):
    name = Gio.DBusError.get_remote_error(error) or "org.freedesktop.DBus.Error.Failed"
    # GLib puts the name in front of the text, too.
    return f"{name} {error.message.removeprefix(f'GDBus.Error:{name}: ')}"


def main(arguments):
    command, *rest = arguments or [""]
    if command not in ("can", "evaluate", "ticket") or len(rest) > (command != "can"):
        print(f"usage: {sys.argv[0]} can | evaluate [REASON] | ticket [REASON]", file=sys.stderr)
        return 2
    reason = rest[0] if rest else "try the GLib example"
    try:
        service = Service()
        if command == "can":
            can, code, message = service.can_evaluate()
            print("yes" if can else f"no: {code} {message}")
            return 0 if can else 1
        # Any process that knows the challenge can check the success, and needs to trust only the
        # service.
        challenge = os.urandom(32) if command == "ticket" else None
        result = service.evaluate(reason, challenge)
        print(f"success: {value(result, 'method', str)}", flush=True)
        if challenge is None:
            return 0
        ticket = bytes(value(result, "ticket", list))
        claims = service.redeem(ticket, challenge)
        user, method = value(claims, "user", str), value(claims, "method", str)
        print(f"ticket: {user} by {method}, policy {int(value(claims, 'policy', int))}")
        try:
            service.redeem(ticket, challenge)
            return 1
        except GLib.Error as error:
            # It can be redeemed once.
            print(f"refused: {described(error)}")
            return 0
    except GLib.Error as error:
        print(f"error: {described(error)}")
        return 1
    except BadReply as error:
        print(f"error: {error}")
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
