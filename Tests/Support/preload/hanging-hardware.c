/* SPDX-License-Identifier: Apache-2.0 */
/*
 * To be preloaded: libfprint that hangs while it looks for readers, for as many seconds as
 * HANGING_SECONDS says, and that notes in the file HANGING_LOG what was called.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void note(const char *line)
{
    const char *path = getenv("HANGING_LOG");
    int file = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644) : -1;

    if (file < 0)
        return;
    if (write(file, line, strlen(line)) < 0)
        abort();
    close(file);
}

void *fp_context_new(void)
{
    void *(*next)(void) = dlsym(RTLD_NEXT, "fp_context_new");

    note("fp_context_new\n");
    return next();
}

void fp_context_enumerate(void *context)
{
    void (*next)(void *) = dlsym(RTLD_NEXT, "fp_context_enumerate");
    const char *text = getenv("HANGING_SECONDS");
    unsigned int rest = text ? (unsigned int)atoi(text) : 0;

    note("fp_context_enumerate\n");
    while (rest > 0)
        rest = sleep(rest);
    next(context);
}
