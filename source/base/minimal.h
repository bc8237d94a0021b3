// SPDX-License-Identifier: Apache-2.0
// Features that boards can do without are compiled in every build. In a minimal one their condition
// is a constant, so that the compiler drops them (docs/size.md).
#pragma once

#include <stdbool.h>

#ifdef TENGINE_MINIMAL
#define IS_MINIMAL true
#else
#define IS_MINIMAL false
#endif

// A minimal build that runs prepared graphs of compiled files alone: it has no passes.
#ifdef TENGINE_RUNTIME_ONLY
#define IS_RUNTIME_ONLY true
#else
#define IS_RUNTIME_ONLY false
#endif
