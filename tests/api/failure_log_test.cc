// SPDX-License-Identifier: Apache-2.0
// Each failure is one line of the log, for every function and at any depth of calls.
#include <gmock/gmock.h>
#include <set>
#include <string>

#include "api_symbols.h"
#include "failing_calls.h"
#include "fixture.h"

namespace tengine {
namespace {

std::vector<FailingCall> all_calls()
{
    std::vector<FailingCall> all;
    for (const auto* calls :
         {&context_calls(), &graph_calls(), &node_calls(), &tensor_calls(), &other_calls()})
        all.insert(all.end(), calls->begin(), calls->end());
    return all;
}

// Functions that cannot fail, and those whose failures have a test of their own.
const std::set<std::string> kOthers = {
    "init_tengine",
    "tengine_is_initialised",
    "release_tengine",
    "tengine_arena_get_use",
    "get_tengine_version",
    "get_tengine_hcl_version",
    "request_tengine_version",
    "get_tengine_errno",
    "get_tengine_error",
    "clr_tengine_errno",
    "release_graph_node",
    "release_graph_tensor",
    "tengine_image_free",
    "get_cluster_affinity_mask",
    "set_log_level",
    "set_log_output",
    "tengine_log_set_sink",
    "tengine_cpu_get_features",
    "destroy_context",
    // Functions for callbacks: the function that has called the callback logs its report.
    "tengine_op_destroy",
    "tengine_op_type",
    "tengine_op_node_name",
    "tengine_op_version",
    "tengine_op_state",
    "tengine_op_int",
    "tengine_op_float",
    "tengine_op_text",
    "tengine_op_ints",
    "tengine_op_floats",
    "tengine_op_texts",
    "tengine_op_attributes",
    "tengine_op_report",
    "tengine_op_input_number",
    "tengine_op_output_number",
    "tengine_op_input",
    "tengine_op_output",
    "tengine_op_tensor_name",
    "tengine_op_tensor_type",
    "tengine_op_tensor_rank",
    "tengine_op_tensor_dim",
    "tengine_op_tensor_elements",
    "tengine_op_tensor_bytes",
    "tengine_op_tensor_is_constant",
    "tengine_op_tensor_data",
    "tengine_op_tensor_mutable_data",
    "tengine_op_tensor_scale_number",
    "tengine_op_tensor_scale_axis",
    "tengine_op_tensor_scale",
    "tengine_op_tensor_zero_point",
    "tengine_op_set_output_type",
    "tengine_op_resize_output",
    "tengine_op_set_output_like",
    "tengine_op_set_output_dynamic",
    "tengine_op_request_temporary",
    "tengine_op_temporary",
    "tengine_op_is_cancelled",
    "tengine_op_complete",
    "tengine_op_prepare_node",
    "tengine_op_run_node",
    "tengine_op_check_type",
};

TEST(FailureLog, EveryFunctionIsListed)
{
    std::set<std::string> listed = kOthers;
    for (const FailingCall& call : all_calls()) {
        const std::string text = call.name;
        EXPECT_TRUE(listed.insert(text.substr(0, text.find('('))).second) << text;
    }
    std::set<std::string> declared;
    for (int i = 0; i < api_symbol_num; ++i)
        declared.insert(api_symbols[i].name);
    EXPECT_THAT(listed, testing::UnorderedElementsAreArray(declared));
}

TEST(FailureLog, EveryFunctionLogsItsSentenceOnce)
{
    for (const FailingCall& call : all_calls()) {
        EXPECT_TRUE(call.fails(nullptr)) << call.name;
        EXPECT_TRUE(failed_with(get_tengine_errno())) << call.name;
    }
}

TEST(FailureLog, LevelTurnsItOff)
{
    set_log_level(LOG_CRIT);
    for (const FailingCall& call : all_calls())
        EXPECT_TRUE(call.fails(nullptr)) << call.name;
    set_log_level(LOG_NOTICE);
    EXPECT_EQ(take_logged_failures(), std::vector<std::string>());
}

TEST(FailureLog, GoesToStandardError)
{
    tengine_log_set_sink(nullptr);
    testing::internal::CaptureStderr();
    EXPECT_EQ(run_graph(nullptr, 1), -1);
    EXPECT_EQ(testing::internal::GetCapturedStderr(), std::string(get_tengine_error()) + "\n");
}

TEST(FailureLog, InitHasOneLine)
{
    static char memory[1024];
    ASSERT_EQ(tengine_arena_set(memory, sizeof memory), 0) << get_tengine_error();
    EXPECT_EQ(init_tengine(), -1);
    EXPECT_TRUE(failed_with(TENGINE_ENOMEM));
    EXPECT_EQ(tengine_arena_set(nullptr, 0), 0) << get_tengine_error();
}

class FailureLogTest : public ApiTest
{
  protected:
    void SetUp() override
    {
        ApiTest::SetUp();
        graph_ = create_relu_graph();
        ASSERT_NE(graph_, nullptr);
    }

    graph_t graph_ = nullptr;
};

TEST_F(FailureLogTest, WhatHappensDeepDownHasOneLine)
{
    EXPECT_EQ(create_graph(nullptr, "tengine", "/nonexistent/model.tmfile"), nullptr);
    EXPECT_TRUE(failed_with(TENGINE_EIO));
    EXPECT_EQ(save_graph(graph_, "tengine", "/nonexistent/model.tmfile"), -1);
    EXPECT_TRUE(failed_with(TENGINE_EIO));
    ASSERT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
    EXPECT_EQ(run_graph(graph_, 1), -1) << "no input data";
    const std::string cause = get_tengine_error();
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(wait_graph(graph_, 0), -1);
    EXPECT_EQ(get_tengine_error(), "wait_graph: the last run failed: " + cause);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    const int dims[] = {1, 2, 3};
    ASSERT_EQ(set_tensor_shape(get_graph_tensor(graph_, "x"), dims, 3), 0);
    const node_t node = create_graph_node(graph_, "z", "MatMul");
    const tensor_t z = create_graph_tensor(graph_, "z", TENGINE_DT_FP32);
    ASSERT_EQ(set_node_output_tensor(node, 0, z, TENSOR_TYPE_VAR), 0);
    for (int i : {0, 1})
        ASSERT_EQ(set_node_input_tensor(node, i, get_graph_tensor(graph_, "y")), 0);
    ASSERT_TRUE(set_borders(graph_, {"x"}, {"z"}));
    EXPECT_EQ(prerun_graph(graph_), -1) << "matrices that do not fit";
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
}

int release_within(graph_t, int, void*)
{
    release_tengine();
    EXPECT_TRUE(failed_with(TENGINE_ESTATE));
    return 0;
}

TEST_F(FailureLogTest, ReleaseInAHookHasOneLine)
{
    ASSERT_EQ(set_graph_event_hook(graph_, GRAPH_EXEC_START, release_within, nullptr), 0);
    ASSERT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
    ASSERT_TRUE(write_floats(get_graph_tensor(graph_, "x"), {1, 2, 3, 4}));
    EXPECT_EQ(run_graph(graph_, 1), 0) << get_tengine_error();
}

TEST_F(FailureLogTest, SuccessLogsNoFailure)
{
    ASSERT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
    ASSERT_TRUE(write_floats(get_graph_tensor(graph_, "x"), {1, 2, 3, 4}));
    ASSERT_EQ(run_graph(graph_, 1), 0) << get_tengine_error();
    EXPECT_EQ(destroy_graph(graph_), 0);
    EXPECT_EQ(take_logged_failures(), std::vector<std::string>());
}

}  // namespace
}  // namespace tengine
