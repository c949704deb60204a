/* SPDX-License-Identifier: Apache-2.0 */
/* To be preloaded: readers that cannot identify, as far as their user can tell. Some recordings are of
 * a verification only. */
#define _GNU_SOURCE
#include <dlfcn.h>

/* FP_DEVICE_FEATURE_IDENTIFY */
#define IDENTIFY (1u << 1)

unsigned int fp_device_get_features(void *device)
{
    unsigned int (*next)(void *) = dlsym(RTLD_NEXT, "fp_device_get_features");

    return next(device) & ~IDENTIFY;
}
