// SPDX-License-Identifier: Apache-2.0
// Each allocation from the model's file to the result and back to a file fails in turn: the call in
// progress reports that it is out of memory, there is no leak, and a call that succeeds
// nevertheless has the right result.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "fixture.h"
#include "onnx_bytes.h"
#include "support/allocation_count.h"
#include "support/emulated.h"
#include "tengine/bucket.h"
#include "tengine/graph.h"
#include "tengine/inspect.h"
#include "tengine/quantize.h"

namespace tengine {
namespace {

// A model and its use. Everything is prepared before, so that only the library allocates.
struct Use
{
    const char* format;
    std::string path;
    std::vector<int> shape;
    size_t output_bytes;
    const char* device = "CPU";
    const char* table = nullptr;     // of scales, for int8
    const char* memories = nullptr;  // option CPU.memories
    int precision = TENGINE_MODE_FP32;
    bool quantizes = false;  // and the quantised model is saved
    bool shares = false;     // another instance runs and is saved
};

class AllocationFailureTest : public ApiTest
{
  protected:
    void SetUp() override
    {
        if (!can_count_allocations()) GTEST_SKIP() << "a sanitizer has its own allocator";
        ApiTest::SetUp();
        const std::string name =
            testing::TempDir() + "allocation_failure_test_" + std::to_string(getpid());
        path_ = name + ".model";
        saved_path_ = name + ".saved";
    }

    void TearDown() override
    {
        ApiTest::TearDown();
        std::remove(path_.c_str());
        std::remove(saved_path_.c_str());
    }

    bool save_small_network(const char* format)
    {
        const graph_t graph = create_small_network();
        const bool saved = graph && save_graph(graph, format, path_.c_str()) == 0;
        return destroy_graph(graph) == 0 && saved;
    }

    // Takes a model from its file to the saved copy; false at the first call that fails. `clean_up`
    // releases its objects.
    bool work(const Use& use, void* output)
    {
        context_ = create_context("c", 1);
        if (!context_ || add_context_device(context_, use.device) != 0) return false;
        if (use.table && tengine_context_set_option(context_, "precision.table", use.table) != 0)
            return false;
        if (use.memories && tengine_context_set_option(context_, "CPU.memories", use.memories) != 0)
            return false;
        graph_ = create_graph(context_, use.format, use.path.c_str());
        if (!graph_ || !prepare(use) || (use.shares && (!share() || !prepare(use)))) return false;
        const tensor_t x = tengine_graph_get_input(graph_, 0);
        if (!x || set_tensor_buffer(x, input_.data(), get_tensor_buffer_size(x)) != 0 ||
            run_graph(graph_, 1) != 0)
            return false;
        const tensor_t y = tengine_graph_get_output(graph_, 0);
        return y && get_tensor_data(y, output, static_cast<int>(use.output_bytes)) == 0 &&
               (!use.quantizes || quantize()) &&
               save_graph(use.quantizes ? quantized_ : graph_, use.format, saved_path_.c_str()) ==
                   0;
    }

    bool prepare(const Use& use)
    {
        const tensor_t x = tengine_graph_get_input(graph_, 0);
        return x &&
               set_tensor_shape(x, use.shape.data(), static_cast<int>(use.shape.size())) == 0 &&
               prerun_graph_multithread(graph_, {1, TENGINE_CLUSTER_ALL, use.precision, 0}) == 0;
    }

    bool share()
    {
        const graph_t instance = tengine_graph_share(graph_);
        if (!instance) return false;
        const graph_t first = graph_;
        graph_ = instance;
        return destroy_graph(first) == 0;
    }

    bool quantize()
    {
        tengine_quantization how = {};
        how.per_channel = 1;
        how.get_range = [](void*, const char*, double* low, double* high) {
            *low = -1;
            *high = 1;
            return 1;
        };
        quantized_ = tengine_graph_quantize(graph_, &how);
        return quantized_;
    }

    void clean_up()
    {
        if (graph_) {
            EXPECT_EQ(destroy_graph(graph_), 0);
        }
        if (quantized_) {
            EXPECT_EQ(destroy_graph(quantized_), 0);
        }
        destroy_context(context_);
        graph_ = nullptr;
        quantized_ = nullptr;
        context_ = nullptr;
    }

    // Works once with allocation `number` failing, 0: none. False if a call failed.
    bool try_work(const Use& use, long number, bool lasting, std::vector<char>* output)
    {
        take_logged_failures();
        clr_tengine_errno();
        if (lasting) set_log_output(nullptr);  // the tests' own sink needs memory
        const LiveMemory before = measure_live_memory();
        fail_allocation(number, lasting);
        const bool worked = work(use, output->data());
        fail_allocation(0);
        if (!worked) {
            EXPECT_NE(std::strstr(get_tengine_error(), "memory"), nullptr) << get_tengine_error();
            EXPECT_TRUE(lasting ? answered_with(TENGINE_ENOMEM) : failed_with(TENGINE_ENOMEM));
        }
        clean_up();
        take_logged_failures();
        clr_tengine_errno();
        EXPECT_EQ(measure_live_memory().blocks, before.blocks) << "blocks are left";
        return worked;
    }

    // Lets at most `most` of the allocations, evenly spread, fail: each alone, or with all later
    // ones. An emulator tests an eighth of them.
    void expect_clean_failures(const Use& use, bool lasting, long most)
    {
        input_.assign(4096, 0.5f);
        std::vector<char> expected(use.output_bytes), output(use.output_bytes);
        // Some objects are created once for the process, in the first use.
        ASSERT_TRUE(work(use, expected.data())) << get_tengine_error();
        clean_up();
        const long begin = count_allocations();
        ASSERT_TRUE(try_work(use, 0, false, &expected)) << get_tengine_error();
        const long number = count_allocations() - begin;
        const long step = std::max(number / (test::kEmulated ? most / 8 : most), 1L);
        int failures = 0;
        for (long i = 1; i <= number && !HasFailure(); i += step) {
            SCOPED_TRACE("allocation " + std::to_string(i) + " of " + std::to_string(number));
            std::fill(output.begin(), output.end(), '\0');
            if (!try_work(use, i, lasting, &output))
                ++failures;
            else
                EXPECT_EQ(output, expected);
        }
        if (HasFailure()) return;
        std::printf("1 in %ld of %ld allocations failed\n", step, number);
        EXPECT_GT(failures * step, number / 2) << "the allocator does not fail";
        ASSERT_TRUE(try_work(use, 0, false, &output));
        EXPECT_EQ(output, expected);
    }

    void expect_clean_quantising(const char* format)
    {
        ASSERT_TRUE(save_small_network(format)) << get_tengine_error();
        Use use = {format, path_, {1, 3, 13, 17}, 5 * sizeof(float)};
        use.quantizes = true;
        for (const bool lasting : {false, true})
            expect_clean_failures(use, lasting, 1000);
    }

    void expect_clean_sharing(const char* format)
    {
        ASSERT_TRUE(save_small_network(format)) << get_tengine_error();
        Use use = {format, path_, {1, 3, 13, 17}, 5 * sizeof(float)};
        use.shares = true;
        for (const bool lasting : {false, true})
            expect_clean_failures(use, lasting, 1000);
    }

    void expect_clean_metadata(const char* format)
    {
        const std::string bytes = make_documented_model();
        const graph_t graph = tengine_graph_load(nullptr, "onnx", bytes.data(), bytes.size());
        const int dims[] = {2, 4};
        ASSERT_EQ(set_tensor_shape(tengine_graph_get_input(graph, 0), dims, 2), 0);
        ASSERT_EQ(save_graph(graph, format, path_.c_str()), 0) << get_tengine_error();
        EXPECT_EQ(destroy_graph(graph), 0);
        for (const bool lasting : {false, true})
            expect_clean_failures({format, path_, {2, 4}, 8 * sizeof(float)}, lasting, 10000);
    }

    std::string path_, saved_path_;
    std::vector<float> input_;
    context_t context_ = nullptr;
    graph_t graph_ = nullptr;
    graph_t quantized_ = nullptr;
};

TEST_F(AllocationFailureTest, Tmfile)
{
    ASSERT_TRUE(save_small_network("tengine")) << get_tengine_error();
    for (const bool lasting : {false, true})
        expect_clean_failures({"tengine", path_, {1, 3, 13, 17}, 5 * sizeof(float)}, lasting,
                              10000);
}

TEST_F(AllocationFailureTest, Onnx)
{
    ASSERT_TRUE(save_small_network("onnx")) << get_tengine_error();
    for (const bool lasting : {false, true})
        expect_clean_failures({"onnx", path_, {1, 3, 13, 17}, 5 * sizeof(float)}, lasting, 10000);
}

TEST_F(AllocationFailureTest, MetadataOfTmfiles)
{
    expect_clean_metadata("tengine");
}

TEST_F(AllocationFailureTest, MetadataOfOnnx)
{
    expect_clean_metadata("onnx");
}

TEST_F(AllocationFailureTest, ASmallerInputInABucket)
{
    const graph_t graph = create_chain(nullptr);
    ASSERT_EQ(tengine_graph_add_bucket(graph, "x=5x4"), 0) << get_tengine_error();
    ASSERT_EQ(save_graph(graph, "onnx", path_.c_str()), 0) << get_tengine_error();
    EXPECT_EQ(destroy_graph(graph), 0);
    for (const bool lasting : {false, true})
        expect_clean_failures({"onnx", path_, {3, 4}, 12 * sizeof(float)}, lasting, 10000);
}

TEST_F(AllocationFailureTest, InstancesOfTmfiles)
{
    expect_clean_sharing("tengine");
}

TEST_F(AllocationFailureTest, InstancesOfOnnx)
{
    expect_clean_sharing("onnx");
}

TEST_F(AllocationFailureTest, QuantisedOnnx)
{
    expect_clean_quantising("onnx");
}

TEST_F(AllocationFailureTest, QuantisedTmfile)
{
    expect_clean_quantising("tengine");
}

// Tensors, weights and the result lie in the program's block, which they leave again.
TEST_F(AllocationFailureTest, MemoriesOfABoard)
{
    std::vector<char> block(16000);
    ASSERT_TRUE(save_small_network("onnx")) << get_tengine_error();
    Use use = {"onnx", path_, {1, 3, 13, 17}, 5 * sizeof(float)};
    use.memories = "SRAM:100000:1,DRAM:0:8";
    ASSERT_EQ(tengine_memory_set("SRAM", block.data(), block.size()), 0) << get_tengine_error();
    for (const bool lasting : {false, true})
        expect_clean_failures(use, lasting, 10000);
    EXPECT_EQ(tengine_memory_set("SRAM", nullptr, 0), 0) << get_tengine_error();
}

TEST_F(AllocationFailureTest, Int8OnTheAccelerator)
{
    const context_t context = create_context("probe", 1);
    const bool has_accelerator = add_context_device(context, "TPU") == 0;
    destroy_context(context);
    if (!has_accelerator) GTEST_SKIP() << "built without the simulated TPU";
    Use use = {"onnx", TENGINE_EXAMPLES_DATA_DIR "/digits.onnx", {1, 1, 8, 8}, 10 * sizeof(float)};
    use.device = "TPU";
    use.table = TENGINE_EXAMPLES_DATA_DIR "/digits.table";
    use.precision = TENGINE_MODE_INT8;
    for (const bool lasting : {false, true})
        expect_clean_failures(use, lasting, 600);
}

}  // namespace
}  // namespace tengine
