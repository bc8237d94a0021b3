// SPDX-License-Identifier: Apache-2.0
// Copies between the two layouts, for elements of each size, on every instruction set.
#include <gtest/gtest.h>
#include <vector>

#include "device/cpu/channels_last.h"
#include "device/cpu/kernel/vector/vector_target.h"
#include "device/cpu/kernel_table.h"
#include "device/cpu/plan/layout.h"
#include "support/ir_builder.h"

namespace tengine::test {
namespace {

using cpu::KernelContext;
using cpu::Layout;

// Returns output 0 for these elements.
template <class T>
std::vector<T> copy(Layout layout, const tensor& shape, std::vector<T> from)
{
    std::vector<T> to(from.size(), T(0xffff));
    tensor input = shape, output = shape;
    input.data = from.data();
    output.data = to.data();
    tensor* const inputs[] = {&input};
    tensor* const outputs[] = {&output};
    KernelContext context;
    context.inputs = inputs;
    context.outputs = outputs;
    context.tensor_num[0] = context.tensor_num[1] = 1;
    EXPECT_EQ(cpu::find_layout_kernel(layout)->run(context), TENGINE_OK);
    return to;
}

// Makes elements that differ from all neighbours.
template <class T>
void expect_copies(int data_type)
{
    IrBuilder builder;
    for (const std::vector<int>& dims : std::vector<std::vector<int>>{
             {1, 3, 5, 7}, {2, 4, 9, 9}, {3, 13, 1, 71}, {1, 64, 8, 8}, {2, 2, 130, 1}}) {
        const tensor& shape = *builder.input(testing::PrintToString(dims), dims, data_type);
        std::vector<T> planar(static_cast<size_t>(shape.elem_num));
        for (size_t i = 0; i < planar.size(); ++i)
            planar[i] = static_cast<T>(i * 7919);
        const std::vector<T> last = cpu::put_channels_last(shape, planar.data());
        for (int target = 0; target < cpu::get_vector_target_num(); ++target) {
            cpu::force_vector_target(target);
            SCOPED_TRACE(shape.name);
            EXPECT_EQ(copy(Layout::kChannelsLast, shape, planar), last);
            EXPECT_EQ(copy(Layout::kPlanar, shape, last), planar);
        }
    }
    cpu::force_vector_target(-1);
}

TEST(LayoutCopyTest, MovesElementsOfEachSize)
{
    if (!cpu::find_layout_kernel(Layout::kPlanar)) GTEST_SKIP() << "a build without vectors";
    expect_copies<uint8_t>(TENGINE_DT_UINT8);
    expect_copies<uint16_t>(TENGINE_DT_BF16);
    expect_copies<uint16_t>(TENGINE_DT_FP16);
    expect_copies<uint32_t>(TENGINE_DT_FP32);
}

}  // namespace
}  // namespace tengine::test
