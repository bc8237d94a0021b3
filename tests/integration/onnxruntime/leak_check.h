// SPDX-License-Identifier: Apache-2.0
// Leaks, in builds for the address sanitizer, less those of ONNX Runtime 1.30 itself: 14 bytes in
// the first CreateEnv, and 152 bytes about every ten seconds, which are also lost by a program that
// uses only its CPU provider.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#define SUSPEND_LEAK_CHECK() __lsan_disable()
#define RESUME_LEAK_CHECK() __lsan_enable()
#else
#define SUSPEND_LEAK_CHECK() ((void)0)
#define RESUME_LEAK_CHECK() ((void)0)
#endif

// Ends the process with `status`, or with 1 and the sanitizer's report if there is another leak.
void exit_without_leaks(int status);

#ifdef __cplusplus
}
#endif
