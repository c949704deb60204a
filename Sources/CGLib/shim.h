/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
#include <glib.h>
#include <glib-object.h>
#include <gio/gio.h>
