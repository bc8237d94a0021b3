// SPDX-License-Identifier: Apache-2.0
// A compiler and a dispatch when allocations fail.
#include "dispatch_fixture.h"
#include "support/allocation_count.h"

namespace tengine {
namespace {

// Each allocation of a preparation and a run fails in turn, including those of the vendor's
// functions.
TEST_F(DispatchTest, AShortageOfMemoryIsAFailureAndNoMore)
{
    if (!can_count_allocations()) GTEST_SKIP() << "a sanitizer has its own allocator";
    for (const bool is_async : {false, true}) {
        script = {};
        script.is_async = is_async;
        script.alignment = size_t{1} << 20;
        prepare({}, "RNR");
        const tensor_t x = tengine_graph_get_input(graph_, 0);
        ASSERT_TRUE(write_floats(x, {-1, 2, -3, 4}));
        set_log_level(LOG_EMERG);
        int failures = 0;
        bool has_failed = true;
        for (long number = 1; has_failed && !HasFailure(); ++number) {
            SCOPED_TRACE("allocation " + std::to_string(number));
            ASSERT_EQ(postrun_graph(graph_), 0);
            const long before = count_allocations();
            fail_allocation(number);
            const bool worked = prerun_graph(graph_) == 0 && run_graph(graph_, 1) == 0;
            fail_allocation(0);
            has_failed = count_allocations() - before >= number;
            if (!worked) {
                ++failures;
                EXPECT_EQ(get_tengine_errno(), TENGINE_ENOMEM) << get_tengine_error();
            }
            ASSERT_EQ(postrun_graph(graph_), 0);
            ASSERT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
            EXPECT_TRUE(computes({0, 0, 0, 0}));
        }
        EXPECT_GT(failures, 100);
        set_log_level(LOG_NOTICE);
    }
}

}  // namespace
}  // namespace tengine
