// SPDX-License-Identifier: Apache-2.0
// Models in NHWC: the NCHW result is computed here from the element's coordinates, and writing
// restores the file's order.
#include <cstring>
#include <functional>

#include "serializer/tmfile_model.h"

namespace tengine::test {
namespace {

using TmfileNhwcTest = TmfileTest;

RawModel nhwc_model(uint32_t op, const Words& param)
{
    RawModel model = single_model(op, param);
    model.graph_layout = model.model_layout = TENGINE_LAYOUT_NHWC;
    return model;
}

void expect_round_trip(const LoadedTmfile& loaded)
{
    ASSERT_EQ(loaded.status, 0) << loaded.message;
    const LoadedTmfile again(write_graph(loaded.graph));
    ASSERT_EQ(again.status, 0) << again.message;
    EXPECT_EQ(describe_graph(again.graph), describe_graph(loaded.graph));
}

std::vector<int64_t> ints_of(const LoadedTmfile& loaded, const char* name)
{
    int number;
    const int64_t* values = get_ir_node_ints(loaded.node("y"), name, &number);
    return {values, values + number};
}

TEST_F(TmfileNhwcTest, ShapesAndConstants)
{
    RawModel model = nhwc_model(21, {});
    std::vector<float> values(2 * 3 * 4 * 5);
    for (size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<float>(i);
    model.add_constant("w", {2, 3, 4, 5}, values);
    model.add_constant("list", {2, 3}, {0, 1, 2, 3, 4, 5});
    model.outputs = {1};
    const LoadedTmfile loaded(model);
    ASSERT_EQ(loaded.status, 0) << loaded.message;
    EXPECT_EQ(loaded.graph->graph_layout, TENGINE_LAYOUT_NCHW);
    EXPECT_EQ(loaded.graph->model_layout, TENGINE_LAYOUT_NHWC);
    const struct tensor* w = loaded.tensor("w");
    EXPECT_EQ(std::vector<int>(w->dims, w->dims + 4), (std::vector<int>{2, 5, 3, 4}));
    for (int n = 0; n < 2; ++n)
        for (int c = 0; c < 5; ++c)
            for (int y = 0; y < 3; ++y)
                for (int x = 0; x < 4; ++x)
                    EXPECT_EQ(w->f32[((n * 5 + c) * 3 + y) * 4 + x],
                              values[static_cast<size_t>(((n * 3 + y) * 4 + x) * 5 + c)]);
    EXPECT_EQ(loaded.tensor("list")->f32[4], 4);
    const struct tensor* x = loaded.tensor("x");
    EXPECT_EQ(std::vector<int>(x->dims, x->dims + 4), (std::vector<int>{1, 4, 2, 4}));
    expect_round_trip(loaded);
}

// Weights of a depthwise convolution: dims are [out, h, w, 1], the order of the values is [h, w,
// out].
TEST_F(TmfileNhwcTest, DepthwiseWeights)
{
    RawModel model = nhwc_model(21, {});
    std::vector<float> values(3 * 2 * 4);
    for (size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<float>(i);
    model.add_constant("w", {3, 2, 4, 1}, values);
    model.outputs = {1};
    const LoadedTmfile loaded(model);
    ASSERT_EQ(loaded.status, 0) << loaded.message;
    const struct tensor* w = loaded.tensor("w");
    EXPECT_EQ(std::vector<int>(w->dims, w->dims + 4), (std::vector<int>{3, 1, 2, 4}));
    for (int out = 0; out < 3; ++out)
        for (int place = 0; place < 8; ++place)
            EXPECT_EQ(w->f32[out * 8 + place], values[static_cast<size_t>(place * 3 + out)]);
    expect_round_trip(loaded);
}

TEST_F(TmfileNhwcTest, ModelLayoutAloneLeavesParameters)
{
    RawModel model = nhwc_model(28, {3});
    model.graph_layout = TENGINE_LAYOUT_NCHW;
    const LoadedTmfile loaded(model);
    ASSERT_EQ(loaded.status, 0) << loaded.message;
    EXPECT_EQ(get_ir_node_int(loaded.node("y"), "axis", 9), 3);
    EXPECT_EQ(loaded.tensor("x")->dims[1], 4);
    EXPECT_EQ(loaded.tensor("x")->dims[3], 4);
}

TEST_F(TmfileNhwcTest, Softmax)
{
    const LoadedTmfile channels(nhwc_model(28, {3}));
    EXPECT_EQ(get_ir_node_int(channels.node("y"), "axis", 9), 1);
    expect_round_trip(channels);
    const LoadedTmfile other(nhwc_model(28, {2}));
    EXPECT_EQ(get_ir_node_int(other.node("y"), "axis", 9), 2);
    expect_round_trip(other);
}

TEST_F(TmfileNhwcTest, Reduction)
{
    const uint32_t unused = 0xfffffffe, last = 0xffffffff;
    const LoadedTmfile plane(nhwc_model(45, {1, 2, unused, unused, 1, 1}));
    EXPECT_EQ(get_ir_node_int(plane.node("y"), "dim_0", 9), 2);
    EXPECT_EQ(get_ir_node_int(plane.node("y"), "dim_1", 9), 3);
    expect_round_trip(plane);
    const LoadedTmfile channels(nhwc_model(45, {last, unused, unused, unused, 1, 1}));
    EXPECT_EQ(get_ir_node_int(channels.node("y"), "dim_0", 9), 1);
    expect_round_trip(channels);
}

TEST_F(TmfileNhwcTest, PadAndStridedSlice)
{
    // The file has n, h, w, c in the fields named n, c, h, w.
    const LoadedTmfile pad(nhwc_model(40, {1, 2, 3, 4, 5, 6, 7, 8, 0, word(0.5f)}));
    ASSERT_EQ(pad.status, 0) << pad.message;
    const char* const names[] = {"pad_0_h", "pad_0_w", "pad_1_h", "pad_1_w",
                                 "pad_2_h", "pad_2_w", "pad_3_h", "pad_3_w"};
    const int expected[] = {1, 2, 7, 8, 3, 4, 5, 6};
    for (int i = 0; i < 8; ++i)
        EXPECT_EQ(get_ir_node_int(pad.node("y"), names[i], -9), expected[i]) << names[i];
    EXPECT_EQ(get_ir_node_float(pad.node("y"), "value", 0), 0.5f);
    expect_round_trip(pad);

    const LoadedTmfile slice(nhwc_model(41, {0, 1, 1, 10, 20, 1, 11, 21, 2, 12, 22, 3}));
    ASSERT_EQ(slice.status, 0) << slice.message;
    EXPECT_EQ(ints_of(slice, "begin"), (std::vector<int64_t>{0, 12, 10, 11}));
    EXPECT_EQ(ints_of(slice, "end"), (std::vector<int64_t>{1, 22, 20, 21}));
    EXPECT_EQ(ints_of(slice, "stride"), (std::vector<int64_t>{1, 3, 1, 2}));
    expect_round_trip(slice);
}

TEST_F(TmfileNhwcTest, Reshape)
{
    const auto reshape = [](const Words& shape) {
        RawModel model = nhwc_model(23, {0, 0, 0, 0});
        model.nodes[1].vectors[2] = shape;
        return model;
    };
    const LoadedTmfile four(reshape({1, 7, 8, 9}));
    EXPECT_EQ(ints_of(four, "re_shape"), (std::vector<int64_t>{1, 9, 7, 8}));
    expect_round_trip(four);
    const LoadedTmfile three(reshape({1, 7, 8}));
    EXPECT_EQ(ints_of(three, "re_shape"), (std::vector<int64_t>{1, 8, 7}));
    expect_round_trip(three);
    const LoadedTmfile two(reshape({1, 7}));
    EXPECT_EQ(ints_of(two, "re_shape"), (std::vector<int64_t>{1, 7}));
    expect_round_trip(two);
    expect_failure(LoadedTmfile(reshape({1, 2, 3, 4, 5})), TENGINE_ENOTSUP,
                   {"'y'", "5 dimensions"});
}

}  // namespace
}  // namespace tengine::test
