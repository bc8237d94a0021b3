// SPDX-License-Identifier: Apache-2.0
// A batch has the bits of its pictures, each run by itself, whatever its size and however often it
// changes, and takes no more memory than they would together. Tensors are larger than half of the
// L2 cache, so that the CPU divides batches.
#include <cmath>
#include <cstring>

#include "base/cpu.h"
#include "fusion_fixture.h"
#include "support/test_device.h"
#include "tengine/inspect.h"
#include "tengine/trace.h"

namespace tengine {
namespace {

using Bits = std::vector<float>;

class BatchTest : public FusionTest
{
  protected:
    node_t last_node() { return get_graph_node(graph_, names_.back().c_str()); }

    void set_ints(const char* name, const std::vector<int>& values)
    {
        ASSERT_EQ(set_node_attr_generic(last_node(), name, "int[]", values.data(),
                                        static_cast<int>(values.size() * sizeof(int))),
                  0)
            << get_tengine_error();
    }

    void set_int(const char* name, int value)
    {
        ASSERT_EQ(set_node_attr_int(last_node(), name, &value), 0) << get_tengine_error();
    }

    tensor_t concat(std::initializer_list<tensor_t> inputs)
    {
        const tensor_t y = node("Concat", inputs);
        set_int("axis", 1);
        return y;
    }

    // The side of pictures of which `channels` fill the L2 cache.
    static int find_side(int channels)
    {
        const auto floats = static_cast<double>(get_cpu_cache_size().l2) / sizeof(float);
        return static_cast<int>(std::sqrt(floats / channels)) + 1;
    }

    // Squeeze-and-excitation, whose factors a pointwise convolution multiplies into its weights.
    tensor_t squeeze(tensor_t x, int channels, int outputs)
    {
        const tensor_t mean = node("GlobalAveragePool", {x});
        const tensor_t gates = node("Sigmoid", {conv(mean, channels, channels, 1, 1)});
        return conv(node("Mul", {x, gates}), channels, outputs, 1, 1);
    }

    tensor_t half(tensor_t x, int begin, int channels)
    {
        const tensor_t y = node("Slice", {x});
        set_ints("begin_", {0, begin, 0, 0});
        set_ints("size_", {-1, channels, -1, -1});
        return y;
    }

    // ShuffleNet's exchange of channels.
    tensor_t shuffle(tensor_t x, int channels, int side)
    {
        const tensor_t groups = node("Reshape", {x});
        set_ints("re_shape", {0, 2, channels / 2, side, side});
        const tensor_t y = node("Reshape", {transpose(groups, {0, 2, 1, 3, 4})});
        set_ints("re_shape", {0, channels, side, side});
        return y;
    }

    // Steps of all kinds that compute each picture by itself, then a linear layer.
    void build_network()
    {
        const int side = find_side(16);
        one_ = {1, 3, side, side};
        const tensor_t x = node("Relu", {conv(input("x", one_), 3, 16)});
        const tensor_t depthwise = node("HardSwish", {conv(x, 16, 16, 16)});
        const tensor_t sum = node("Add", {squeeze(depthwise, 16, 16), x});
        const tensor_t both = concat({conv(sum, 16, 8), conv(half(sum, 4, 8), 8, 8, 1, 1)});
        const tensor_t mixed = shuffle(node("LeakyRelu", {both}), 16, side);
        const tensor_t pooled = node("MaxPool", {mixed});
        set_ints("kernel_shape", {3, 3});
        set_ints("strides", {2, 2});
        const tensor_t larger = transposed_conv(batch_norm(pooled, 16), constant({16, 4, 3, 3}), 1);
        const tensor_t mean = node("GlobalAveragePool", {node("Sqrt", {node("Abs", {larger})})});
        const tensor_t rows = node("Flatten", {concat({mean, node("GlobalMaxPool", {larger})})});
        node("Gemm", {rows, constant({13, 8}), constant({13})});
        set_int("transB", 1);
        ASSERT_TRUE(set_borders(graph_, inputs_, {names_.back().c_str()})) << get_tengine_error();
    }

    void prepare(int pictures, int threads)
    {
        std::vector<int> shape = one_;
        shape[0] = pictures;
        ASSERT_EQ(set_tensor_shape(get_graph_tensor(graph_, "x"), shape.data(),
                                   static_cast<int>(shape.size())),
                  0);
        ASSERT_EQ(prerun_graph_multithread(graph_, {threads, TENGINE_CLUSTER_ALL, precision_, 0}),
                  0)
            << get_tengine_error();
    }

    // The results of pictures `first` and those after it, as many as are prepared.
    Bits run_pictures(int first, int pictures)
    {
        Bits data;
        for (int i = 0; i < pictures; ++i) {
            const Bits picture = noise(count(one_), 100 + static_cast<uint32_t>(first + i));
            data.insert(data.end(), picture.begin(), picture.end());
        }
        EXPECT_TRUE(write_floats(get_graph_tensor(graph_, "x"), data)) << get_tengine_error();
        for (size_t i = 1; i < inputs_.size(); ++i)
            EXPECT_TRUE(
                write_floats(get_graph_tensor(graph_, inputs_[i]), noise(input_sizes_[i], 7)));
        EXPECT_EQ(run_graph(graph_, 1), 0) << get_tengine_error();
        return read_floats(tengine_graph_get_output(graph_, 0));
    }

    // Batches of different sizes in turns, in one graph.
    void compare_batches(const std::vector<int>& sizes)
    {
        for (const int threads : {1, 2}) {
            Bits expected;
            prepare(1, threads);
            for (int i = 0; i < 8; ++i) {
                const Bits one = run_pictures(i, 1);
                expected.insert(expected.end(), one.begin(), one.end());
            }
            const size_t length = expected.size() / 8;
            for (const int size : sizes) {
                prepare(size, threads);
                for (int run = 0; run < 2; ++run) {
                    const Bits results = run_pictures(0, size);
                    ASSERT_EQ(results.size(), length * static_cast<size_t>(size));
                    EXPECT_EQ(std::memcmp(results.data(), expected.data(),
                                          results.size() * sizeof(float)),
                              0)
                        << size << " pictures, " << threads << " threads, run " << run;
                }
            }
        }
    }

    int64_t count_arena(int pictures)
    {
        tengine_device_memory memory = {};
        prepare(pictures, 1);
        EXPECT_EQ(tengine_graph_get_device_memory(graph_, 0, &memory, sizeof memory), 0);
        EXPECT_EQ(postrun_graph(graph_), 0);  // forgets the shape
        return memory.arena_bytes;
    }

    // The steps that a run of the CPU takes, each micro-batch by itself.
    int count_steps(int pictures)
    {
        prepare(pictures, 1);
        run_pictures(0, pictures);
        int steps = 0;
        for (int i = 0; i < tengine_graph_get_trace_event_number(graph_); ++i) {
            tengine_trace_event event = {};
            EXPECT_EQ(tengine_graph_get_trace_event(graph_, i, &event, sizeof event), 0);
            steps += event.kind == TENGINE_TRACE_STEP;
        }
        EXPECT_EQ(postrun_graph(graph_), 0);
        return steps;
    }

    std::vector<int> one_;  // the shape of a picture
};

// Counts steps.
class MicroBatchTest : public BatchTest
{
  protected:
    void SetUp() override
    {
        BatchTest::SetUp();
        context_ = create_context("micro-batches", 1);
        ASSERT_EQ(tengine_context_set_option(context_, "run.trace", "1000"), 0);
        std::swap(graph_, other_);
        graph_ = create_graph(context_, nullptr, nullptr);
        ASSERT_NE(graph_, nullptr) << get_tengine_error();
    }

    void TearDown() override
    {
        destroy_graph(graph_);
        destroy_context(context_);
        std::swap(graph_, other_);
        BatchTest::TearDown();
    }

  private:
    context_t context_ = nullptr;
    graph_t other_ = nullptr;
};

TEST_F(BatchTest, HasTheBitsOfItsPictures)
{
    build_network();
    compare_batches({5, 8, 3, 1, 8, 2});
}

TEST_F(BatchTest, HasTheBitsOfItsPicturesInHalves)
{
    build_network();
    for (const int precision : {TENGINE_MODE_FP16, TENGINE_MODE_BF16}) {
        precision_ = precision;
        compare_batches({3, 8});
    }
}

TEST_F(BatchTest, HasTheBitsOfItsPicturesInIntegers)
{
    const int side = find_side(64);  // channels of one byte
    one_ = {1, 16, side, side};
    const float scale = 0.02f, sum_scale = 0.05f;
    const uint8_t middle = 128;
    const int8_t none = 0;
    const tensor_t s = add_constant(graph_, "scale", {}, &scale);
    const tensor_t sum_s = add_constant(graph_, "sum_scale", {}, &sum_scale);
    const tensor_t z = add_constant(graph_, "middle", {}, &middle, TENGINE_DT_UINT8);
    const tensor_t wz = add_constant(graph_, "none", {}, &none, TENGINE_DT_INT8);
    const auto weights = [&](const char* name, const std::vector<int>& dims) {
        std::vector<int8_t> values(count(dims));
        for (int8_t& value : values)
            value = static_cast<int8_t>(++seed_ * 89 % 255 - 127);
        return add_constant(graph_, name, dims, values.data(), TENGINE_DT_INT8);
    };
    const auto convolve = [&](tensor_t from, tensor_t w, int pad, int groups) {
        const tensor_t y = node("QLinearConv", {from, s, z, w, s, wz, sum_s, z});
        set_ints("pads", {pad, pad, pad, pad});
        set_int("group", groups);
        return y;
    };
    const tensor_t x = node("QuantizeLinear", {input("x", one_), s, z});
    const tensor_t wide = convolve(x, weights("a", {32, 16, 1, 1}), 0, 1);
    const tensor_t deep = convolve(wide, weights("b", {32, 1, 3, 3}), 1, 32);
    const tensor_t sum =
        node("com.microsoft.QLinearAdd", {deep, sum_s, z, wide, sum_s, z, sum_s, z});
    const tensor_t last = convolve(sum, weights("c", {8, 32, 3, 3}), 0, 1);
    node("DequantizeLinear", {last, sum_s, z});
    ASSERT_TRUE(set_borders(graph_, inputs_, {names_.back().c_str()})) << get_tengine_error();
    compare_batches({5, 8, 3, 1});
}

// Its parts begin and end in the middle.
TEST_F(BatchTest, HasTheBitsOfItsPicturesBesideAnotherDevice)
{
    test::TestDevice device("A", {"Add", "MaxPool"});
    const context_t context = create_context("batch", 1);
    ASSERT_EQ(add_context_device(context, "A"), 0) << get_tengine_error();
    ASSERT_EQ(tengine_context_set_option(context, "split.prune", "0"), 0);
    const graph_t without = graph_;
    graph_ = create_graph(context, nullptr, nullptr);
    build_network();
    compare_batches({3, 8});
    EXPECT_GT(device.runs, 0);
    destroy_graph(graph_);
    destroy_context(context);
    graph_ = without;
}

// Broadcast inputs without pictures, one with as many rows as pictures, and results that leave.
TEST_F(BatchTest, SharesTensorsWithoutPictures)
{
    const int side = find_side(8);
    one_ = {1, 8, side, side};
    const tensor_t x = conv(input("x", one_), 8, 8);
    const tensor_t rows = node("Exp", {constant({8, 1, 1})});
    const tensor_t shared = node("GlobalMaxPool", {input("s", {1, 8, 5, 5})});
    const tensor_t y = node("Mul", {node("Add", {shared, conv(x, 8, 8, 8)}), rows});
    node("Max", {conv(y, 8, 8, 1, 1), x});
    ASSERT_TRUE(set_borders(graph_, inputs_, {names_.back().c_str()})) << get_tengine_error();
    compare_batches({8, 3, 1});
}

// More rows than a linear layer computes as vectors would have other bits.
TEST_F(BatchTest, VectorsHaveTheirBits)
{
    for (const int columns : {7, 3100}) {
        SCOPED_TRACE(columns);
        const std::string name = "x" + std::to_string(columns);
        one_ = {1, columns};
        const tensor_t x = input(name.c_str(), one_);
        const tensor_t y = node("Gemm", {x, constant({37, columns}), constant({37})});
        set_int("transB", 1);
        const tensor_t product = node("MatMul", {x, constant({columns, 37})});
        const tensor_t result =
            node("Relu", {node("Sub", {y, node("Add", {product, constant({37})})})});
        (void)result;
        ASSERT_TRUE(set_borders(graph_, {name.c_str()}, {names_.back().c_str()}));
        Bits expected;
        for (const int pictures : {1, 32}) {
            const int shape[] = {pictures, columns};
            ASSERT_EQ(set_tensor_shape(x, shape, 2), 0);
            ASSERT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
            const Bits all = noise(size_t{32} * static_cast<size_t>(columns), 5);
            for (int i = 0; i < 32; i += pictures) {
                const auto from = all.begin() + i * columns;
                ASSERT_TRUE(write_floats(x, {from, from + pictures * columns}));
                ASSERT_EQ(run_graph(graph_, 1), 0) << get_tengine_error();
                const Bits some = read_floats(tengine_graph_get_output(graph_, 0));
                if (pictures == 1)
                    expected.insert(expected.end(), some.begin(), some.end());
                else
                    EXPECT_EQ(some, expected);
            }
            ASSERT_EQ(postrun_graph(graph_), 0);
        }
    }
}

TEST_F(BatchTest, TakesLessMemoryThanItsPictures)
{
    build_network();
    const int64_t one = count_arena(1);
    EXPECT_LE(count_arena(8), 4 * one);
    EXPECT_LE(count_arena(7), 4 * one);
}

// If micro-batches had to keep more than the steps around them need, there are none.
TEST_F(BatchTest, TakesNoMoreMemoryThanTheWhole)
{
    const int side = find_side(8);
    one_ = {1, 32, side, side};
    const int64_t first = 0;
    const tensor_t axis = add_constant(graph_, "axis", {}, &first, TENGINE_DT_INT64);
    const tensor_t x = node("CumSum", {input("x", one_), axis});
    node("CumSum", {conv(conv(x, 32, 2, 1, 1), 2, 32, 1, 1), axis});
    ASSERT_TRUE(set_borders(graph_, inputs_, {names_.back().c_str()})) << get_tengine_error();
    const int64_t one = count_arena(1);
    EXPECT_LE(count_arena(8), 8 * one);
}

TEST_F(MicroBatchTest, DividesLargeTensors)
{
    build_network();
    EXPECT_GT(count_steps(8), count_steps(1));
}

// The tensors of a Concat that copies nothing are no traffic; here all other steps find theirs in
// the cache.
TEST_F(MicroBatchTest, JoinedChannelsAreNoTraffic)
{
    const double l2 = static_cast<double>(get_cpu_cache_size().l2);
    const int side = static_cast<int>(std::sqrt(0.7 * l2 / (8 * 32 * sizeof(float))));
    one_ = {1, 8, side, side};
    const tensor_t x = input("x", one_);
    const tensor_t first = conv(x, 8, 8, 1, 1), second = conv(x, 8, 8, 1, 1);
    const tensor_t third = conv(x, 8, 16, 1, 1);
    conv(concat({concat({first, second}), third}), 32, 8, 1, 1);
    ASSERT_TRUE(set_borders(graph_, inputs_, {names_.back().c_str()})) << get_tengine_error();
    EXPECT_EQ(count_steps(8), count_steps(1));
}

// Reading filters of 36 positions twice takes longer than what half of the pictures save, reading
// those of nine taps would not.
TEST_F(MicroBatchTest, CountsFiltersAsPacked)
{
    const double l2 = static_cast<double>(get_cpu_cache_size().l2);
    const int channels = static_cast<int>(std::sqrt(l2 / 103)) / 16 * 16;
    const int side = static_cast<int>(std::sqrt(l2 / 43 / channels));
    if (side < 13) GTEST_SKIP() << "an L2 cache of " << l2 << " bytes has few tiles";
    one_ = {1, channels, side, side};
    conv(conv(input("x", one_), channels, channels), channels, channels);
    ASSERT_TRUE(set_borders(graph_, inputs_, {names_.back().c_str()})) << get_tengine_error();
    EXPECT_EQ(count_steps(8), count_steps(1));
}

// Three tensors of all pictures leave the cache, which has room for each alone: so do two steps
// that would gain from fewer pictures as the convolution after them, whose weights are large, would
// not.
TEST_F(MicroBatchTest, CountsTensorsBetweenStepsTogether)
{
    const double l2 = static_cast<double>(get_cpu_cache_size().l2);
    const int channels = static_cast<int>(std::sqrt(1.5 * l2));
    const int side = static_cast<int>(std::sqrt(0.7 * l2 / (8 * sizeof(float)) / channels));
    one_ = {1, channels, side, side};
    const tensor_t x = input("x", one_);
    const tensor_t first = node("Exp", {x}), second = node("Tanh", {first});
    node("Concat", {conv(second, channels, channels, 1, 1), first, x});
    set_int("axis", 0);
    ASSERT_TRUE(set_borders(graph_, inputs_, {names_.back().c_str()})) << get_tengine_error();
    EXPECT_EQ(count_steps(8), count_steps(1));
}

}  // namespace
}  // namespace tengine
