// SPDX-License-Identifier: Apache-2.0
#include "base/environment.h"

#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/auxv.h>
#endif

static bool has_foreign_rights(void)
{
#if defined(__linux__)
    if (getauxval(AT_SECURE) != 0) return true;
#endif
    return getuid() != geteuid() || getgid() != getegid();
}

const char* get_trusted_environment(const char* name)
{
    return has_foreign_rights() ? NULL : getenv(name);
}
