/* SPDX-License-Identifier: Apache-2.0 */
/*
 * To be preloaded: USB devices with faults, which files tell while they exist.
 *
 * FAULTY_CLAIM names one with two numbers: the error that claims of an interface end with (16, EBUSY,
 * is the kernel's when another program has the interface), and how many of them, after which the
 * file is removed; 0: all.
 *
 * FAULTY_TRANSFERS names one with a word: "silent", nothing comes from the device any more, or
 * "gone", as when it has been unplugged. When a transfer waits for a silent device, a file is made
 * with ".waiting" behind its name.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/usbdevice_fs.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* The error that this claim is to end with; 0 for none. */
static int claim_error(void)
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

/* The descriptor of the device whose interface was claimed last. */
static int device = -1;

/* The first letter of the word for transfers; EOF when there is none. */
static int transfers(void)
{
    const char *path = getenv("FAULTY_TRANSFERS");
    FILE *file = path ? fopen(path, "re") : NULL;
    int letter = file ? fgetc(file) : EOF;

    if (file)
        fclose(file);
    return letter;
}

/* Tells that a transfer waits for a device that is silent. */
static void tell_waiting(void)
{
    char path[4096];
    FILE *file;

    snprintf(path, sizeof(path), "%s.waiting", getenv("FAULTY_TRANSFERS"));
    file = fopen(path, "we");
    if (file)
        fclose(file);
}

int ioctl(int descriptor, unsigned long request, ...)
{
    int (*next)(int, unsigned long, ...) = dlsym(RTLD_NEXT, "ioctl");
    va_list arguments;
    void *argument;
    int error = 0;

    va_start(arguments, request);
    argument = va_arg(arguments, void *);
    va_end(arguments);
    if (request == USBDEVFS_CLAIMINTERFACE) {
        error = claim_error();
        device = descriptor;
    }
    if (request == USBDEVFS_SUBMITURB) {
        int letter = transfers();

        if (letter == 'g')
            error = ENODEV;
        if (letter == 's')
            tell_waiting();
    }
    /* umockdev knows of none. The transfer ends when the device speaks again. */
    if (request == USBDEVFS_DISCARDURB && transfers() == 's')
        return 0;
    if (!error)
        return next(descriptor, request, argument);
    errno = error;
    return -1;
}

/* libusb waits here for transfers that are finished, and learns of a device that is gone. */
int poll(struct pollfd *all, nfds_t count, int timeout)
{
    int (*next)(struct pollfd *, nfds_t, int) = dlsym(RTLD_NEXT, "poll");
    struct pollfd *ours = NULL;
    int letter = EOF;
    int result;

    for (nfds_t i = 0; i < count; i++)
        if (device >= 0 && all[i].fd == device)
            ours = &all[i];
    if (ours)
        letter = transfers();
    if (letter != 's' && letter != 'g')
        return next(all, count, timeout);
    /* Looks at the file again soon. */
    ours->fd = -1;
    result = next(all, count, letter == 'g' ? 0 : timeout < 0 || timeout > 10 ? 10 : timeout);
    ours->fd = device;
    if (letter == 'g' && result >= 0) {
        ours->revents = POLLERR;
        result++;
    }
    return result;
}
