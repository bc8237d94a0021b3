// SPDX-License-Identifier: Apache-2.0
// Describes the kernels of a plan for reports.
#include <algorithm>
#include <cstdio>

#include "device/cpu/plan/layout.h"
#include "device/cpu/plan/plan.h"

namespace tengine::cpu {
namespace {

bool is_copy(const Step& step)
{
    return step.kernel == find_layout_kernel(Layout::kPlanar) ||
           step.kernel == find_layout_kernel(Layout::kChannelsLast);
}

// Prints "timed: conv.f32.winograd4x4 1.804 ms, conv.f32.nhwc 1.230 ms"; an end that does not fit
// is left out.
void print_times(const KernelTimes& times, char* text, size_t size)
{
    const char* before = "timed: ";
    for (const KernelTime& time : times) {
        const int length = std::snprintf(text, size, "%s%s %.3f ms", before, time.kernel->name,
                                         static_cast<double>(time.ns) * 1e-6);
        if (length < 0 || static_cast<size_t>(length) >= size) {
            *text = '\0';
            return;
        }
        text += length;
        size -= static_cast<size_t>(length);
        before = ", ";
    }
}

// Orders steps by their positions.
struct ComparePositions
{
    bool operator()(const Step& step, int position) const { return step.position < position; }
    bool operator()(int position, const Step& step) const { return position < step.position; }
};

}  // namespace

void Plan::explain(int position, ir_node_kernel_t* out_kernel) const
{
    const auto [begin, end] =
        std::equal_range(steps_.begin(), steps_.end(), position, ComparePositions());
    const auto found = std::find_if(begin, end, [](const Step& step) {
        return step.kernel && !step.dynamic && !is_copy(step);
    });
    if (found == end) return;
    std::snprintf(out_kernel->name, sizeof out_kernel->name, "%s", found->kernel->name);
    if (found->untimed)
        std::snprintf(out_kernel->reason, sizeof out_kernel->reason, "%s", found->untimed);
    else
        print_times(found->times, out_kernel->reason, sizeof out_kernel->reason);
}

}  // namespace tengine::cpu
