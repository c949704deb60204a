/* SPDX-License-Identifier: Apache-2.0 */
/* To be preloaded with recordings of readers that keep prints: those name a print by its user, finger and
 * date, and libfprint's recordings are of one that has none of these. libfprint finds none in any print,
 * whoever else asks finds what there is. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>

static int is_libfprint(void *caller)
{
    Dl_info info;

    return dladdr(caller, &info) && info.dli_fname && strstr(info.dli_fname, "/libfprint-2.so");
}

#define ANSWER(type, name, none)                                             \
    type name(void *print)                                                   \
    {                                                                        \
        type (*next)(void *) = dlsym(RTLD_NEXT, #name);                      \
                                                                             \
        return is_libfprint(__builtin_return_address(0)) ? none : next(print); \
    }

ANSWER(const char *, fp_print_get_username, NULL)
ANSWER(const void *, fp_print_get_enroll_date, NULL)
/* FP_FINGER_UNKNOWN */
ANSWER(int, fp_print_get_finger, 0)
