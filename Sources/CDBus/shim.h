/* SPDX-License-Identifier: Apache-2.0 */
/* What Swift cannot import of libdbus: macros with a cast, and no more. */
#pragma once
#include <dbus/dbus.h>

static inline int localauth_dbus_timeout_infinite(void) { return DBUS_TIMEOUT_INFINITE; }
