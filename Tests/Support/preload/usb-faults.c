/* SPDX-License-Identifier: Apache-2.0 */
/*
 * To be preloaded: makes claims of a USB interface fail while the file named by FAULTY_CLAIM exists.
 * In it are two numbers: the error (16, EBUSY, is the kernel's when another program has the
 * interface), and how many claims are to fail, after which the file is removed; 0: all.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/usbdevice_fs.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* The error that this claim is to end with; 0 for none. */
static int wanted_error(void)
{
    const char *path = getenv("FAULTY_CLAIM");
    FILE *file = path ? fopen(path, "r+e") : NULL;
    int error = 0;
    int count = 0;

    if (!file)
        return 0;
    if (fscanf(file, "%d %d", &error, &count) != 2)
        error = 0;
    if (error && count > 1) {
        rewind(file);
        fprintf(file, "%d %d\n", error, count - 1);
    }
    fclose(file);
    if (count == 1)
        unlink(path);
    return error;
}

int ioctl(int descriptor, unsigned long request, ...)
{
    int (*next)(int, unsigned long, ...) = dlsym(RTLD_NEXT, "ioctl");
    va_list arguments;
    void *argument;

    va_start(arguments, request);
    argument = va_arg(arguments, void *);
    va_end(arguments);
    if (request == USBDEVFS_CLAIMINTERFACE) {
        int error = wanted_error();

        if (error) {
            errno = error;
            return -1;
        }
    }
    return next(descriptor, request, argument);
}
