// SPDX-License-Identifier: Apache-2.0
// SwiGLU, BiasSplitGelu and BitCast: cases the suite leaves out.
#include "node_case.h"

namespace tengine::test {
namespace {

using cpu::Half;

// x * sigmoid(alpha x) at 2 and -1 is 2 / (1 + e^-4) and -1 / (1 + e^2).
TEST(SwiGLU, GatesBySwish)
{
    NodeCase made("SwiGLU");
    made.values<float>({2}, {2, -1}).values<float>({2}, {3, 4}).real("alpha", 2);
    made.expect({5.892083f, -0.476812f}, 2e-6f);
}

// The parts are 1, 2 and 1, 0, whose Gelu is 0.841345 and 0.
TEST(BiasSplitGelu, GatesByGelu)
{
    NodeCase made("com.microsoft.BiasSplitGelu");
    made.values<float>({1, 1, 4}, {1, 1, 1, 1}).values<float>({4}, {0, 1, 0, -1});
    made.expect({0.841345f, 0}, 1e-6f);
}

TEST(BitCast, KeepsBits)
{
    NodeCase made("BitCast");
    made.values<Half>({1, 2}, {1, -2}).number("to", 5);
    EXPECT_EQ(values_of<int16_t>(made.evaluate()), (std::vector<int16_t>{0x3C00, -0x4000}));
}

TEST(BitCast, RefusesOtherSizes)
{
    NodeCase wide("BitCast");
    wide.values<float>({1}, {1}).number("to", 7).expect_failure(
        TENGINE_EDTYPE, "elements of fp32 have 32 bits, those of int64 64: expected as many");
    NodeCase text("BitCast");
    text.values<float>({1}, {1}).number("to", 8).expect_failure(TENGINE_EDTYPE,
                                                                "to is 8 (string), which is not");
}

}  // namespace
}  // namespace tengine::test
