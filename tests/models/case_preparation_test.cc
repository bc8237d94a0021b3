// SPDX-License-Identifier: Apache-2.0
// The CPU prepares every case of the table (tools/cases), in the first of its types: `tengine
// verify` compares only what is prepared, and takes minutes for that.
#include <gtest/gtest.h>

#include "cases/case.h"
#include "tengine/c_api.h"
#include "tensor_file/failure.h"
#include "verify/case_inputs.h"
#include "verify/graph_of_case.h"

namespace tengine::tools {

namespace {

TEST(CasePreparation, TheCpuPreparesEveryCase)
{
    ASSERT_EQ(init_tengine(), 0);
    int number = 0;
    for (const auto& list : {list_cases(), list_quantized_cases()})
        for (const Case& each : list) {
            ++number;
            const int type = each.types.at(0);
            try {
                CaseGraph graph(each, type, make_inputs(each, type, type, 1), reference_target());
                graph.prepare();
            } catch (const Failure& failure) {
                ADD_FAILURE() << failure.what();
            }
        }
    EXPECT_GT(number, 1000);
    release_tengine();
}

}  // namespace
}  // namespace tengine::tools
