#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Authenticates the user over D-Bus, with dbus-python. See ../README.md."""

import os
import signal
import sys
import uuid

import dbus
from dbus.mainloop.glib import DBusGMainLoop
from gi.repository import GLib

NAME = INTERFACE = "org.example.LocalAuth"
PATH = "/org/example/LocalAuth"
BIOMETRICS = 1
TIMEOUT = 60  # seconds that the service waits for the user
# The library's own limit has to be longer, or it would give up while the prompt is still there.
PATIENCE = TIMEOUT + 10


class Service:
    def __init__(self):
        self.bus = dbus.SystemBus(mainloop=DBusGMainLoop())
        # Without introspection: the types are written down here, and no call is wasted.
        self.proxy = self.bus.get_object(NAME, PATH, introspect=False)

    def call(self, member, signature, *values, **more):
        method = self.proxy.get_dbus_method(member, INTERFACE)
        return method(*values, signature=signature, **more)

    def can_evaluate(self, policy=BIOMETRICS):
        can, code, message = self.call("CanEvaluatePolicy", "u", policy)
        return bool(can), int(code), str(message)

    def evaluate(self, reason, challenge=None, policy=BIOMETRICS):
        """Waits for the answer in a main loop; Ctrl-C cancels. A reply is a success, and nothing else is."""
        token = str(uuid.uuid4())
        options = {"token": token, "timeout": dbus.UInt32(TIMEOUT)}
        if challenge is not None:
            options["challenge"] = dbus.ByteArray(challenge)

        def on_retry(about, cause, attempts_left, _message):
            # Other evaluations of the same user may be heard of, too.
            if about == token:
                print(f"retry: {cause}, attempts left: {attempts_left}", flush=True)

        def on_interrupt(_number, _frame):
            # The answer still comes: AppCancel, or the success that was faster.
            self.call("Cancel", "s", token, ignore_reply=True)

        loop = GLib.MainLoop()
        answer = {}

        def on_reply(result):
            answer["result"] = result
            loop.quit()

        def on_error(error):
            answer["error"] = error
            loop.quit()

        retries = self.bus.add_signal_receiver(on_retry, "Retry", INTERFACE, NAME, PATH)
        # Python's own handlers are called in GLib's main loop, too; a GLib source would not be, since
        # the loop takes SIGINT where it finds Python's default.
        before = signal.signal(signal.SIGINT, on_interrupt)
        try:
            self.call(
                "EvaluatePolicy", "usa{sv}", policy, reason, options,
                reply_handler=on_reply, error_handler=on_error, timeout=PATIENCE)
            loop.run()
        finally:
            signal.signal(signal.SIGINT, before)
            retries.remove()
        if "error" in answer:
            raise answer["error"]
        return answer["result"]

    def redeem(self, ticket, challenge):
        return self.call("RedeemTicket", "ayay", dbus.ByteArray(ticket), dbus.ByteArray(challenge))


class BadReply(Exception):
    """The service says something else than it is documented to."""


def value(claims, name, kind):
    """One value of a dictionary, if it has that type."""
    found = claims.get(name)
    if not isinstance(found, kind):
        raise BadReply(f"the service does not say the {name}")
    return found


def described(error):
    return f"{error.get_dbus_name()} {error.get_dbus_message()}"


def main(arguments):
    command, *rest = arguments or [""]
    if command not in ("can", "evaluate", "ticket") or len(rest) > (command != "can"):
        print(f"usage: {sys.argv[0]} can | evaluate [REASON] | ticket [REASON]", file=sys.stderr)
        return 2
    reason = rest[0] if rest else "try the dbus-python example"
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
        except dbus.DBusException as error:
            # It can be redeemed once.
            print(f"refused: {described(error)}")
            return 0
    except dbus.DBusException as error:
        print(f"error: {described(error)}")
        return 1
    except BadReply as error:
        print(f"error: {error}")
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
