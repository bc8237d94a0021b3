// SPDX-License-Identifier: Apache-2.0
// Where a shape comes from that is known only at run time, for messages.
#pragma once

#include "base/containers.hpp"
#include "tengine/ir.h"

namespace tengine {

// The reason why a tensor has no complete shape: " (NonZero 'n' decides by the values of input
// 'x')", the first node on the way to it whose shape depends on data, and the input of the graph
// that these come from. "" when no node makes the tensor, and in minimal builds.
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
