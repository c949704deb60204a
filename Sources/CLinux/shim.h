/* SPDX-License-Identifier: Apache-2.0 */
/* Linux headers that the toolchain's Glibc module leaves out. */
#pragma once
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <libintl.h>
#include <spawn.h>
#include <poll.h>
#include <shadow.h>

/* Names the calling thread in the system's listings; a longer name is cut by the kernel's rule. */
static inline void localauth_set_thread_name(const char *name) {
  (void)prctl(PR_SET_NAME, name, 0, 0, 0);
}

/* prctl takes a variable number of arguments, which Swift cannot call. */
static inline void localauth_forbid_dumps(void) { (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

/* The calling process ends when the thread that has started it does. */
static inline void localauth_end_with_parent(void) { (void)prctl(PR_SET_PDEATHSIG, 9, 0, 0, 0); }

/* The toolchain's module has spawn.h without what only GNU has. */
int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from);
static inline int localauth_close_from(posix_spawn_file_actions_t *actions, int from) {
  return posix_spawn_file_actions_addclosefrom_np(actions, from);
}
