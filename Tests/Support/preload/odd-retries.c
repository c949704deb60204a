/* SPDX-License-Identifier: Apache-2.0 */
/* To be preloaded: a later libfprint, which asks for another touch for reasons that have no name yet. */
#define _GNU_SOURCE
#include <dlfcn.h>

typedef struct { unsigned int domain; int code; char *message; } Error;
typedef void (*MatchReport)(void *device, void *match, void *print, void *data, Error *error);
typedef void (*Progress)(void *device, int done, void *print, void *data, Error *error);

/* There is one reader and one piece of work at a time. */
static MatchReport report;
static Progress progress;

static void make_odd(Error *error)
{
    unsigned int (*retries)(void) = dlsym(RTLD_NEXT, "fp_device_retry_quark");

    if (error && error->domain == retries())
        error->code = 99;
}

static void odd_report(void *device, void *match, void *print, void *data, Error *error)
{
    make_odd(error);
    report(device, match, print, data, error);
}

static void odd_progress(void *device, int done, void *print, void *data, Error *error)
{
    make_odd(error);
    progress(device, done, print, data, error);
}

void fp_device_verify(void *device, void *print, void *cancellable, MatchReport told, void *data,
                      void *destroy, void *ready, void *ready_data)
{
    void (*next)(void *, void *, void *, MatchReport, void *, void *, void *, void *) =
        dlsym(RTLD_NEXT, "fp_device_verify");

    report = told;
    next(device, print, cancellable, odd_report, data, destroy, ready, ready_data);
}

void fp_device_enroll(void *device, void *print, void *cancellable, Progress told, void *data,
                      void *destroy, void *ready, void *ready_data)
{
    void (*next)(void *, void *, void *, Progress, void *, void *, void *, void *) =
        dlsym(RTLD_NEXT, "fp_device_enroll");

    progress = told;
    next(device, print, cancellable, odd_progress, data, destroy, ready, ready_data);
}
