// SPDX-License-Identifier: Apache-2.0
#define _POSIX_C_SOURCE 200809L
#include "leak_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>

// The sanitizer records where each library's thread-local variables begin, and reads them at the
// end. It may record an invalid address for a library that was opened and closed ("Tracer caught
// signal 11"), and then gives up. Without its list it finds them as the malloc()ed memory that they
// are.
__attribute__((visibility("default"))) const char* __asan_default_options(void);
const char* __asan_default_options(void)
{
    return "intercept_tls_get_addr=0";
}

enum
{
    ORT_LEAK_BYTES = 152  // of each object that ONNX Runtime loses
};

// Whether a line of the report is about something other than these objects.
static int is_other_leak(const char* line)
{
    size_t bytes, objects;
    if (sscanf(line, "Direct leak of %zu byte(s) in %zu object(s)", &bytes, &objects) == 2)
        return bytes != objects * ORT_LEAK_BYTES;
    return sscanf(line, "Indirect leak of %zu byte(s)", &bytes) == 1;
}

static char report_path[96];

static int has_other_leaks(void)
{
    char line[1024];
    int is_other = 0;
    FILE* report = fopen(report_path, "r");
    if (!report) return 1;
    while (fgets(line, sizeof line, report))
        if (is_other_leak(line)) is_other = 1;
    fclose(report);
    return is_other;
}

// Also prints the report of a sanitizer that gives up: only the report has the reason.
static void print_report(void)
{
    char line[1024];
    FILE* report = fopen(report_path, "r");
    while (report && fgets(line, sizeof line, report))
        fputs(line, stderr);
    if (report) fclose(report);
    remove(report_path);
}

static int has_leaks(void)
{
    char prefix[64];
    snprintf(prefix, sizeof prefix, "/tmp/ort_leaks_%ld", (long)getpid());
    snprintf(report_path, sizeof report_path, "%s.%ld", prefix, (long)getpid());
    __sanitizer_set_report_path(prefix);
    __sanitizer_set_death_callback(print_report);
    const int is_ours = __lsan_do_recoverable_leak_check() && has_other_leaks();
    __sanitizer_set_report_path("stderr");
    if (is_ours) print_report();
    remove(report_path);
    return is_ours;
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
