// SPDX-License-Identifier: Apache-2.0
// Highway's headers, precompiled for kernels. A build for several instruction sets does not
// precompile them: there the headers choose the set that a file is compiled for.
#pragma once

#ifdef TENGINE_HAVE_HIGHWAY
#include <hwy/detect_targets.h>
#if HWY_TARGETS == HWY_STATIC_TARGET
// clang-format off
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on
#endif
#endif
