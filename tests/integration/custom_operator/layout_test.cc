// SPDX-License-Identifier: Apache-2.0
// Custom code reads and writes its tensors in NCHW, although the CPU has the surrounding tensors in
// NHWC. The expected results are those of the same networks with operators of ONNX, computed by the
// reference kernels.
#include <algorithm>
#include <cmath>
#include <map>

#include "fixture.h"
#include "mask_model.h"

namespace tengine {
namespace {

constexpr const char* kNeighbours[] = {"Conv", "Concat", "MaxPool", "Resize", "None"};

struct Setting
{
    const char* name;
    Elements elements;
    int precision;
    double tolerance;  // of the mean difference, relative to the mean
    int threads = 1;
    const char* scheduler = "sync";
    const char* body = "";
};

constexpr Setting kTypes[] = {
    {"fp32", Elements::kFloat, TENGINE_MODE_FP32, 1e-5},
    {"fp16", Elements::kFloat, TENGINE_MODE_FP16, 4e-3},
    {"bf16", Elements::kFloat, TENGINE_MODE_BF16, 3e-2},
    {"bytes", Elements::kBytes, TENGINE_MODE_FP32, 1e-5},
    {"int8", Elements::kQuantised, TENGINE_MODE_INT8, 3e-2},
};

constexpr Setting kRuns[] = {
    {"two threads", Elements::kFloat, TENGINE_MODE_FP32, 1e-5, 2},
    {"two threads, bytes", Elements::kBytes, TENGINE_MODE_FP32, 1e-5, 2},
    {"two threads, bf16", Elements::kFloat, TENGINE_MODE_BF16, 3e-2, 2},
    {"pipeline", Elements::kFloat, TENGINE_MODE_FP32, 1e-5, 1, "pipeline"},
    {"pipeline, bytes", Elements::kBytes, TENGINE_MODE_FP32, 1e-5, 2, "pipeline"},
    {"pipeline, int8", Elements::kQuantised, TENGINE_MODE_INT8, 3e-2, 1, "pipeline"},
};

constexpr Setting kBodies[] = {
    {"If", Elements::kFloat, TENGINE_MODE_FP32, 1e-5, 1, "sync", "If"},
    {"If, bytes", Elements::kBytes, TENGINE_MODE_FP32, 1e-5, 1, "sync", "If"},
    {"If, bf16", Elements::kFloat, TENGINE_MODE_BF16, 3e-2, 2, "sync", "If"},
    {"Loop", Elements::kFloat, TENGINE_MODE_FP32, 1e-5, 2, "sync", "Loop"},
    {"Loop, bytes", Elements::kBytes, TENGINE_MODE_FP32, 1e-5, 1, "pipeline", "Loop"},
};

class CustomLayoutTest : public ApiTest, public testing::WithParamInterface<int>
{
  protected:
    void SetUp() override
    {
        ApiTest::SetUp();
        ASSERT_TRUE(!kind().enter || kind().enter()) << get_tengine_error();
    }
    void TearDown() override
    {
        if (kind().leave) kind().leave();
        ApiTest::TearDown();
    }

    static const MaskKind& kind() { return kMaskKinds[GetParam()]; }

    static graph_t load(const MaskModel& model, const Setting& setting)
    {
        const context_t context = create_context("c", 0);
        const char* kernels = model.is_twin ? "reference" : "fast";
        EXPECT_EQ(tengine_context_set_option(context, "scheduler", setting.scheduler), 0);
        EXPECT_EQ(tengine_context_set_option(context, "CPU.kernels", kernels), 0);
        if (!model.is_twin && model.kind.device) {
            EXPECT_EQ(add_context_device(context, model.kind.device), 0) << get_tengine_error();
        }
        EXPECT_EQ(tengine_context_set_option(context, "split.prune", "0"), 0);
        EXPECT_EQ(tengine_context_set_option(context, "split.report", "none"), 0);
        const std::string bytes = make_mask_model(model);
        const graph_t graph =
            create_graph(context, "onnx:m", bytes.data(), static_cast<int>(bytes.size()));
        destroy_context(context);
        return graph;
    }

    static bool feed(graph_t graph, bool has_body)
    {
        std::vector<float> x(6 * 9 * 11);
        for (size_t i = 0; i < x.size(); ++i)
            x[i] = static_cast<float>(static_cast<int>(i * 37 % 101) - 50) / 32;
        const uint8_t is_on = 1;
        if (has_body && set_tensor_data(get_graph_tensor(graph, "on"), &is_on, 1) < 0) return false;
        return write_floats(get_graph_tensor(graph, "x"), x);
    }

    static std::vector<float> run(const MaskModel& model, const Setting& setting)
    {
        const graph_t graph = load(model, setting);
        EXPECT_NE(graph, nullptr) << get_tengine_error();
        if (!graph) return {};
        if (!model.is_twin && kind().put_on) {
            const node_t node = get_graph_node(graph, "mask");
            EXPECT_TRUE(node && kind().put_on(node)) << get_tengine_error();
        }
        options options = {};
        options.num_thread = setting.threads;
        options.precision = setting.precision;
        std::vector<float> result;
        if (feed(graph, *model.body != '\0') && prerun_graph_multithread(graph, options) == 0 &&
            run_graph(graph, 1) == 0)
            result = read_floats(get_graph_output_tensor(graph, 0, 0));
        else
            ADD_FAILURE() << get_tengine_error();
        destroy_graph(graph);
        return result;
    }

    static void expect_close(const std::vector<float>& got, const std::vector<float>& expected,
                             double tolerance)
    {
        ASSERT_EQ(got.size(), expected.size());
        double difference = 0, sum = 0;
        for (size_t i = 0; i < got.size(); ++i) {
            difference += std::abs(got[i] - expected[i]);
            sum += std::abs(expected[i]);
        }
        EXPECT_GT(sum, 0);
        EXPECT_LE(difference, tolerance * sum);
    }

    void compare(const Setting& setting, const char* before, const char* after)
    {
        if (!kind().takes_bytes && setting.elements == Elements::kBytes) return;
        if (!kind().takes_halves && setting.precision != TENGINE_MODE_FP32) return;
        SCOPED_TRACE(std::string(setting.name) + " between " + before + " and " + after);
        MaskModel model = {kind(), false, before, after, setting.elements, setting.body};
        const std::vector<float> got = run(model, setting);
        model.is_twin = true;
        expect_close(got, run(model, setting), setting.tolerance);
    }
};

TEST_P(CustomLayoutTest, BetweenAllNeighboursInAllTypes)
{
    for (const Setting& setting : kTypes)
        for (const char* before : kNeighbours)
            for (const char* after : kNeighbours)
                compare(setting, before, after);
}

TEST_P(CustomLayoutTest, WithThreadsAndSchedulers)
{
    for (const Setting& setting : kRuns)
        for (const char* before : kNeighbours)
            compare(setting, before, "Conv");
}

// A kernel of set_custom_kernel applies to a node of the graph itself.
TEST_P(CustomLayoutTest, InBodies)
{
    if (!kind().has_bodies()) return;
    for (const Setting& setting : kBodies)
        for (const char* before : kNeighbours)
            compare(setting, before, "Conv");
}

INSTANTIATE_TEST_SUITE_P(Kinds, CustomLayoutTest, testing::Range(0, kMaskKindNum),
                         [](const testing::TestParamInfo<int>& each) {
                             return std::string(kMaskKinds[each.param].name);
                         });

}  // namespace
}  // namespace tengine
