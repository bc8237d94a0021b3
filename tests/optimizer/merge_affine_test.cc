// SPDX-License-Identifier: Apache-2.0
// Affine functions of each channel next to convolutions. Expected values are loops in double over
// the definitions of the operators.
#include <cmath>
#include <gtest/gtest.h>
#include <random>

#include "graph/context.h"
#include "graph/graph.h"
#include "operator/param.h"
#include "scheduler/scheduler.h"
#include "support/ir_builder.h"

namespace {

using namespace tengine::test;

using GraphOwner = std::unique_ptr<graph, void (*)(graph*)>;

constexpr int kHeight = 5, kWidth = 4;

// Values [channel][position] of a picture, and the sums of magnitudes that bound their errors.
struct Picture
{
    int channels = 0, height = 0, width = 0;
    std::vector<double> values, bounds;

    Picture(int c, int h, int w)
        : channels(c),
          height(h),
          width(w),
          values(static_cast<size_t>(c) * h * w),
          bounds(values.size())
    {
    }
    size_t place(int c, int y, int x) const
    {
        return (static_cast<size_t>(c) * height + y) * width + x;
    }
};

struct Weights
{
    int rows, columns, size, group, pad;
    bool is_transposed;
    std::vector<float> values, bias;

    int in_channels() const { return is_transposed ? rows : columns * group; }
    int out_channels() const { return is_transposed ? columns * group : rows; }
};

// A function of each channel as a node: its operator and constant.
struct Function
{
    std::string op;
    bool is_constant_first;
    std::vector<float> constant;  // one value or one for each channel
    std::vector<int> dims;
};

class Net
{
  public:
    explicit Net(unsigned seed) : random_(seed) {}

    int draw(int least, int most)
    {
        return std::uniform_int_distribution<int>(least, most)(random_);
    }
    float draw_value(float least, float most)
    {
        return std::uniform_real_distribution<float>(least, most)(random_);
    }
    std::vector<float> draw_values(int number, float least, float most)
    {
        std::vector<float> values(number);
        for (float& value : values)
            value = draw_value(least, most);
        return values;
    }

    Function draw_function(int channels)
    {
        static const char* const ops[] = {"Add", "Sub", "Mul", "Div"};
        Function made{ops[draw(0, 3)], false, {}, {}};
        made.is_constant_first = made.op != "Div" && draw(0, 1);
        const bool is_scalar = draw(0, 2) == 0;
        made.constant = draw_values(is_scalar ? 1 : channels, 0.5f, 2.0f);
        if (draw(0, 1)) made.constant[0] = -made.constant[0];
        if (is_scalar)
            made.dims = std::vector<int>(draw(0, 4), 1);
        else
            made.dims =
                draw(0, 1) ? std::vector<int>{channels, 1, 1} : std::vector<int>{1, channels, 1, 1};
        return made;
    }

    Weights draw_weights(int in_channels, bool is_transposed, int pad)
    {
        Weights made;
        made.group = in_channels % 2 == 0 ? draw(1, 2) : 1;
        const int others = draw(1, 3);
        made.rows = is_transposed ? in_channels : others * made.group;
        made.columns = is_transposed ? others : in_channels / made.group;
        made.size = pad ? draw(2, 3) : draw(1, 2);
        made.pad = pad;
        made.is_transposed = is_transposed;
        made.values = draw_values(made.rows * made.columns * made.size * made.size, -1, 1);
        if (draw(0, 1)) made.bias = draw_values(made.out_channels(), -1, 1);
        return made;
    }

    void add(const Function& function)
    {
        const std::string name = "f" + std::to_string(++number_);
        source_.floats(name, function.dims, function.constant);
        if (function.is_constant_first)
            source_.add(function.op, {name, last_}, {name + "_out"});
        else
            source_.add(function.op, {last_, name}, {name + "_out"});
        last_ = name + "_out";
    }

    void add(const Weights& conv)
    {
        const std::string name = "w" + std::to_string(++number_);
        source_.floats(name, {conv.rows, conv.columns, conv.size, conv.size}, conv.values);
        std::vector<std::string> inputs = {last_, name};
        if (!conv.bias.empty()) {
            source_.floats(name + "_bias", {static_cast<int>(conv.bias.size())}, conv.bias);
            inputs.push_back(name + "_bias");
        }
        node* made =
            source_.add(conv.is_transposed ? "ConvTranspose" : "Conv", inputs, {name + "_out"});
        const int64_t pads[] = {conv.pad, conv.pad, conv.pad, conv.pad};
        ASSERT_EQ(set_node_ints(made, "pads", pads, 4), TENGINE_OK);
        ASSERT_EQ(set_node_int(made, "group", conv.group), TENGINE_OK);
        last_ = name + "_out";
    }

    IrBuilder& source() { return source_; }
    const std::string& last() const { return last_; }

  private:
    std::mt19937 random_;
    IrBuilder source_;
    std::string last_ = "x";
    int number_ = 0;
};

void apply(const Function& function, Picture* picture)
{
    const size_t size = static_cast<size_t>(picture->height) * picture->width;
    for (size_t i = 0; i < picture->values.size(); ++i) {
        const double c = function.constant[function.constant.size() == 1 ? 0 : i / size];
        double& value = picture->values[i];
        double& bound = picture->bounds[i];
        if (function.op == "Mul" || function.op == "Div") {
            const double factor = function.op == "Mul" ? c : 1 / c;
            value *= factor;
            bound *= std::fabs(factor);
        } else {
            if (function.op == "Sub") value = function.is_constant_first ? c - value : value - c;
            if (function.op == "Add") value += c;
            bound += std::fabs(c);
        }
    }
}

Picture convolve(const Weights& conv, const Picture& from)
{
    const int grown =
        conv.is_transposed ? conv.size - 1 - 2 * conv.pad : 2 * conv.pad - (conv.size - 1);
    Picture to(conv.out_channels(), from.height + grown, from.width + grown);
    const int row_group = conv.rows / conv.group;
    for (int row = 0; row < conv.rows; ++row)
        for (int place = 0; place < conv.columns; ++place)
            for (int ky = 0; ky < conv.size; ++ky)
                for (int kx = 0; kx < conv.size; ++kx) {
                    const int column = row / row_group * conv.columns + place;
                    const double w =
                        conv.values[((row * conv.columns + place) * conv.size + ky) * conv.size +
                                    kx];
                    for (int y = 0; y < from.height; ++y)
                        for (int x = 0; x < from.width; ++x) {
                            const int sign = conv.is_transposed ? 1 : -1;
                            const int ty = y + sign * (ky - conv.pad);
                            const int tx = x + sign * (kx - conv.pad);
                            if (ty < 0 || ty >= to.height || tx < 0 || tx >= to.width) continue;
                            const size_t source =
                                from.place(conv.is_transposed ? row : column, y, x);
                            const size_t target =
                                to.place(conv.is_transposed ? column : row, ty, tx);
                            to.values[target] += w * from.values[source];
                            to.bounds[target] += std::fabs(w) * from.bounds[source];
                        }
                }
    for (size_t i = 0; !conv.bias.empty() && i < to.values.size(); ++i) {
        const double bias = conv.bias[i / (static_cast<size_t>(to.height) * to.width)];
        to.values[i] += bias;
        to.bounds[i] += std::fabs(bias);
    }
    return to;
}

int count_op(const graph& graph, const char* op)
{
    int number = 0;
    for (int i = 0; i < graph.node_num; ++i)
        if (graph.node_list[i] && std::string(get_ir_node_op(graph.node_list[i])) == op) ++number;
    return number;
}

int count_arithmetic(const graph& graph)
{
    return count_op(graph, "Add") + count_op(graph, "Sub") + count_op(graph, "Mul") +
           count_op(graph, "Div");
}

// Runs the net on `input` and compares. A value has at most 64 roundings, each of 2^-24 of the sum
// of the magnitudes.
void expect_values(Net& net, const Picture& input, const Picture& expected)
{
    std::vector<float> data(input.values.begin(), input.values.end());
    set_ir_tensor_data(net.source().find("x"), data.data(), false);
    ir_run_options_t options = {};
    options.num_thread = 1;
    ASSERT_EQ(prerun_ir_graph(net.source().get(), &options), TENGINE_OK) << tengine_error_message();
    ASSERT_EQ(run_ir_graph(net.source().get(), 1), TENGINE_OK) << tengine_error_message();
    const tensor* result = net.source().find(net.last());
    ASSERT_EQ(result->elem_num, static_cast<int64_t>(expected.values.size()));
    for (size_t i = 0; i < expected.values.size(); ++i)
        ASSERT_NEAR(result->f32[i], expected.values[i], 64 * 0x1p-24 * expected.bounds[i]);
}

struct Seed
{
    bool is_transposed;
    int pad;
};

class MergeAffine : public testing::TestWithParam<Seed>
{
};

TEST_P(MergeAffine, ChainsBesideAConvolutionKeepItsValues)
{
    const auto [is_transposed, pad] = GetParam();
    for (unsigned seed = 0; seed < 60; ++seed) {
        SCOPED_TRACE(seed);
        Net net(seed);
        Picture picture(net.draw(1, 4), kHeight, kWidth);
        for (double& value : picture.values)
            value = net.draw_value(-1, 1);
        for (size_t i = 0; i < picture.values.size(); ++i)
            picture.bounds[i] = std::fabs(picture.values[i]);
        const Picture input = picture;
        net.source().input("x", {1, picture.channels, kHeight, kWidth});
        std::vector<Function> before, behind;
        for (int i = net.draw(0, 3); i > 0; --i)
            before.push_back(net.draw_function(picture.channels));
        const Weights conv = net.draw_weights(picture.channels, is_transposed, pad);
        for (int i = net.draw(0, 3); i > 0; --i)
            behind.push_back(net.draw_function(conv.out_channels()));
        for (const Function& function : before) {
            net.add(function);
            apply(function, &picture);
        }
        net.add(conv);
        picture = convolve(conv, picture);
        for (const Function& function : behind) {
            net.add(function);
            apply(function, &picture);
        }
        net.source().outputs({net.last()});
        const GraphOwner graph(make_execution_graph(net.source().get()), destroy_ir_graph);
        ASSERT_NE(graph, nullptr) << tengine_error_message();
        if (!is_transposed && pad == 0) {
            EXPECT_EQ(count_arithmetic(*graph), 0);
        } else {
            EXPECT_LE(count_arithmetic(*graph), static_cast<int>(before.size()));
        }
        expect_values(net, input, picture);
    }
}

INSTANTIATE_TEST_SUITE_P(Kinds, MergeAffine,
                         testing::Values(Seed{false, 0}, Seed{false, 1}, Seed{true, 0},
                                         Seed{true, 1}));

// x -> Conv 1x1 -> `op` with a constant of these dims
GraphOwner make_behind(const std::vector<int>& dims, bool is_read_twice)
{
    IrBuilder source;
    source.input("x", {1, 2, 3, 3});
    source.floats("w", {3, 2, 1, 1}, {1, 2, 3, 4, 5, 6});
    int number = 1;
    for (const int dim : dims)
        number *= dim;
    source.floats("k", dims, std::vector<float>(number, 2));
    source.add("Conv", {"x", "w"}, {"c"});
    source.add("Mul", {"c", "k"}, {"y"});
    if (is_read_twice) source.add("Relu", {"c"}, {"z"});
    if (is_read_twice)
        source.outputs({"y", "z"});
    else
        source.outputs({"y"});
    return {make_execution_graph(source.get()), destroy_ir_graph};
}

TEST(MergeAffine, OtherConstantsStay)
{
    EXPECT_EQ(count_op(*make_behind({3, 1, 1}, false), "Mul"), 0);
    EXPECT_EQ(count_op(*make_behind({3, 1, 1}, true), "Mul"), 1) << "the result has two readers";
    EXPECT_EQ(count_op(*make_behind({3}, false), "Mul"), 1) << "one for each column";
    EXPECT_EQ(count_op(*make_behind({3, 3}, false), "Mul"), 1) << "one for each position";
    EXPECT_EQ(count_op(*make_behind({2, 3, 1, 1}, false), "Mul"), 1) << "a larger batch";
    EXPECT_EQ(count_op(*make_behind({1, 1, 3, 1, 1}, false), "Mul"), 1) << "a higher rank";
}

// Sides and forms of the factors distinguish weights of the same constants.
TEST(MergeAffine, PreparationsShareTheWeightsOfAChain)
{
    IrBuilder source;
    source.input("x", {1, 2, 3, 3});
    source.floats("w", {2, 2, 1, 1}, {1, 2, 3, 4});
    source.floats("k", {2, 1, 1}, {3, 5});
    source.add("Mul", {"x", "k"}, {"a"});
    source.add("Conv", {"a", "w"}, {"b"});
    source.add("Div", {"b", "k"}, {"y"});
    source.add("Div", {"x", "k"}, {"c"});
    source.add("Conv", {"c", "w"}, {"d"});
    source.add("Mul", {"d", "k"}, {"z"});
    source.outputs({"y", "z"});
    const auto weights_of = [](const GraphOwner& graph, const char* output) {
        return get_ir_node_input(
                   get_ir_graph_node(graph.get(), find_tensor(graph.get(), output)->producer), 1)
            ->f32;
    };
    const GraphOwner first(make_execution_graph(source.get()), destroy_ir_graph);
    const GraphOwner second(make_execution_graph(source.get()), destroy_ir_graph);
    ASSERT_EQ(count_arithmetic(*first), 0);
    const std::vector<float> y = {1, 2 * 5.0f / 3, 3 * 3.0f / 5, 4},
                             z = {1, 2 * 3.0f / 5, 3 * 5.0f / 3, 4};
    for (int i = 0; i < 4; ++i) {
        EXPECT_FLOAT_EQ(weights_of(first, "y")[i], y[i]);
        EXPECT_FLOAT_EQ(weights_of(first, "z")[i], z[i]);
    }
    EXPECT_EQ(weights_of(second, "y"), weights_of(first, "y"));
    EXPECT_EQ(weights_of(second, "z"), weights_of(first, "z"));
}

TEST(MergeAffine, AConstantThatRepeatsItsInputStays)
{
    IrBuilder source;
    source.input("x", {1, 1, 2, 2});
    source.floats("k", {1, 2, 1, 1}, {2, 3});
    source.floats("w", {1, 2, 1, 1}, {1, 1});
    source.add("Mul", {"x", "k"}, {"a"});
    source.add("Conv", {"a", "w"}, {"y"});
    source.outputs({"y"});
    const GraphOwner graph(make_execution_graph(source.get()), destroy_ir_graph);
    EXPECT_EQ(count_op(*graph, "Mul"), 1);
}

TEST(MergeAffine, InfiniteQuotientsStay)
{
    IrBuilder source;
    source.input("x", {1, 1, 2, 2});
    source.floats("w", {1, 1, 1, 1}, {0});
    source.floats("zero", {}, {0});
    source.add("Conv", {"x", "w"}, {"c"});
    source.add("Div", {"c", "zero"}, {"y"});
    source.outputs({"y"});
    const GraphOwner graph(make_execution_graph(source.get()), destroy_ir_graph);
    EXPECT_EQ(count_op(*graph, "Div"), 1);
}

// Behind padding, a factor in front merges and a summand stays.
TEST(MergeAffine, SummandsBeforePaddingStay)
{
    for (const bool is_sum_last : {false, true}) {
        IrBuilder source;
        source.input("x", {1, 1, 3, 3});
        source.floats("w", {1, 1, 3, 3}, std::vector<float>(9, 1));
        source.floats("k", {}, {3});
        source.add(is_sum_last ? "Mul" : "Add", {"x", "k"}, {"a"});
        source.add(is_sum_last ? "Add" : "Mul", {"a", "k"}, {"b"});
        const int64_t pads[] = {1, 1, 1, 1};
        ASSERT_EQ(set_node_ints(source.add("Conv", {"b", "w"}, {"y"}), "pads", pads, 4),
                  TENGINE_OK);
        source.outputs({"y"});
        const GraphOwner graph(make_execution_graph(source.get()), destroy_ir_graph);
        EXPECT_EQ(count_op(*graph, "Add"), 1);
        EXPECT_EQ(count_op(*graph, "Mul"), is_sum_last ? 1 : 0);
    }
}

// Weights of 1 merge with 2^-14, the smallest normal number of fp16, and not with less.
TEST(MergeAffine, WeightsInFp16StayNormal)
{
    for (const auto& [factor, is_merged] : {std::pair{0x1p-14f, true}, std::pair{0x1p-15f, false},
                                            std::pair{65504.0f, true}, std::pair{65536.0f, false}})
        for (const bool is_behind : {false, true}) {
            IrBuilder source;
            source.input("x", {1, 1, 3, 3});
            source.floats("w", {1, 1, 1, 1}, {1});
            source.floats("k", {}, {factor});
            const std::string input = is_behind ? "x" : "a";
            if (!is_behind) source.add("Mul", {"x", "k"}, {"a"});
            source.add("Conv", {input, "w"}, {is_behind ? "b" : "y"});
            if (is_behind) source.add("Mul", {"b", "k"}, {"y"});
            source.outputs({"y"});
            ir_run_options_t options = {};
            options.num_thread = 1;
            options.precision = TENGINE_MODE_FP16;
            ASSERT_EQ(prerun_ir_graph(source.get(), &options), TENGINE_OK);
            EXPECT_EQ(count_op(*source.get()->core->execution, "Mul"), is_merged ? 0 : 1)
                << factor << (is_behind ? " behind" : " in front");
        }
}

}  // namespace
