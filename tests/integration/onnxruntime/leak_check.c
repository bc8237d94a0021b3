// SPDX-License-Identifier: Apache-2.0
#define _POSIX_C_SOURCE 200809L
#include "leak_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>

enum
{
    ORT_LEAK_BYTES = 152  // of each object that ONNX Runtime loses
};

// Whether a line of the report is about something else than these objects.
static int is_other_leak(const char* line)
{
    size_t bytes, objects;
    if (sscanf(line, "Direct leak of %zu byte(s) in %zu object(s)", &bytes, &objects) == 2)
        return bytes != objects * ORT_LEAK_BYTES;
    return sscanf(line, "Indirect leak of %zu byte(s)", &bytes) == 1;
}

// Prints the report when it has other leaks, and removes it.
static int judge_report(const char* path)
{
    char line[1024];
    int is_ours = 0;
    FILE* report = fopen(path, "r");
    if (!report) return 1;
    while (fgets(line, sizeof line, report))
        if (is_other_leak(line)) is_ours = 1;
    rewind(report);
    while (is_ours && fgets(line, sizeof line, report))
        fputs(line, stderr);
    fclose(report);
    remove(path);
    return is_ours;
}

static int has_leaks(void)
{
    char prefix[64], path[96];
    snprintf(prefix, sizeof prefix, "/tmp/ort_leaks_%ld", (long)getpid());
    snprintf(path, sizeof path, "%s.%ld", prefix, (long)getpid());
    __sanitizer_set_report_path(prefix);
    const int found = __lsan_do_recoverable_leak_check();
    __sanitizer_set_report_path("stderr");
    return found && judge_report(path);
}
#else
static int has_leaks(void)
{
    return 0;
}
#endif

void exit_without_leaks(int status)
{
    const int leaks = has_leaks();
    fflush(stdout);
    fflush(stderr);
    _exit(leaks ? 1 : status);
}
