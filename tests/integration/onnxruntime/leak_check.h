// SPDX-License-Identifier: Apache-2.0
// What ONNX Runtime itself loses, 14 bytes in the first CreateEnv of 1.30, is none of our leaks.
#pragma once

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#define SUSPEND_LEAK_CHECK() __lsan_disable()
#define RESUME_LEAK_CHECK() __lsan_enable()
#else
#define SUSPEND_LEAK_CHECK() ((void)0)
#define RESUME_LEAK_CHECK() ((void)0)
#endif
