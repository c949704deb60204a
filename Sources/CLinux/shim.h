/* SPDX-License-Identifier: Apache-2.0 */
/* Linux headers that the toolchain's Glibc module leaves out. */
#pragma once
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <poll.h>

/* Names the calling thread in the system's listings; a longer name is cut by the kernel's rule. */
static inline void localauth_set_thread_name(const char *name) {
  (void)prctl(PR_SET_NAME, name, 0, 0, 0);
}

/* prctl takes a variable number of arguments, which Swift cannot call. */
static inline void localauth_forbid_dumps(void) { (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }
