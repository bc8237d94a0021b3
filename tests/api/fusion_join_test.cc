// SPDX-License-Identifier: Apache-2.0
// The inputs of a Concat of channels are written directly into its result.
#include "fusion_fixture.h"
#include "tengine/inspect.h"

namespace tengine {
namespace {

class JoinTest : public FusionTest
{
  protected:
    // Attributes of the last node.
    void set_ints(const char* name, const std::vector<int>& values)
    {
        ASSERT_EQ(
            set_node_attr_generic(get_graph_node(graph_, names_.back().c_str()), name, "int[]",
                                  values.data(), static_cast<int>(values.size() * sizeof(int))),
            0)
            << get_tengine_error();
    }

    tensor_t concat(std::initializer_list<tensor_t> inputs, int axis = 1)
    {
        const tensor_t y = node("Concat", inputs);
        EXPECT_EQ(set_node_attr_int(get_graph_node(graph_, names_.back().c_str()), "axis", &axis),
                  0)
            << get_tengine_error();
        return y;
    }

    tensor_t pool(const char* op, tensor_t x, int size, int stride)
    {
        const tensor_t y = node(op, {x});
        const int pad = (size - 1) / 2;
        set_ints("kernel_shape", {size, size});
        set_ints("strides", {stride, stride});
        set_ints("pads", {pad, pad, pad, pad});
        return y;
    }

    // Returns the memory between the steps, in channels of 20 x 20 pixels, if the last node is the
    // output.
    double channels_in_memory()
    {
        tengine_graph_memory memory = {};
        EXPECT_TRUE(set_borders(graph_, inputs_, {names_.back().c_str()})) << get_tengine_error();
        EXPECT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
        EXPECT_EQ(get_graph_memory(graph_, &memory, sizeof memory), 0) << get_tengine_error();
        EXPECT_EQ(postrun_graph(graph_), 0);
        return static_cast<double>(memory.value_bytes) / (20 * 20 * sizeof(float));
    }
};

TEST_F(JoinTest, ConvolutionsAndPoolsThatAreJoined)
{
    // Winograd's, with padding, pointwise with and without strides, grouped; two images.
    const tensor_t x = conv(input("x", {2, 5, 19, 21}), 5, 20);
    const tensor_t a = conv(x, 20, 18);
    const tensor_t b = conv(x, 20, 7, 1, 1);
    const tensor_t c = conv(x, 20, 12, 4);
    const tensor_t d = pool("MaxPool", x, 3, 1);
    const tensor_t e = pool("AveragePool", x, 5, 1);
    const tensor_t f = node("Relu", {batch_norm(x, 20)});
    const tensor_t whole = concat({a, b, c, d, e, f});
    conv(whole, 97, 6);
    compare();
}

TEST_F(JoinTest, WhatIsJoinedIsReadApart)
{
    const tensor_t x = conv(input("x", {2, 3, 24, 24}), 3, 17);
    const tensor_t y = node("Relu", {conv(x, 17, 19)});
    const tensor_t whole = concat({x, y});
    const tensor_t a = conv(x, 17, 16), b = conv(y, 19, 4, 1, 1), c = pool("MaxPool", y, 2, 2);
    const tensor_t d = node("Relu", {batch_norm(x, 17)});
    const tensor_t e = conv(node("Sigmoid", {conv(y, 19, 16, 1, 1)}), 16, 3);
    const tensor_t joined = concat({conv(whole, 36, 4), b, conv(a, 16, 3), conv(d, 17, 2), e});
    concat({node("GlobalMaxPool", {joined}), node("GlobalMaxPool", {c})});
    compare();
}

TEST_F(JoinTest, ADenseBlockLiesInItsLastConcat)
{
    const tensor_t x = pool("MaxPool", conv(input("x", {1, 3, 18, 26}), 3, 10), 3, 2);
    const tensor_t a = conv(node("Relu", {batch_norm(x, 10)}), 10, 6);
    const tensor_t one = concat({x, a});
    const tensor_t b = conv(node("Relu", {batch_norm(one, 16)}), 16, 6);
    const tensor_t two = concat({x, a, b});
    const tensor_t c = conv(node("Relu", {batch_norm(two, 22)}), 22, 6);
    const tensor_t three = concat({x, a, b, c});
    conv(three, 28, 5, 1, 1);
    compare();
}

// Pointwise convolutions need no scratch: a copy would need the joined tensors twice.
TEST_F(JoinTest, WhatIsJoinedIsInMemoryOnce)
{
    const tensor_t x = conv(input("x", {1, 8, 20, 20}), 8, 8, 1, 1);
    const tensor_t whole = concat({conv(x, 8, 40, 1, 1), conv(x, 8, 40, 1, 1)});
    conv(whole, 80, 2, 1, 1);
    EXPECT_LT(channels_in_memory(), 8 + 80 + 2 + 2);
}

TEST_F(JoinTest, ADenseBlockIsInMemoryOnce)
{
    tensor_t last = conv(input("x", {1, 8, 20, 20}), 8, 40, 1, 1);
    std::vector<tensor_t> parts = {last};
    for (const int channels : {40, 56, 72}) {
        last = conv(node("Relu", {batch_norm(last, channels)}), channels, 16, 1, 1);
        parts.push_back(last);
        last = parts.size() == 2   ? concat({parts[0], parts[1]})
               : parts.size() == 3 ? concat({parts[0], parts[1], parts[2]})
                                   : concat({parts[0], parts[1], parts[2], parts[3]});
    }
    conv(last, 88, 2, 1, 1);
    EXPECT_LT(channels_in_memory(), 88 + 72 + 2);  // the block's, which are normalised
}

TEST_F(JoinTest, AConcatOfConcats)
{
    const tensor_t x = conv(input("x", {1, 3, 12, 12}), 3, 8);
    const tensor_t a = conv(x, 8, 5), b = conv(x, 8, 6), c = conv(x, 8, 7);
    const tensor_t inner = concat({b, c});
    const tensor_t outer = concat({a, inner, conv(inner, 13, 4)});
    conv(outer, 22, 3);
    compare();
}

TEST_F(JoinTest, WhatHasToBeCopied)
{
    const tensor_t x = conv(input("x", {1, 3, 12, 12}), 3, 8);
    const tensor_t a = conv(x, 8, 5), b = conv(x, 8, 6);
    // The same tensor twice; one that is also read by an operator without NHWC; a sum's result;
    // another axis; an output of the graph.
    const tensor_t twice = concat({a, a});
    const tensor_t softened = node("Softmax", {b});
    const tensor_t read = concat({b, conv(x, 8, 3)});
    const tensor_t sum = concat({node("Add", {conv(x, 8, 8), x}), conv(softened, 6, 4)});
    const tensor_t below = concat({conv(x, 8, 4), conv(x, 8, 4)}, -2);
    const tensor_t all = concat({conv(twice, 10, 2), conv(read, 9, 2), conv(sum, 12, 2)});
    const std::string output = names_.back();
    concat({node("GlobalMaxPool", {all}), node("GlobalMaxPool", {below})});
    compare();
    ASSERT_EQ(output.rfind("Concat", 0), 0u);
    compare_last(output);
}

TEST_F(JoinTest, AnInputOfTheGraphIsCopied)
{
    const tensor_t x = input("x", {1, 16, 12, 12});
    conv(concat({x, conv(x, 16, 16)}), 32, 4);
    compare();
}

}  // namespace
}  // namespace tengine
