// SPDX-License-Identifier: Apache-2.0
// A graph whose input changes its shape repeatedly computes the bits of a graph that was made for
// the shape, regardless of data kept from earlier shapes.
#include <gtest/gtest.h>
#include <random>
#include <string>

#include "device/tpu/device_run.h"
#include "device/tpu/quantized_model.h"

namespace tengine::tpu {
namespace {

void build(test::IrBuilder& builder, int size)
{
    QuantizedModel model(builder, 3);
    const std::string x = model.input({1, 5, size, size});
    const std::string y = model.conv(x, 5);
    builder.outputs({model.conv(y, 8)});
}

Bytes run(DeviceRun& subject, int size)
{
    graph* source = subject.source();
    const int dims[] = {1, 5, size, size};
    EXPECT_EQ(set_ir_tensor_shape(source->tensor_list[source->input_tensors[0]], dims, 4),
              TENGINE_OK);
    EXPECT_EQ(subject.prerun(), TENGINE_OK) << tengine_error_message();
    subject.feed_all(static_cast<unsigned>(size));
    EXPECT_EQ(subject.run(), TENGINE_OK) << tengine_error_message();
    return subject.outputs();
}

class ShapesTest : public testing::TestWithParam<const char*>
{
};

TEST_P(ShapesTest, RandomShapesGiveTheBitsOfFreshGraphs)
{
    std::mt19937 random(4);
    const auto build_any = [](test::IrBuilder& builder) { build(builder, 7); };
    DeviceRun subject("TPU", {{"run.shape_cache", GetParam()}}, build_any);
    for (int i = 0; i < 25; ++i) {
        const int size = 6 + static_cast<int>(random() % 5);
        DeviceRun fresh("TPU", {}, [&](test::IrBuilder& builder) { build(builder, size); });
        EXPECT_EQ(run(subject, size), run(fresh, size)) << size;
        EXPECT_GT(subject.nodes_on("TPU"), 0);
    }
}

INSTANTIATE_TEST_SUITE_P(Kept, ShapesTest, testing::Values("0", "1", "3"));

}  // namespace
}  // namespace tengine::tpu
