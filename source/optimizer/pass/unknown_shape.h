// SPDX-License-Identifier: Apache-2.0
// The origin of a shape that is known only at run time, for messages.
#pragma once

#include "base/containers.hpp"
#include "tengine/ir.h"

namespace tengine {

// The reason why a tensor has no complete shape: " (NonZero 'n' decides by the values of input
// 'x')", with the first node before it whose shape depends on data, and the input of the graph that
// these data come from. "" when no node computes the tensor, and in minimal builds.
#ifdef TENGINE_MINIMAL
inline String describe_origin(const graph& graph, const struct tensor& unknown)
{
    (void)graph;
    (void)unknown;
    return {};
}
#else
String describe_origin(const graph& graph, const struct tensor& unknown);
#endif

}  // namespace tengine
