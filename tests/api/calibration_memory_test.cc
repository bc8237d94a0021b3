// SPDX-License-Identifier: Apache-2.0
// Each allocation of a calibration fails in turn.
#include <algorithm>
#include <cstring>

#include "calibration_fixture.h"
#include "support/allocation_count.h"
#include "support/emulated.h"

namespace tengine {
namespace {

class CalibrationMemory : public CalibrationTest
{
  protected:
    // False at the first call that fails.
    bool work(graph_t* out_quantized)
    {
        tengine_calibration_options options = camera_.options();
        options.keep_float = kPatterns;
        options.keep_float_number = 1;
        tengine_calibrated_node node;
        calibration_ = tengine_calibration_create(graph_, &options, sizeof options);
        return calibration_ && tengine_calibration_run(calibration_) == 0 &&
               tengine_calibration_search(calibration_, 100) == 0 &&
               tengine_calibration_compare(calibration_, nullptr, 0) == 0 &&
               tengine_calibration_get_node(calibration_, 0, &node, sizeof node) == 0 &&
               (*out_quantized = tengine_calibration_quantize(calibration_)) != nullptr;
    }

    bool work_once()
    {
        graph_t quantized = nullptr;
        graph_ = create_long_graph();
        const bool has_worked = work(&quantized);
        EXPECT_EQ(destroy_graph(quantized), 0);
        EXPECT_EQ(destroy_graph(graph_), 0);
        EXPECT_EQ(tengine_calibration_destroy(calibration_), 0);
        calibration_ = nullptr;
        return has_worked;
    }

    // Works with allocation `number` failing, 0: none.
    bool try_work(long number, bool lasting)
    {
        take_logged_failures();
        clr_tengine_errno();
        if (lasting) set_log_output(nullptr);  // the tests' own sink needs memory
        const LiveMemory before = measure_live_memory();
        graph_t quantized = nullptr;
        graph_ = create_long_graph();
        fail_allocation(number, lasting);
        const bool has_worked = work(&quantized);
        fail_allocation(0);
        if (!has_worked) {
            EXPECT_EQ(get_tengine_errno(), TENGINE_ENOMEM) << get_tengine_error();
            EXPECT_NE(std::strstr(get_tengine_error(), "memory"), nullptr) << get_tengine_error();
        }
        EXPECT_EQ(tengine_calibration_destroy(calibration_), 0);
        calibration_ = nullptr;
        EXPECT_EQ(destroy_graph(graph_), 0);
        if (quantized) {
            EXPECT_EQ(destroy_graph(quantized), 0);
        }
        take_logged_failures();
        clr_tengine_errno();
        EXPECT_EQ(measure_live_memory().blocks, before.blocks) << "blocks are left";
        return has_worked;
    }

    static graph_t create_long_graph()
    {
        graph_t graph = create_graph(nullptr, nullptr, nullptr);
        const float weight = 2;
        const tensor_t x = add_input(graph, "x", {1, 1, 1, 4});
        const tensor_t w = add_constant(graph, "w", {1, 1, 1, 1}, &weight);
        const tensor_t c = add_node(graph, "a convolution with a long name", "Conv", {x, w});
        const tensor_t l = add_node(graph, "l", "Log", {x});
        add_node(graph, "y", "Add", {c, l});
        EXPECT_TRUE(set_borders(graph, {"x"}, {"y"}));
        return graph;
    }

    static constexpr const char* kPatterns[] = {"l"};
};

TEST_F(CalibrationMemory, EachAllocationMayFail)
{
    if (!can_count_allocations()) GTEST_SKIP() << "a sanitizer has its own allocator";
    for (int round = 0; round < 2; ++round)  // some objects are created once
        ASSERT_TRUE(round == 0 ? work_once() : try_work(0, false)) << get_tengine_error();
    const long begin = count_allocations();
    ASSERT_TRUE(try_work(0, false)) << get_tengine_error();
    const long number = count_allocations() - begin;
    const long step = std::max(number / (test::kEmulated ? 50 : 400), 1L);
    int failures = 0;
    for (const bool lasting : {false, true})
        for (long i = 1; i <= number && !HasFailure(); i += step) {
            SCOPED_TRACE("allocation " + std::to_string(i) + " of " + std::to_string(number));
            failures += try_work(i, lasting) ? 0 : 1;
        }
    EXPECT_GT(failures * step, number / 4) << "the allocator does not fail";
}

}  // namespace
}  // namespace tengine
