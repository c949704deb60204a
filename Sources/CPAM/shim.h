/* SPDX-License-Identifier: Apache-2.0 */
/* Linux-PAM, as an application uses it. */
#pragma once
#include <security/pam_appl.h>
