// SPDX-License-Identifier: Apache-2.0
// Several devices: each gets the nodes that it supports in the run's precision, and the result is
// the same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/log.h"
#include "graph/graph.h"
#include "module/module.h"
#include "operator/affinity.h"
#include "optimizer/precision_fixture.h"
#include "support/test_device.h"

namespace {

using namespace tengine::test;
using testing::HasSubstr;
using testing::Not;

constexpr int kInt8 = TENGINE_MODE_INT8, kBf16 = TENGINE_MODE_BF16;

// Supports int8, uint8, 16-bit and 32-bit floats, and has no optimize_graph.
class TypedDevice
{
  public:
    explicit TypedDevice(std::vector<std::string> operators) : device("A", std::move(operators))
    {
        describe_ = device.get()->allocator->describe;
        device.get()->allocator->describe = [](::device* self, vector* allowed, vector* blocked,
                                               vector* types) {
            ++describes_;
            for (const int type : {TENGINE_DT_INT8, TENGINE_DT_UINT8, TENGINE_DT_BF16})
                EXPECT_EQ(push_vector_data(types, &type), 0);
            return describe_(self, allowed, blocked, types);
        };
    }
    // Returns the calls of describe() on all typed devices so far; the entry has no state of its
    // own.
    static int describes() { return describes_; }
    TestDevice device;

  private:
    static int describes_;
    static int (*describe_)(::device*, vector*, vector*, vector*);
};

int TypedDevice::describes_ = 0;
int (*TypedDevice::describe_)(::device*, vector*, vector*, vector*) = nullptr;

// x -> Add a -> Mul m -> Tanh y, all quantised.
void add_net(PrecisionGraph& graph)
{
    graph.input("x", {1, 4}, {-1, -0.2f, 0.5f, 1});
    const std::string x = graph.pair("x", 0.01f, 0);
    graph.builder().add("Add", {x, graph.bytes("c", {4}, {1, 2, 3, 4}, {0.1f})}, {"a"});
    const std::string a = graph.pair("a", 0.012f, -3);
    graph.builder().add("Mul", {x, a}, {"m"});
    graph.builder().add("Tanh", {graph.pair("m", 0.013f, 4)}, {"t"});
    graph.quantize("t", "y", 0.008f, 0);
    graph.builder().outputs({"y"});
}

std::string device_of(PrecisionGraph& graph, const char* name)
{
    return graph.find(name)->device->name;
}

TEST(PrecisionDevice, EachDeviceFusesWhatItTakes)
{
    TypedDevice a({"com.microsoft.QLinearAdd", "tengine.Lookup"});
    PrecisionGraph alone, shared({a.device.get()});
    add_net(alone);
    add_net(shared);
    EXPECT_EQ(shared.run(kInt8), alone.run(kInt8));
    EXPECT_EQ(shared.operators(), "QuantizeLinear QLinearAdd QLinearMul Lookup");
    EXPECT_EQ(shared.operators(), alone.operators());
    EXPECT_EQ(device_of(shared, "a"), "A");
    EXPECT_EQ(device_of(shared, "m"), "CPU");
    EXPECT_EQ(device_of(shared, "t"), "A");
}

// A rounding that a program requests is the CPU's, and the report says so.
TEST(PrecisionDevice, ARequestedRoundingKeepsOtherDevicesFromProducts)
{
    for (const char* rounding : {"litert", "litert-micro", "nearest", "model"}) {
        SCOPED_TRACE(rounding);
        TypedDevice a({"com.microsoft.QLinearAdd", "com.microsoft.QLinearMul", "tengine.Lookup"});
        PrecisionGraph graph({a.device.get()});
        graph.option("precision.rounding", rounding);
        add_net(graph);
        graph.run(kInt8);
        const bool is_requested = std::string(rounding).rfind("litert", 0) == 0;
        for (const char* name : {"a", "m"})
            EXPECT_EQ(device_of(graph, name), is_requested ? "CPU" : "A");
        EXPECT_EQ(device_of(graph, "t"), "A");
        if (!is_requested) continue;
        const auto& refused = *graph.find("m")->core;
        ASSERT_EQ(refused.refusal_num, 1);
        EXPECT_EQ(refused.refusal_list[0].verdict.code, IR_REASON_ATTRIBUTE);
        EXPECT_STREQ(refused.refusal_list[0].verdict.value, rounding);
        EXPECT_EQ(refused.refusal_list[0].verdict.message,
                  "precision.rounding=" + std::string(rounding) + " is the CPU's");
    }
}

TEST(PrecisionDevice, ATypeThatADeviceDoesNotListIsNotTriedOnIt)
{
    TestDevice a("A", {"com.microsoft.QLinearAdd", "Add", "Exp"});
    PrecisionGraph bytes({a.get()}), halves({a.get()});
    add_net(bytes);
    add_net(halves);
    bytes.run(kInt8);
    EXPECT_EQ(device_of(bytes, "a"), "CPU");
    halves.run(kBf16);
    EXPECT_EQ(device_of(halves, "a"), "CPU");
    EXPECT_EQ(a.get()->optimizer, nullptr);
}

// A program's own optimize_graph may request another precision than the run's.
TEST(PrecisionDevice, APrecisionIsAppliedOnDemand)
{
    TypedDevice a({"Add"});
    ir_optimizer_t own = {};
    own.optimize_graph = [](graph* graph, int) {
        return apply_ir_precision(graph, find_device_via_name("A"), kBf16);
    };
    a.device.get()->optimizer = &own;
    PrecisionGraph graph({a.device.get()});
    graph.input("x", {1, 4}, {-1, -0.2f, 0.5f, 1});
    graph.builder().add("Add", {"x", "x"}, {"y"});
    graph.builder().outputs({"y"});
    const int before = TypedDevice::describes();
    graph.run(TENGINE_MODE_FP32);
    EXPECT_EQ(TypedDevice::describes() - before, 1);
    EXPECT_EQ(graph.operators(), "Cast Add Cast");
    EXPECT_EQ(apply_ir_precision(graph.builder().get()->core->execution, a.device.get(), kInt8),
              TENGINE_OK);
    TestDevice stranger("B");
    EXPECT_EQ(apply_ir_precision(graph.builder().get()->core->execution, stranger.get(), kInt8),
              TENGINE_ENOENT);
}

// Returns the log lines of the preparation of the graph.
std::string log_of(PrecisionGraph& graph, int precision)
{
    static std::string log;
    log.clear();
    set_log_sink([](const char* line) { log += line; });
    EXPECT_EQ(graph.prepare(precision), TENGINE_OK) << tengine_error_message();
    set_log_sink(nullptr);
    return log;
}

// A quantised model with an int8 device, run in float without a precision option.
TEST(PrecisionDevice, AFloatRunThatADeviceForBytesHasNoPartInIsHintedAt)
{
    TestDevice a("A");
    a.get()->allocator->describe = [](::device*, vector* allowed, vector*, vector* types) {
        const char* const name = "com.microsoft.QLinearAdd";
        const int type = TENGINE_DT_INT8;
        EXPECT_EQ(push_vector_data(types, &type), 0);
        return push_op_names(allowed, &name, 1);
    };
    PrecisionGraph shared({a.get()}), alone, in_float({a.get()});
    add_net(shared);
    add_net(alone);
    EXPECT_THAT(log_of(shared, TENGINE_MODE_FP32),
                HasSubstr("is quantised, but runs in float, which A does not take: run it in the "
                          "precision int8"));
    EXPECT_THAT(log_of(shared, kInt8), Not(HasSubstr("runs in float")));
    EXPECT_EQ(log_of(alone, TENGINE_MODE_FP32), "");
    in_float.input("x", {1, 4}, {-1, -0.2f, 0.5f, 1});
    in_float.builder().add("Add", {"x", "x"}, {"y"});
    in_float.builder().outputs({"y"});
    EXPECT_THAT(log_of(in_float, TENGINE_MODE_FP32), Not(HasSubstr("runs in float")));
}

TEST(PrecisionDevice, ADeviceThatFailsToDescribeItselfIsNotHintedAt)
{
    TestDevice a("A");
    a.get()->allocator->describe = [](::device*, vector*, vector*, vector* types) {
        const int type = TENGINE_DT_INT8;
        EXPECT_EQ(push_vector_data(types, &type), 0);
        return -7;
    };
    PrecisionGraph graph({a.get()});
    add_net(graph);
    EXPECT_THAT(log_of(graph, TENGINE_MODE_FP32), Not(HasSubstr("runs in float")));
}

TEST(PrecisionDevice, ARefusedCandidateLeavesNoTrace)
{
    TypedDevice a({"com.microsoft.QLinearAdd", "tengine.Lookup"});
    int asked = 0;
    a.device.refusal = [&](const node& node) {
        ++asked;
        return std::string(get_ir_node_op(&node)) == "QLinearAdd" ? "not today" : "";
    };
    PrecisionGraph alone, shared({a.device.get()});
    add_net(alone);
    add_net(shared);
    EXPECT_EQ(shared.run(kInt8), alone.run(kInt8));
    EXPECT_GT(asked, 0);
    EXPECT_EQ(device_of(shared, "a"), "CPU");
    EXPECT_EQ(device_of(shared, "t"), "A");
    EXPECT_EQ(shared.execution()->tensor_num, alone.execution()->tensor_num);
    EXPECT_EQ(shared.execution()->node_num, alone.execution()->node_num);
}

TEST(PrecisionDevice, AffinityDecidesWhoIsAsked)
{
    TypedDevice a({"com.microsoft.QLinearAdd", "tengine.Lookup"});
    PrecisionGraph graph({a.device.get()});
    add_net(graph);
    ASSERT_EQ(add_ir_graph_affinity(graph.builder().get(), "op:Add", "!A"), TENGINE_OK);
    graph.run(kInt8);
    EXPECT_EQ(device_of(graph, "a"), "CPU");
    EXPECT_EQ(device_of(graph, "t"), "A");
}

TEST(PrecisionDevice, FloatsOfSixteenBitsOnOneDeviceOnly)
{
    TypedDevice a({"Add"});
    PrecisionGraph graph({a.device.get()});
    graph.input("x", {1, 4}, {-1, -0.2f, 0.5f, 1});
    graph.builder().add("Add", {"x", "x"}, {"d"});
    graph.builder().add("Exp", {"d"}, {"y"});
    graph.builder().outputs({"y"});
    graph.run(kBf16);
    EXPECT_EQ(graph.operators(), "Cast Add Exp Cast") << "the default device comes next";
    EXPECT_EQ(device_of(graph, "d"), "A");
    EXPECT_EQ(device_of(graph, "y"), "CPU");
}

TEST(PrecisionDevice, OtherTypesAndDevicesAreErrors)
{
    PrecisionGraph graph;
    add_net(graph);
    ASSERT_EQ(graph.prepare(TENGINE_MODE_FP32), TENGINE_OK);
    struct graph* execution = graph.builder().get()->core->execution;
    EXPECT_EQ(quantize_ir_graph(execution, find_default_device(), TENGINE_DT_FP16), TENGINE_EDTYPE);
    EXPECT_TRUE(says("fp16, expected int8 or uint8"));
    EXPECT_EQ(convert_ir_graph(execution, find_default_device(), TENGINE_DT_INT8), TENGINE_EDTYPE);
    TestDevice stranger("B");
    EXPECT_EQ(quantize_ir_graph(execution, stranger.get(), TENGINE_DT_INT8), TENGINE_ENOENT);
    EXPECT_TRUE(says("device 'B' is not among the graph's"));
}

TEST(PrecisionDevice, AFailureNamesTheDevice)
{
    TypedDevice a({});
    ir_optimizer_t failing = {};
    failing.optimize_graph = [](graph*, int) { return -7; };
    a.device.get()->optimizer = &failing;
    PrecisionGraph graph({a.device.get()});
    add_net(graph);
    EXPECT_EQ(graph.prepare(TENGINE_MODE_FP32), TENGINE_EDEVICE);
    EXPECT_TRUE(says("device 'A', optimize_graph: it returned -7"));
}

}  // namespace
