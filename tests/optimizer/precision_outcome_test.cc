// SPDX-License-Identifier: Apache-2.0
// Messages about a run that was to be in integers and is in float, and the reverse.
#include <gtest/gtest.h>

#include "base/log.h"
#include "graph/graph.h"
#include "optimizer/precision_fixture.h"

namespace {

using namespace tengine::test;

constexpr int kInt8 = TENGINE_MODE_INT8, kUint8 = TENGINE_MODE_UINT8;

// x -> Add a -> Exp y.
struct SmallNet : PrecisionGraph
{
    SmallNet()
    {
        input("x", {1, 2}, {0.5f, -0.25f});
        builder().add("Add", {"x", "x"}, {"a"});
        builder().add("Exp", {"a"}, {"y"});
        builder().outputs({"y"});
    }
};

// Returns the log lines of the preparation of a graph.
std::string log_of(PrecisionGraph& graph, int precision)
{
    static std::string log;
    log.clear();
    set_log_sink([](const char* line) { log += line; });
    EXPECT_EQ(graph.prepare(precision), TENGINE_OK) << tengine_error_message();
    set_log_sink(nullptr);
    return log;
}

testing::AssertionResult has(const std::string& log, const std::string& part)
{
    if (log.find(part) != std::string::npos) return testing::AssertionSuccess();
    return testing::AssertionFailure() << "'" << part << "' is not in '" << log << "'";
}

TEST(PrecisionOutcome, AModelWithoutScalesIsRefusedAndToldWhereToGetThem)
{
    SmallNet net;
    EXPECT_EQ(net.prepare(kInt8), TENGINE_EINVAL);
    const std::string message = tengine_error_message();
    EXPECT_TRUE(has(message, "cannot run in int8: nothing that it computes has a scale."));
    EXPECT_TRUE(has(message, "precision.table"));
    EXPECT_TRUE(has(message, "`tengine quantize` makes both"));
    EXPECT_TRUE(has(message, "precision.float=allow"));
    EXPECT_EQ(net.prepare(kUint8), TENGINE_EINVAL);
    EXPECT_TRUE(has(tengine_error_message(), "cannot run in uint8: nothing"));
}

TEST(PrecisionOutcome, AnOptionAllowsTheRunInFloat)
{
    SmallNet net;
    net.option("precision.float", "allow");
    EXPECT_TRUE(has(log_of(net, kInt8), "runs in float, not int8: nothing that it computes"));
    EXPECT_EQ(net.operators(), "Add Exp");
}

TEST(PrecisionOutcome, QuantisedWeightsAloneAreNoScales)
{
    PrecisionGraph graph;
    graph.input("x", {1, 2}, {0.5f, -0.25f});
    graph.builder().add("Add", {"x", graph.bytes("w", {2}, {1, 2}, {0.5f})}, {"y"});
    graph.builder().outputs({"y"});
    EXPECT_EQ(graph.prepare(kInt8), TENGINE_EINVAL);
    EXPECT_TRUE(has(tengine_error_message(), "nothing that it computes has a scale"));
}

TEST(PrecisionOutcome, ScalesThatFitNoNodeAreCounted)
{
    SmallNet net;
    net.calibrate("x", 0.01f, 0);
    EXPECT_TRUE(has(log_of(net, kInt8),
                    "it has scales (1), but no node has them on its data "
                    "inputs and its result and a device that takes it so (0 of "
                    "2 are kept in float)"));
    net.calibrate("a", 0.01f, 0);
    net.option("precision.keep_float", "op:Add");
    const std::string log = log_of(net, kInt8);
    EXPECT_TRUE(has(log, "it has scales (2)"));
    EXPECT_TRUE(has(log, "(1 of 2 are kept in float)"));
}

TEST(PrecisionOutcome, KeepingAllNodesIsNamedAsTheCause)
{
    SmallNet net;
    net.calibrate("x", 0.01f, 0);
    net.option("precision.keep_float", "*");
    EXPECT_TRUE(has(log_of(net, kInt8), "precision.keep_float or the table keeps all"));
}

TEST(PrecisionOutcome, OneIntegerNodeIsEnough)
{
    SmallNet net;
    net.calibrate("x", 0.01f, 0);
    net.calibrate("a", 0.01f, 0);
    EXPECT_EQ(log_of(net, kInt8), "");
    EXPECT_EQ(net.operators(), "QuantizeLinear QLinearAdd DequantizeLinear Exp");
}

TEST(PrecisionOutcome, OtherPrecisionsAndModelsWithoutFloatsSayNothing)
{
    SmallNet net;
    for (const int precision : {TENGINE_MODE_FP32, TENGINE_MODE_BF16, TENGINE_MODE_FP16})
        EXPECT_EQ(log_of(net, precision), "");
    PrecisionGraph integers;
    integers.builder().input("x", {2}, TENGINE_DT_INT64);
    integers.builder().add("Add", {"x", "x"}, {"y"});
    integers.builder().outputs({"y"});
    EXPECT_EQ(log_of(integers, kInt8), "");
}

// An imported QLinear model needs no rewriting.
TEST(PrecisionOutcome, IntegerOperatorsOfTheModelCount)
{
    PrecisionGraph graph;
    graph.input("x", {1, 2}, {0.5f, -0.25f});
    graph.quantize("x", "q", 0.01f, 0);
    const std::vector<uint8_t> weight = {1, 2, 3, 4};
    graph.builder().constant("w", {2, 2}, weight, TENGINE_DT_INT8);
    graph.builder().add("QLinearMatMul",
                        {"q", "q_scale", "q_zero", "w", "q_scale", "q_zero", "q_scale", "q_zero"},
                        {"m"});
    graph.builder().add("DequantizeLinear", {"m", "q_scale", "q_zero"}, {"y"});
    graph.builder().outputs({"y"});
    EXPECT_EQ(log_of(graph, kInt8), "");
}

}  // namespace
