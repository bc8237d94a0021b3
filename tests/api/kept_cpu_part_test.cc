// SPDX-License-Identifier: Apache-2.0
// Parts that the CPU device keeps: constants as kernels have packed them, and the names of these
// kernels. A loaded part computes the same bits; one that does not match, or was altered with a
// corrected hash, is compiled again.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>

#include "base/sha256.h"
#include "device/cpu/kernel/vector/vector_target.h"
#include "fixture.h"
#include "scheduler/temporary_folder.h"
#include "support/emulated.h"
#include "tengine/inspect.h"

namespace tengine {
namespace {

using cpu::force_vector_target;
using cpu::get_vector_target_name;
using cpu::get_vector_target_num;
using test::kEmulated;
using test::TemporaryFolder;

std::vector<float> make_values(size_t number, double step)
{
    std::vector<float> values(number);
    for (size_t i = 0; i < number; ++i)
        values[i] = static_cast<float>(std::sin(step * static_cast<double>(i)));
    return values;
}

size_t count(const std::vector<int>& dims)
{
    size_t number = 1;
    for (const int dim : dims)
        number *= static_cast<size_t>(dim);
    return number;
}

// A model of one node behind an input, and the kernel that its constants are packed for in a build
// with vectors.
struct Case
{
    const char* name;
    const char* kernel;
    std::function<void(graph_t)> build;
};

tensor_t add_floats(graph_t graph, const char* name, const std::vector<int>& dims)
{
    return add_constant(graph, name, dims, make_values(count(dims), 0.37).data());
}

tensor_t add_scalar(graph_t graph, const char* name, float value)
{
    return add_constant(graph, name, {}, &value);
}

tensor_t add_zero_point(graph_t graph, const char* name)
{
    const uint8_t zero = 3;
    return add_constant(graph, name, {}, &zero, TENGINE_DT_UINT8);
}

void set_number(graph_t graph, const char* node, const char* name, int value)
{
    ASSERT_EQ(set_node_attr_int(get_graph_node(graph, node), name, &value), 0)
        << get_tengine_error();
}

void build_conv(graph_t graph, const std::vector<int>& input, const std::vector<int>& filter,
                int group)
{
    const tensor_t x = add_input(graph, "x", input);
    const tensor_t w = add_floats(graph, "w", filter), b = add_floats(graph, "b", {filter[0]});
    add_node(graph, "conv", "Conv", {x, w, b});
    set_number(graph, "conv", "group", group);
    add_node(graph, "y", "Relu", {get_graph_tensor(graph, "conv")});
}

void build_product(graph_t graph, const char* op)
{
    // More rows than read their weights in place, and few enough that packing in a run is slow.
    const tensor_t x = add_input(graph, "x", {40, 256});
    add_node(graph, "y", op, {x, add_floats(graph, "w", {256, 512})});
}

void build_recurrent(graph_t graph, const char* op, int gates)
{
    const tensor_t x = add_input(graph, "x", {7, 2, 5});
    const int hidden = 6;
    const tensor_t w = add_floats(graph, "w", {1, gates * hidden, 5});
    const tensor_t r = add_floats(graph, "r", {1, gates * hidden, hidden});
    const tensor_t b = add_floats(graph, "b", {1, 2 * gates * hidden});
    add_node(graph, "y", op, {x, w, r, b});
    set_number(graph, "y", "hidden_size", hidden);
}

void build_quantised_conv(graph_t graph)
{
    const tensor_t x = add_input(graph, "x", {1, 5, 9, 9}), scale = add_scalar(graph, "s", 0.05f);
    const tensor_t zero = add_zero_point(graph, "z");
    std::vector<uint8_t> weights(7 * 5 * 3 * 3);
    for (size_t i = 0; i < weights.size(); ++i)
        weights[i] = static_cast<uint8_t>(i * 37);
    const tensor_t w = add_constant(graph, "w", {7, 5, 3, 3}, weights.data(), TENGINE_DT_UINT8);
    const tensor_t bytes =
        add_node(graph, "q", "QuantizeLinear", {x, scale, zero}, TENGINE_DT_UINT8);
    const tensor_t conv =
        add_node(graph, "c", "QLinearConv", {bytes, scale, zero, w, scale, zero, scale, zero},
                 TENGINE_DT_UINT8);
    add_node(graph, "y", "DequantizeLinear", {conv, scale, zero});
}

const Case cases[] = {
    {"pixels", "conv.f32.nhwc",
     [](graph_t g) {
         build_conv(g, {1, 5, 9, 7}, {13, 5, 5, 3}, 1);
     }},
    {"winograd", "conv.f32.winograd4x4",
     [](graph_t g) {
         build_conv(g, {1, 17, 26, 26}, {19, 17, 3, 3}, 1);
     }},
    {"depthwise", "conv.fp.depthwise_nhwc",
     [](graph_t g) {
         build_conv(g, {1, 17, 9, 9}, {17, 1, 3, 3}, 17);
     }},
    {"phases", "conv_transpose.f32.nhwc",
     [](graph_t g) {
         const tensor_t x = add_input(g, "x", {1, 5, 9, 7});
         const tensor_t w = add_floats(g, "w", {5, 37, 3, 2}), b = add_floats(g, "b", {37});
         add_node(g, "y", "ConvTranspose", {x, w, b});
     }},
    {"gemm", "gemm.f32.packed", [](graph_t g) { build_product(g, "Gemm"); }},
    {"matmul", "matmul.f32.packed", [](graph_t g) { build_product(g, "MatMul"); }},
    {"lstm", "lstm.f32.packed", [](graph_t g) { build_recurrent(g, "LSTM", 4); }},
    {"gru", "gru.f32.packed", [](graph_t g) { build_recurrent(g, "GRU", 3); }},
    {"bytes", "conv.s8.nhwc", build_quantised_conv},
};

const Case& find_case(const std::string& name)
{
    return *std::find_if(std::begin(cases), std::end(cases),
                         [&](const Case& each) { return each.name == name; });
}

class KeptCpuPartTest : public ApiTest
{
  protected:
    struct Outcome
    {
        int origin = -1;
        int64_t compiled_bytes = 0;  // of the device
        std::vector<float> y;
        std::string kernel, reason;  // of the first node that has one
    };

    // Prepares and runs the model, with a folder for compiled parts.
    Outcome use(const Case& wanted, int threads = 1,
                const std::vector<std::pair<const char*, const char*>>& more = {})
    {
        const context_t context = create_context("kept", 1);
        EXPECT_EQ(add_context_device(context, "CPU"), 0);
        EXPECT_EQ(tengine_context_set_option(context, "cache.dir", folder_.path().c_str()), 0);
        for (const auto& [key, value] : more)
            EXPECT_EQ(tengine_context_set_option(context, key, value), 0) << get_tengine_error();
        const graph_t graph = create_graph(context, nullptr, nullptr);
        destroy_context(context);
        wanted.build(graph);
        EXPECT_TRUE(set_borders(graph, {"x"}, {"y"})) << get_tengine_error();
        Outcome outcome;
        options_t options = {threads, TENGINE_CLUSTER_ALL, TENGINE_MODE_FP32, 0};
        EXPECT_EQ(prerun_graph_multithread(graph, options), 0) << get_tengine_error();
        EXPECT_EQ(tengine_graph_get_subgraph_origin(graph, 0, &outcome.origin), 0);
        tengine_device_memory memory;
        EXPECT_EQ(tengine_graph_get_device_memory(graph, 0, &memory, sizeof memory), 0);
        outcome.compiled_bytes = memory.compiled_bytes;
        tengine_node_kernel kernel = {};
        for (int i = 0; i < tengine_graph_get_execution_node_number(graph) && !kernel.name[0]; ++i)
            EXPECT_EQ(tengine_graph_get_execution_kernel(graph, i, &kernel, sizeof kernel), 0);
        outcome.kernel = kernel.name;
        outcome.reason = kernel.reason;
        const tensor_t x = tengine_graph_get_input(graph, 0);
        const auto size = static_cast<size_t>(get_tensor_buffer_size(x)) / sizeof(float);
        EXPECT_TRUE(write_floats(x, make_values(size, 0.71)));
        EXPECT_EQ(run_graph(graph, 1), 0) << get_tengine_error();
        outcome.y = read_floats(tengine_graph_get_output(graph, 0));
        EXPECT_EQ(destroy_graph(graph), 0);
        return outcome;
    }

    std::string read_only_file()
    {
        const auto files = folder_.list();
        EXPECT_EQ(files.size(), 1u);
        if (files.empty()) return "";
        std::ifstream stream(files[0], std::ios::binary);
        return {std::istreambuf_iterator<char>(stream), {}};
    }

    static uint64_t steps_of(const std::string& file)
    {
        uint64_t number = 0;
        std::memcpy(&number, &file[kHead + 16], sizeof number);
        return number;
    }

    // The place of a step's packed constants.
    struct Packed
    {
        uint64_t offset, size;
    };
    static Packed record_of(const std::string& file, size_t step)
    {
        Packed packed;
        std::memcpy(&packed, &file[kHead + kRecords + kRecordBytes * step + 48], sizeof packed);
        return packed;
    }

    // Replaces the bytes behind the file's head, and updates the hash.
    void replace_bytes(std::string file)
    {
        uint8_t digest[SHA256_BYTES];
        find_sha256_of_pieces(nullptr, &file[kHead], file.size() - kHead, digest);
        std::memcpy(&file[16 + SHA256_BYTES], digest, sizeof digest);
        std::ofstream(folder_.list()[0], std::ios::binary) << file;
    }

    void clear()
    {
        for (const auto& file : folder_.list())
            std::filesystem::remove(file);
    }

    static constexpr size_t kHead = 4096;
    static constexpr size_t kRecords = 32, kRecordBytes = 64;
    const TemporaryFolder folder_;
};

TEST_F(KeptCpuPartTest, WhatIsLoadedComputesTheSame)
{
    if (get_vector_target_num() == 0) GTEST_SKIP() << "kernels pack nothing without Highway";
    for (const Case& it : cases) {
        clear();
        const Outcome first = use(it), second = use(it), third = use(it, 2);
        EXPECT_EQ(first.origin, TENGINE_PART_COMPILED) << it.name;
        EXPECT_EQ(second.origin, TENGINE_PART_FROM_CACHE) << it.name;
        EXPECT_EQ(third.origin, TENGINE_PART_FROM_CACHE) << it.name << ", two threads";
        EXPECT_EQ(first.y, second.y) << it.name;
        EXPECT_EQ(first.y, third.y) << it.name << ", two threads";
        const std::string file = read_only_file();
        uint64_t packed = 0;
        for (size_t i = 0; i < steps_of(file); ++i)
            packed += record_of(file, i).size;
        EXPECT_GT(packed, 0u) << it.name;
        EXPECT_GE(first.compiled_bytes - second.compiled_bytes, static_cast<int64_t>(packed))
            << it.name << ": packed weights are the file's";
        EXPECT_NE(file.find(it.kernel), std::string::npos)
            << it.name << ": the file names the kernel";
    }
}

TEST_F(KeptCpuPartTest, WithoutPackedConstantsNothingIsKept)
{
    const Case relu = {"relu", "", [](graph_t graph) {
                           add_node(graph, "y", "Relu", {add_input(graph, "x", {4})});
                       }};
    EXPECT_EQ(use(relu).origin, TENGINE_PART_COMPILED);
    EXPECT_TRUE(folder_.list().empty());
    EXPECT_TRUE(take_logged_failures().empty());
}

TEST_F(KeptCpuPartTest, OptionsOfTheDeviceCount)
{
    if (get_vector_target_num() == 0) GTEST_SKIP() << "kernels pack nothing without Highway";
    use(find_case("winograd"));
    EXPECT_EQ(use(find_case("winograd"), 1, {{"CPU.winograd", "off"}}).origin,
              TENGINE_PART_COMPILED);
    EXPECT_EQ(use(find_case("winograd"), 1, {{"CPU.winograd", "off"}}).origin,
              TENGINE_PART_FROM_CACHE);
    EXPECT_EQ(use(find_case("winograd"), 1, {{"CPU.winograd", "4x4"}}).origin,
              TENGINE_PART_COMPILED);
    EXPECT_EQ(use(find_case("winograd")).origin, TENGINE_PART_FROM_CACHE);
}

// Combines a file's bytes of the device with the head of another part's file.
void move_bytes(const std::string& from, const std::filesystem::path& to)
{
    constexpr size_t kHead = 4096;
    std::ifstream stream(to, std::ios::binary);
    std::string head(kHead, '\0');
    stream.read(&head[0], kHead);
    stream.close();
    uint8_t digest[SHA256_BYTES];
    const uint64_t size = from.size() - kHead;
    find_sha256_of_pieces(nullptr, &from[kHead], size, digest);
    std::memcpy(&head[16 + SHA256_BYTES], digest, sizeof digest);
    std::memcpy(&head[16 + 2 * SHA256_BYTES], &size, sizeof size);
    std::ofstream(to, std::ios::binary) << head << from.substr(kHead);
}

const Case timed_cases[] = {
    find_case("winograd"),
    {"four tiles", "conv.f32.nhwc",
     [](graph_t g) {
         build_conv(g, {1, 17, 8, 8}, {19, 17, 3, 3}, 1);
     }},
};

// Another count of threads has other strips, whose last tile may add in another order: a sum of up
// to 512 products, none above 1, has as many roundings of 2^-24 of the sum of their magnitudes.
void expect_nearly_equal(const std::vector<float>& values, const std::vector<float>& expected)
{
    constexpr float kTerms = 512;
    ASSERT_EQ(values.size(), expected.size());
    for (size_t i = 0; i < values.size(); ++i)
        ASSERT_NEAR(values[i], expected[i], kTerms * kTerms * 0x1p-24f) << i;
}

TEST_F(KeptCpuPartTest, AKernelThatWasTimedIsKept)
{
    if (get_vector_target_num() == 0) GTEST_SKIP() << "kernels pack nothing without Highway";
    for (const Case& it :
         {timed_cases[0], timed_cases[1], find_case("gemm"), find_case("matmul")}) {
        clear();
        const Outcome first = use(it, 1, {{"CPU.timing", "on"}});
        const Outcome second = use(it, 1, {{"CPU.timing", "on"}});
        const Outcome third = use(it, 2, {{"CPU.timing", "on"}});
        EXPECT_EQ(first.origin, TENGINE_PART_COMPILED) << it.name;
        EXPECT_EQ(second.origin, TENGINE_PART_FROM_CACHE) << it.name;
        EXPECT_EQ(third.origin, TENGINE_PART_FROM_CACHE) << it.name;
        EXPECT_EQ(second.kernel, first.kernel) << it.name;
        EXPECT_EQ(third.kernel, first.kernel) << it.name;
        EXPECT_EQ(second.reason, "as saved") << it.name;
        EXPECT_EQ(second.y, first.y) << it.name;
        SCOPED_TRACE(std::string(it.name) + ", two threads: " + first.kernel);
        expect_nearly_equal(third.y, first.y);
        EXPECT_EQ(use(it).origin, TENGINE_PART_COMPILED) << "another option";
    }
}

// The kernel that the file names computes, regardless of timing.
TEST_F(KeptCpuPartTest, WhatWasSavedIsTakenWithoutTiming)
{
    if (get_vector_target_num() == 0) GTEST_SKIP() << "kernels pack nothing without Highway";
    for (const Case& it : timed_cases) {
        clear();
        const Outcome usual = use(it);
        EXPECT_EQ(usual.kernel, it.kernel);
        const std::string bytes = read_only_file();
        clear();
        EXPECT_NE(use(it, 1, {{"CPU.timing", "on"}}).reason, "");
        move_bytes(bytes, folder_.list()[0]);
        const Outcome loaded = use(it, 1, {{"CPU.timing", "on"}});
        EXPECT_EQ(loaded.origin, TENGINE_PART_FROM_CACHE) << it.name;
        EXPECT_EQ(loaded.kernel, it.kernel);
        EXPECT_EQ(loaded.y, usual.y) << it.name;
    }
}

TEST_F(KeptCpuPartTest, AKernelThatIsNoChoiceIsCompiledAgain)
{
    if (get_vector_target_num() == 0) GTEST_SKIP() << "kernels pack nothing without Highway";
    const Case& it = timed_cases[0];
    const Outcome first = use(it, 1, {{"CPU.timing", "on"}});
    const std::string good = read_only_file();
    const size_t name = good.find(first.kernel, kHead);
    ASSERT_NE(name, std::string::npos);
    for (const char* other :
         {"reference", "conv.absent", "", "conv.f32.im2col",
          first.kernel == "conv.f32.nhwc" ? "conv.f32.winograd4x4" : "conv.f32.nhwc"}) {
        std::string bad = good;
        std::memset(&bad[name], 0, first.kernel.size());
        bad.replace(name, std::strlen(other), other);
        replace_bytes(bad);
        const Outcome again = use(it, 1, {{"CPU.timing", "on"}});
        EXPECT_EQ(again.origin, TENGINE_PART_COMPILED) << other;
        EXPECT_EQ(again.y, first.y) << other;
    }
    const context_t context = create_context("picky", 1);
    EXPECT_EQ(add_context_device(context, "CPU"), 0);
    EXPECT_EQ(tengine_context_set_option(context, "CPU.timing", "yes"), -1);
    EXPECT_STREQ(get_tengine_error(), "CPU: invalid timing 'yes': expected on or off");
    destroy_context(context);
}

// Vectors of another length have other packs: a part that was stored for one length is not used for
// another.
TEST_F(KeptCpuPartTest, OtherInstructionsMayBeOtherParts)
{
    if (get_vector_target_num() < 2) GTEST_SKIP() << "this processor has one instruction set";
    const Case& it = find_case("pixels");
    use(it);
    for (int target = 1; target < get_vector_target_num(); ++target) {
        force_vector_target(target);
        const Outcome first = use(it), second = use(it);
        EXPECT_EQ(second.origin, TENGINE_PART_FROM_CACHE) << get_vector_target_name(target);
        EXPECT_EQ(use(it, 1, {{"cache.dir", ""}}).y, first.y) << get_vector_target_name(target);
        EXPECT_EQ(second.y, first.y) << get_vector_target_name(target);
    }
    force_vector_target(-1);
    EXPECT_EQ(use(it).origin, TENGINE_PART_FROM_CACHE);
#ifdef __x86_64__
    EXPECT_GT(folder_.list().size(), 1u) << "the last one has the shortest vectors";
#endif
}

// The kernels, and the sizes of their packs, are determined again and compared. The offsets of
// packed bytes within the file are trusted: other offsets give other numbers.
TEST_F(KeptCpuPartTest, HostileBytesAreCompiledAgainOrRun)
{
    if (get_vector_target_num() == 0) GTEST_SKIP() << "kernels pack nothing without Highway";
    const Outcome first = use(find_case("pixels"));
    const std::string good = read_only_file();
    ASSERT_GT(steps_of(good), 1u);
    const size_t end = kHead + kRecords + steps_of(good) * kRecordBytes;
    const size_t step = kEmulated ? 29 : 3;
    for (size_t i = kHead; i < end; i += step) {
        for (const char bit : {'\x01', '\x40'}) {
            std::string bad = good;
            bad[i] = static_cast<char>(bad[i] ^ bit);
            replace_bytes(bad);
            const Outcome outcome = use(find_case("pixels"));
            const size_t place = i < kHead + kRecords ? 0 : (i - kHead - kRecords) % kRecordBytes;
            const bool is_offset = place >= 48 && place < 56;
            if (is_offset && outcome.origin == TENGINE_PART_FROM_CACHE) continue;
            EXPECT_EQ(outcome.origin, TENGINE_PART_COMPILED) << "byte " << i;
            EXPECT_EQ(outcome.y, first.y) << "byte " << i;
        }
    }
    for (const size_t size : {kHead, kHead + 1, end - 1, end, good.size() - 1}) {
        std::string bad = good.substr(0, size);
        const uint64_t left = size - kHead;
        std::memcpy(&bad[16 + 2 * SHA256_BYTES], &left, sizeof left);
        replace_bytes(bad);
        EXPECT_EQ(use(find_case("pixels")).origin, TENGINE_PART_COMPILED) << size;
    }
    replace_bytes(good);
    EXPECT_EQ(use(find_case("pixels")).origin, TENGINE_PART_FROM_CACHE);
}

}  // namespace
}  // namespace tengine
