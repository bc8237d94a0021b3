// SPDX-License-Identifier: Apache-2.0
// Predicted times. Whole nanoseconds, so that sums do not depend on the order of nodes.
#include <algorithm>
#include <cmath>
#include <new>

#include "base/bandwidth.h"
#include "graph/context.h"
#include "graph/core.h"
#include "graph/option.h"
#include "optimizer/optimizer.h"
#include "optimizer/split/split.h"

namespace tengine {
namespace {

constexpr double kNanosecondsPerMillisecond = 1e6;
constexpr double kLongestMs = 1e7;  // three hours; sums of 100,000 nodes do not overflow

// The device's estimate, false when it is missing or invalid. Running out of memory is not an
// estimate.
bool ask_estimate(const device& device, const node& node, int64_t* out_ns)
{
    if (!device.allocator->estimate) return false;
    double ms = -1;
    tengine_error_clear();
    if (device.allocator->estimate(const_cast<struct device*>(&device), &node, &ms) != 0) {
        if (tengine_error_code() == TENGINE_ENOMEM) throw std::bad_alloc();
        return false;
    }
    if (!(ms >= 0 && ms <= kLongestMs)) return false;
    *out_ns = std::llround(ms * kNanosecondsPerMillisecond);
    return true;
}

}  // namespace

int64_t predict_node(const device& device, const node& node, bool* out_known)
{
    int64_t ns = 0;
    *out_known = ask_estimate(device, node, &ns);
    if (!*out_known) ask_estimate(*find_default_device(), node, &ns);
    return ns;
}

int64_t predict_move(const graph& graph, int64_t bytes)
{
    constexpr double kBytesPerGigabyte = 1e9;
    const double stated =
        get_ir_context_number(graph.attribute->context, "split.bandwidth") * kBytesPerGigabyte;
    const double bandwidth = stated > 0 ? stated : get_copy_bandwidth();
    const double ns = static_cast<double>(bytes) / bandwidth * 1e9;
    return std::llround(std::min(ns, kLongestMs * kNanosecondsPerMillisecond));
}

}  // namespace tengine

int64_t predict_ir_node(struct node* node)
{
    bool known = false;
    try {
        if (node->core->predicted_ns < 0)
            node->core->predicted_ns = tengine::predict_node(*node->device, *node, &known);
    } catch (const std::bad_alloc&) {
        return 0;  // only a report needs the value
    }
    return node->core->predicted_ns;
}
