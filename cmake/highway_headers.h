// SPDX-License-Identifier: Apache-2.0
// Highway's headers, precompiled for kernels. In a build for several instruction sets they are not:
// there they choose the one that a file is compiled for.
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
