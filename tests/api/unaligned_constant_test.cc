// SPDX-License-Identifier: Apache-2.0
// Large constants of an ONNX file are used in place, at any address. Their readers must get the
// same values as from a copy of the file (model.map=0).
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>

#include "fixture.h"
#include "onnx_bytes.h"
#include "support/test_device.h"
#include "tengine/inspect.h"

namespace tengine {
namespace {

// A graph with the input "x", the output "y" and large constants.
struct Case
{
    const char* name;
    std::vector<int> dims;  // of x
    std::function<void(graph_t graph, tensor_t x)> build;
};

// Small values, none equal to its neighbours.
tensor_t add_weights(graph_t graph, const char* name, const std::vector<int>& dims)
{
    size_t number = 1;
    for (int dim : dims)
        number *= static_cast<size_t>(dim);
    std::vector<float> values(number);
    for (size_t i = 0; i < number; ++i)
        values[i] = static_cast<float>(i * 7919 % 1009) / 8192 - 0.06f;
    return add_constant(graph, name, dims, values.data());
}

tensor_t add_integers(graph_t graph, const char* name, const std::vector<int64_t>& values)
{
    return add_constant(graph, name, {static_cast<int>(values.size())}, values.data(),
                        TENGINE_DT_INT64);
}

void set_int(graph_t graph, const char* node, const char* attribute, int value)
{
    EXPECT_EQ(set_node_attr_int(get_graph_node(graph, node), attribute, &value), 0)
        << get_tengine_error();
}

void build_conv(graph_t graph, tensor_t x)
{
    add_node(graph, "y", "Conv",
             {x, add_weights(graph, "w", {64, 64, 3, 3}), add_weights(graph, "b", {64})});
}

void build_norm(graph_t graph, tensor_t x)
{
    const tensor_t conv =
        add_node(graph, "conv", "Conv", {x, add_weights(graph, "w", {64, 64, 3, 3})});
    const std::vector<float> ones(64, 1.5f);
    const tensor_t one = add_constant(graph, "ones", {64}, ones.data());
    add_node(graph, "y", "ai.onnx.BatchNormalization",
             {conv, one, add_weights(graph, "b", {64}), add_weights(graph, "m", {64}), one});
}

void build_transposed_conv(graph_t graph, tensor_t x)
{
    add_node(graph, "y", "ConvTranspose", {x, add_weights(graph, "w", {64, 64, 3, 3})});
}

void build_lstm(graph_t graph, tensor_t x)
{
    add_node(graph, "y", "ai.onnx.LSTM",
             {x, add_weights(graph, "w", {1, 256, 64}), add_weights(graph, "r", {1, 256, 64})});
    set_int(graph, "y", "hidden_size", 64);
}

// The constant is transposed once, by a kernel.
void build_folded(graph_t graph, tensor_t x)
{
    const tensor_t turned =
        add_node(graph, "t", "ai.onnx.Transpose", {add_weights(graph, "w", {300, 64})});
    add_node(graph, "y", "ai.onnx.MatMul", {x, turned});
}

// The constant is used both as weights and as a table.
void build_tied(graph_t graph, tensor_t x)
{
    const tensor_t table = add_weights(graph, "w", {64, 300});
    const tensor_t rows =
        add_node(graph, "rows", "ai.onnx.Gather", {table, add_integers(graph, "i", {63, 0, 5})});
    add_node(graph, "y", "ai.onnx.Concat",
             {add_node(graph, "p", "ai.onnx.MatMul", {x, table}), rows});
    set_int(graph, "y", "axis", 0);
}

// The shapes depend on data, so that kernels are chosen in the run.
void build_dynamic(graph_t graph, tensor_t x)
{
    const tensor_t places = add_node(graph, "places", "NonZero", {x}, TENGINE_DT_INT64);
    const tensor_t rows =
        add_node(graph, "rows", "ai.onnx.Gather", {add_weights(graph, "t", {600, 32}), places});
    add_node(graph, "y", "ai.onnx.MatMul", {rows, add_weights(graph, "w", {32, 600})});
}

const Case cases[] = {
    {"Conv", {1, 64, 14, 14}, build_conv},
    {"ConvOfAFewPixels", {1, 64, 4, 4}, build_conv},
    {"BatchNormalization", {1, 64, 9, 9}, build_norm},
    {"ConvTranspose", {1, 64, 5, 5}, build_transposed_conv},
    {"MatMul",
     {5, 64},
     [](graph_t graph, tensor_t x) {
         add_node(graph, "y", "ai.onnx.MatMul", {x, add_weights(graph, "w", {64, 300})});
     }},
    {"Gemm",
     {5, 64},
     [](graph_t graph, tensor_t x) {
         add_node(graph, "y", "ai.onnx.Gemm",
                  {x, add_weights(graph, "w", {300, 64}), add_weights(graph, "b", {300})});
         set_int(graph, "y", "transB", 1);
     }},
    {"Add",
     {300, 64},
     [](graph_t graph, tensor_t x) {
         add_node(graph, "y", "ai.onnx.Add", {x, add_weights(graph, "w", {300, 64})});
     }},
    {"Lstm", {7, 2, 64}, build_lstm},
    {"Folded", {5, 64}, build_folded},
    {"Tied", {5, 64}, build_tied},
    {"Dynamic", {4, 8}, build_dynamic},
};

class UnalignedConstantTest : public ApiTest, public testing::WithParamInterface<Case>
{
  protected:
    void SetUp() override
    {
        ApiTest::SetUp();
        mapping_ = create_context("mapping", 1);
        ASSERT_EQ(tengine_context_set_option(mapping_, "model.map", "1"), 0);
        folder_ = testing::TempDir() + "unaligned_" + std::to_string(getpid());
        std::filesystem::create_directory(folder_);
        if (!has_format("onnx")) GTEST_SKIP() << "the serializer of ONNX is not compiled in";
        bytes_ = save();
    }
    void TearDown() override
    {
        std::filesystem::remove_all(folder_);
        destroy_context(mapping_);
        ApiTest::TearDown();
    }

    static bool has_format(const std::string& name)
    {
        for (int i = 0; i < tengine_format_get_number(); ++i)
            if (tengine_format_get_name(i) == name) return true;
        return false;
    }

    std::string save()
    {
        const graph_t graph = create_graph(nullptr, nullptr, nullptr);
        GetParam().build(graph, add_input(graph, "x", GetParam().dims));
        EXPECT_TRUE(set_borders(graph, {"x"}, {"y"}));
        const std::string path = folder_ + "/saved.onnx";
        EXPECT_EQ(save_graph(graph, "onnx", path.c_str()), 0) << get_tengine_error();
        EXPECT_EQ(destroy_graph(graph), 0);
        return read(path);
    }

    static std::string read(const std::string& path)
    {
        std::ifstream file(path, std::ios::binary);
        return std::string(std::istreambuf_iterator<char>(file), {});
    }

    // Writes the file with everything moved by `shift` + 2 bytes.
    std::string write(size_t shift) const
    {
        std::string path = folder_ + "/" + std::to_string(shift) + ".onnx";
        constexpr int kProducerName = 2;
        std::ofstream(path, std::ios::binary)
            << Message().bytes(kProducerName, std::string(shift, 'x')).text() << bytes_;
        return path;
    }

    static void set_input(graph_t graph)
    {
        const tensor_t x = get_graph_input_tensor(graph, 0, 0);
        std::vector<float> values(static_cast<size_t>(get_tensor_buffer_size(x)) / sizeof(float));
        for (size_t i = 0; i < values.size(); ++i)
            values[i] = i % 3 == 0 ? 0.0f : std::sin(static_cast<float>(i));
        EXPECT_TRUE(write_floats(x, values));
    }

    static std::vector<float> run(graph_t graph, int precision = TENGINE_MODE_FP32)
    {
        options how = {};
        how.num_thread = 1;
        how.precision = precision;
        set_input(graph);
        if (prerun_graph_multithread(graph, how) < 0 || run_graph(graph, 1) < 0) {
            ADD_FAILURE() << get_tengine_error();
            return {};
        }
        return read_floats(get_graph_output_tensor(graph, 0, 0));
    }

    static int64_t count_mapped(graph_t graph)
    {
        tengine_graph_memory memory;
        EXPECT_EQ(get_graph_memory(graph, &memory, sizeof memory), 0);
        return memory.mapped_bytes;
    }

    // Returns the results from a copy of the file.
    static std::vector<float> expect(const std::string& path)
    {
        const context_t context = create_context("copied", 0);
        EXPECT_EQ(tengine_context_set_option(context, "model.map", "0"), 0);
        const graph_t graph = create_graph(context, "onnx", path.c_str());
        EXPECT_EQ(count_mapped(graph), 0);
        const std::vector<float> results = run(graph);
        EXPECT_EQ(destroy_graph(graph), 0);
        destroy_context(context);
        return results;
    }

    // Calls check(graph, expected results) for a file of each alignment.
    template <class Check>
    void for_each_shift(const Check& check)
    {
        for (size_t shift = 0; shift < 4; ++shift) {
            const std::string path = write(shift);
            const std::vector<float> expected = expect(path);
            ASSERT_FALSE(expected.empty());
            const graph_t graph = create_graph(mapping_, "onnx", path.c_str());
            ASSERT_NE(graph, nullptr) << get_tengine_error();
            EXPECT_GE(count_mapped(graph), 64 << 10);
            check(graph, expected);
            EXPECT_EQ(destroy_graph(graph), 0);
        }
    }

    context_t mapping_ = nullptr;
    std::string folder_;
    std::string bytes_;
};

TEST_P(UnalignedConstantTest, ComputesAsACopy)
{
    for_each_shift([](graph_t graph, const std::vector<float>& expected) {
        const int64_t mapped = count_mapped(graph);
        EXPECT_EQ(run(graph), expected);
        EXPECT_EQ(count_mapped(graph), mapped) << "nothing was copied for good";
        EXPECT_EQ(run(graph), expected) << "prepared again";
        EXPECT_EQ(postrun_graph(graph), 0);
        EXPECT_EQ(run(graph), expected) << "packed again";
    });
}

TEST_P(UnalignedConstantTest, AProgramGetsAlignedValues)
{
    for_each_shift([](graph_t graph, const std::vector<float>& expected) {
        EXPECT_EQ(run(graph), expected);
        const tensor_t constant = get_graph_tensor(graph, "w");
        const std::vector<float> values = read_floats(constant);
        const auto* buffer = static_cast<const float*>(get_tensor_buffer(constant));
        ASSERT_NE(buffer, nullptr);
        EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer) % sizeof(float), 0U);
        EXPECT_EQ(std::vector<float>(buffer, buffer + values.size()), values);
        EXPECT_EQ(run(graph), expected);
    });
}

// A constant that a program writes is used from the next prerun on, and stays in memory.
TEST_P(UnalignedConstantTest, WhatAProgramWritesStays)
{
    for_each_shift([](graph_t graph, const std::vector<float>& expected) {
        const tensor_t constant = get_graph_tensor(graph, "w");
        const std::vector<float> zeroes(static_cast<size_t>(get_tensor_buffer_size(constant)) /
                                        sizeof(float));
        EXPECT_EQ(run(graph), expected);
        EXPECT_TRUE(write_floats(constant, zeroes));
        EXPECT_NE(run(graph), expected);
        EXPECT_EQ(read_floats(constant), zeroes);
        EXPECT_EQ(postrun_graph(graph), 0);
        EXPECT_NE(run(graph), expected);
    });
}

TEST_P(UnalignedConstantTest, IsSavedInBothFormats)
{
    for_each_shift([this](graph_t graph, const std::vector<float>& expected) {
        for (const char* format : {"onnx", "tengine"}) {
            if (!has_format(format)) continue;
            const std::string path = folder_ + "/again." + format;
            ASSERT_EQ(save_graph(graph, format, path.c_str()), 0) << get_tengine_error();
            const graph_t loaded = create_graph(nullptr, format, path.c_str());
            ASSERT_NE(loaded, nullptr) << get_tengine_error();
            EXPECT_EQ(run(loaded), expected) << format;
            EXPECT_EQ(destroy_graph(loaded), 0);
        }
    });
}

// The constants are converted in place.
TEST_P(UnalignedConstantTest, ComputesInEveryPrecision)
{
    for_each_shift([](graph_t graph, const std::vector<float>& expected) {
        const int64_t mapped = count_mapped(graph);
        for (int precision : {TENGINE_MODE_BF16, TENGINE_MODE_FP16, TENGINE_MODE_HYBRID_INT8}) {
            const std::vector<float> results = run(graph, precision);
            EXPECT_EQ(count_mapped(graph), mapped) << "nothing was copied for good";
            ASSERT_EQ(results.size(), expected.size());
            // Sums of up to 576 products of at most 0.06, each of which has an error of 2^-8; with
            // int8, of two factors, it is 2^-7.
            for (size_t i = 0; i < results.size(); ++i)
                EXPECT_NEAR(results[i], expected[i], 576 * 0.0625 / 128) << i;
        }
    });
}

// Equal to a run with a device that takes no node, for which all constants are converted at once.
TEST_P(UnalignedConstantTest, IsConvertedToTheSameBits)
{
    const test::TestDevice idle("IDLE", {"Sin"});
    const context_t context = create_context("two devices", 0);
    ASSERT_EQ(add_context_device(context, "IDLE"), 0) << get_tengine_error();
    const std::string path = write(1);
    for (int precision : {TENGINE_MODE_BF16, TENGINE_MODE_FP16, TENGINE_MODE_HYBRID_INT8}) {
        const graph_t late = create_graph(mapping_, "onnx", path.c_str());
        const graph_t early = create_graph(context, "onnx", path.c_str());
        EXPECT_EQ(run(late, precision), run(early, precision));
        for (const graph_t graph : {late, early})
            EXPECT_EQ(destroy_graph(graph), 0);
    }
    destroy_context(context);
}

// The other device may not support constants at any address, so that it gets copies.
TEST_P(UnalignedConstantTest, ComputesBesideAnotherDevice)
{
    const context_t context = create_context("two devices", 0);
    if (add_context_device(context, "TPU") < 0) {
        destroy_context(context);
        take_logged_failures();
        GTEST_SKIP() << "the simulated TPU is not compiled in";
    }
    EXPECT_EQ(tengine_context_set_option(context, "model.map", "1"), 0);
    int64_t fewest = INT64_MAX, most = 0;
    for (size_t shift = 0; shift < 4; ++shift) {
        const std::string path = write(shift);
        const graph_t graph = create_graph(context, "onnx", path.c_str());
        ASSERT_NE(graph, nullptr) << get_tengine_error();
        EXPECT_EQ(run(graph), expect(path));
        fewest = std::min(fewest, count_mapped(graph));
        most = std::max(most, count_mapped(graph));
        EXPECT_EQ(destroy_graph(graph), 0);
    }
    EXPECT_LT(fewest, most) << "those that are aligned stay in the file";
    destroy_context(context);
}

INSTANTIATE_TEST_SUITE_P(Operators, UnalignedConstantTest, testing::ValuesIn(cases),
                         [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace tengine
