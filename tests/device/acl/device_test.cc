// SPDX-License-Identifier: Apache-2.0
// The device around the operators: options, precision, messages of refusals, tensors inside a part
// and boundary tensors, constants that several nodes use.
#include "tengine/device.h"

#include <cstring>
#include <gtest/gtest.h>

#include "device/acl/acl_run.h"
#include "graph/option.h"
#include "operator/param.h"
#include "tengine/compat/tengine/acl_device.h"

namespace tengine::acl {
namespace {

using test::IrBuilder;

void expect_same(const Build& build, const RunSettings& settings = {}, float bound = 1e-5F)
{
    AclRun ours(settings, build), reference({{}}, build);
    for (AclRun* run : {&ours, &reference}) {
        ASSERT_EQ(run->prerun(), TENGINE_OK) << tengine_error_message();
        run->feed_all(5);
        // A second run works with the state that the first has left.
        ASSERT_EQ(run->run(), TENGINE_OK) << tengine_error_message();
        ASSERT_EQ(run->run(), TENGINE_OK) << tengine_error_message();
    }
    EXPECT_EQ(ours.nodes_on("CPU"), 0) << ours.refusals();
    EXPECT_EQ(ours.redone(), 0);
    const std::vector<float> got = ours.outputs(), wanted = reference.outputs();
    ASSERT_EQ(got.size(), wanted.size());
    for (size_t i = 0; i < got.size(); ++i)
        ASSERT_NEAR(got[i], wanted[i], bound) << i;
}

std::vector<float> ramp(size_t size)
{
    std::vector<float> values(size);
    for (size_t i = 0; i < size; ++i)
        values[i] = static_cast<float>(i % 13) / 13 - 0.5F;
    return values;
}

TEST(AclDevice, IsThereAndSaysWhatItRunsOn)
{
    const IrBuilder builder;
    device* acl = find_device_via_name("ACL");
    ASSERT_NE(acl, nullptr);
    EXPECT_EQ(std::string(acl->interface->features(acl)).rfind("20.08; NEON", 0), 0U)
        << acl->interface->features(acl);
}

TEST(AclDevice, OptionsAreChecked)
{
    const IrBuilder builder;
    device* acl = find_device_via_name("ACL");
    EXPECT_EQ(acl->interface->check_option(acl, "fast_math", "1"), TENGINE_OK);
    EXPECT_EQ(acl->interface->check_option(acl, "fast_math", "2"), TENGINE_EINVAL);
    EXPECT_EQ(acl->interface->check_option(acl, "speed", "1"), TENGINE_ENOENT);
    EXPECT_NE(std::string(tengine_error_message()).find("fast_math"), std::string::npos);
}

// The report has the words of a function's validate().
TEST(AclDevice, RefusesInAclsWords)
{
    AclRun run({}, [](IrBuilder& builder) {
        builder.input("x", {1, 2, 7, 5});
        builder.floats("w", {2, 3, 3, 2}, ramp(36));
        builder.add("ConvTranspose", {"x", "w"}, {"y"});
        builder.outputs({"y"});
    });
    ASSERT_EQ(run.prerun(), TENGINE_OK) << tengine_error_message();
    EXPECT_EQ(run.nodes_on("ACL"), 0);
    EXPECT_NE(run.refusals().find("NEDeconvolutionLayer: weights->dimension(width_idx) != "
                                  "weights->dimension(height_idx)"),
              std::string::npos)
        << run.refusals();
}

TEST(AclDevice, WeightsMustBeConstant)
{
    AclRun run({}, [](IrBuilder& builder) {
        builder.input("x", {1, 4, 9, 9});
        builder.input("w", {4, 4, 3, 3});
        builder.add("Conv", {"x", "w"}, {"y"});
        builder.outputs({"y"});
    });
    ASSERT_EQ(run.prerun(), TENGINE_OK) << tengine_error_message();
    EXPECT_EQ(run.nodes_on("ACL"), 0);
    EXPECT_NE(run.refusals().find("the weight must be constant"), std::string::npos);
    run.feed_all(1);
    EXPECT_EQ(run.run(), TENGINE_OK) << tengine_error_message();
}

// A tensor that is read inside the part and is a result too; one that two nodes read.
TEST(AclDevice, ResultsMayBeReadInside)
{
    expect_same([](IrBuilder& builder) {
        builder.input("x", {1, 3, 13, 17});
        builder.floats("w", {5, 3, 3, 3}, ramp(135));
        builder.add("Conv", {"x", "w"}, {"a"});
        builder.add("Relu", {"a"}, {"b"});
        builder.add("Sigmoid", {"b"}, {"c"});
        builder.add("Add", {"b", "c"}, {"d"});
        builder.outputs({"b", "d", "c"});
    });
}

std::vector<std::string> list_operators(const graph& execution)
{
    std::vector<std::string> operators;
    for (int i = 0; i < execution.node_num; ++i)
        operators.push_back(std::string(get_ir_node_op(execution.node_list[i])) + ":" +
                            execution.node_list[i]->device->name);
    return operators;
}

// PyTorch's and Paddle's HardSwish comes whole. The library has neither Swish nor Gelu: the nodes
// of the one stay with it.
TEST(AclDevice, GetsFunctionsThatModelsHaveInSeveralNodes)
{
    const auto build = [](IrBuilder& builder, bool is_hard) {
        builder.input("x", {2, 3, 5, 7});
        builder.floats("zero", {}, {0});
        builder.floats("three", {}, {3});
        builder.floats("six", {}, {6});
        builder.add("Add", {"x", "three"}, {"sum"});
        builder.add("Clip", {"sum", "zero", "six"}, {"clipped"});
        builder.add("Sigmoid", {"x"}, {"gate"});
        builder.add("Mul", {"x", is_hard ? "clipped" : "gate"}, {"product"});
        builder.add("Div", {"product", "six"}, {"hard"});
        builder.outputs({is_hard ? "hard" : "product"});
    };
    for (const bool is_hard : {false, true}) {
        const auto build_one = [&](IrBuilder& builder) { build(builder, is_hard); };
        expect_same(build_one);
        AclRun run({}, build_one);
        ASSERT_EQ(run.prerun(), TENGINE_OK) << tengine_error_message();
        const std::vector<std::string> nodes = {"Sigmoid:ACL", "Mul:ACL"},
                                       whole = {"HardSwish:ACL"};
        EXPECT_EQ(list_operators(*run.execution()), is_hard ? whole : nodes);
    }
}

// Activations are computed with the node before them where ACL can, and only where no other node
// wants that node's result.
TEST(AclDevice, ActivationsBehindOtherNodes)
{
    for (const char* activation : {"Relu", "Tanh", "Sigmoid", "HardSwish", "Clip"}) {
        SCOPED_TRACE(activation);
        expect_same([&](IrBuilder& builder) {
            builder.input("x", {1, 4, 9, 11});
            builder.floats("w", {6, 4, 3, 3}, ramp(216));
            builder.floats("d", {6, 1, 3, 3}, ramp(54));
            builder.floats("low", {}, {0});
            builder.floats("high", {}, {0.75F});
            const auto activate = [&](const char* from, const char* to) {
                std::vector<std::string> inputs = {from};
                if (std::strcmp(activation, "Clip") == 0) inputs = {from, "low", "high"};
                builder.add(activation, inputs, {to});
            };
            builder.add("Conv", {"x", "w"}, {"a"});
            activate("a", "b");
            node* depthwise = builder.add("Conv", {"b", "d"}, {"c"});
            EXPECT_EQ(set_node_int(depthwise, "group", 6), TENGINE_OK);
            activate("c", "e");
            builder.add("Add", {"e", "c"}, {"f"});
            activate("f", "g");
            builder.outputs({"g"});
        });
    }
}

TEST(AclDevice, NodesShareConstants)
{
    expect_same([](IrBuilder& builder) {
        builder.input("x", {1, 4, 9, 9});
        const std::vector<int64_t> pads = {1, 1, 1, 1};
        builder.floats("w", {4, 4, 3, 3}, ramp(144));
        builder.floats("s", {4, 1, 1}, ramp(4));
        for (const char* to : {"a", "b"}) {
            node* conv = builder.add("Conv", {to[0] == 'a' ? "x" : "a", "w"}, {to});
            EXPECT_EQ(set_node_ints(conv, "pads", pads.data(), 4), TENGINE_OK);
        }
        builder.add("Mul", {"b", "s"}, {"c"});
        builder.add("Add", {"c", "s"}, {"d"});
        builder.outputs({"d"});
    });
}

// The types of a calibrated convolution and of a movement, prepared with the precision of a run and
// that of acl_option.
std::pair<int, int> find_types(int run_precision, const acl_option* option)
{
    RunSettings settings;
    settings.precision = run_precision;
    settings.option = option;
    AclRun run(settings, [](IrBuilder& builder) {
        builder.input("x", {1, 3, 9, 7});
        builder.floats("w", {5, 3, 3, 3}, ramp(135));
        builder.add("Conv", {"x", "w"}, {"y"});
        builder.add("Transpose", {"x"}, {"z"});
        builder.outputs({"y", "z"});
        // A zero point of both int8 and uint8.
        const float scale = 0.02F;
        const int zero_point = 100;
        for (const char* name : {"x", "y"})
            EXPECT_EQ(
                set_ir_tensor_quantization_parameter(builder.find(name), &scale, &zero_point, 1),
                TENGINE_OK);
    });
    EXPECT_EQ(run.prerun(), TENGINE_OK) << tengine_error_message();
    std::pair<int, int> types = {-1, -1};
    for (int i = 0; i < run.execution()->node_num; ++i) {
        const node* node = run.execution()->node_list[i];
        const std::string op = get_ir_node_op(node);
        const int type = get_ir_node_input(node, 0)->data_type;
        if (op == "Conv" || op == "QLinearConv") types.first = type;
        if (op == "Transpose") types.second = type;
    }
    return types;
}

// It counts where the run itself asks for none.
TEST(AclDevice, PrecisionOfTheOptionStruct)
{
    const auto type_of = [](int run_precision, int precision) {
        const acl_option option = {nullptr, precision};
        return find_types(run_precision, &option);
    };
    constexpr int kFloat = TENGINE_MODE_FP32;
    EXPECT_EQ(find_types(kFloat, nullptr).first, TENGINE_DT_FP32);
    EXPECT_EQ(find_types(kFloat, nullptr).second, TENGINE_DT_FP32);
    EXPECT_EQ(type_of(kFloat, TENGINE_MODE_FP32).first, TENGINE_DT_FP32);
    EXPECT_EQ(type_of(kFloat, TENGINE_MODE_FP16).second, TENGINE_DT_FP16);
    EXPECT_EQ(type_of(kFloat, TENGINE_MODE_INT8).first, TENGINE_DT_INT8);
    EXPECT_EQ(type_of(kFloat, TENGINE_MODE_UINT8).first, TENGINE_DT_UINT8);
    EXPECT_EQ(type_of(TENGINE_MODE_UINT8, TENGINE_MODE_INT8).first, TENGINE_DT_UINT8);
}

// The struct of a program's set_context_device() is checked when the graph is prepared.
TEST(AclDevice, BadOptionStructsAreRefused)
{
    const auto prerun_with = [](const acl_option& option, size_t size) {
        RunSettings settings;
        settings.option = &option;
        settings.option_size = size;
        AclRun run(settings, [](IrBuilder& builder) {
            builder.input("x", {7});
            builder.add("Relu", {"x"}, {"y"});
            builder.outputs({"y"});
        });
        return run.prerun();
    };
    const auto says = [](const std::string& part) {
        return std::string(tengine_error_message()).find(part) != std::string::npos;
    };
    const acl_option good = {nullptr, TENGINE_MODE_FP32}, bad = {nullptr, 77};
    EXPECT_EQ(prerun_with(good, sizeof good), TENGINE_OK);
    EXPECT_EQ(prerun_with(good, 4), TENGINE_EINVAL);
    EXPECT_TRUE(says("bytes, expected 4")) << tengine_error_message();
    EXPECT_EQ(prerun_with(bad, sizeof bad), TENGINE_EINVAL);
    EXPECT_TRUE(says("invalid precision 77: expected")) << tengine_error_message();
}

// An int8 product goes to the TPU, Abs, which the TPU does not have, to ACL, and a node that
// neither has to the default device.
TEST(AclDevice, ThreeDevicesInOneGraph)
{
    constexpr float kStep = 0.02F;
    const Build build = [](IrBuilder& builder) {
        builder.input("x", {1, 8, 9, 7});
        builder.floats("w", {5, 8, 3, 3}, ramp(360));
        builder.add("Conv", {"x", "w"}, {"product"});
        builder.add("Abs", {"product"}, {"size"});
        builder.add("Softplus", {"size"}, {"y"});
        builder.outputs({"y"});
        const float scales[] = {1.0F / 127, kStep};
        const int zero_point = 0;
        for (const int i : {0, 1})
            EXPECT_EQ(set_ir_tensor_quantization_parameter(builder.find(i == 0 ? "x" : "product"),
                                                           &scales[i], &zero_point, 1),
                      TENGINE_OK);
    };
    RunSettings mixed = {{"TPU", "ACL"}}, on_cpu = {{}};
    mixed.precision = on_cpu.precision = TENGINE_MODE_INT8;
    AclRun ours(mixed, build), reference(on_cpu, build);
    for (AclRun* run : {&ours, &reference}) {
        ASSERT_EQ(run->prerun(), TENGINE_OK) << tengine_error_message();
        run->feed_all(5);
        ASSERT_EQ(run->run(), TENGINE_OK) << tengine_error_message();
    }
    EXPECT_EQ(ours.redone(), 0);
    const auto device_of = [&](const char* name) {
        const node* found = test::find_node(ours.execution(), name);
        return found ? found->device->name : "none";
    };
    EXPECT_STREQ(device_of("product"), "TPU");
    EXPECT_STREQ(device_of("size"), "ACL");
    EXPECT_STREQ(device_of("y"), "CPU");
    // All devices round products in the same way.
    EXPECT_EQ(ours.outputs(), reference.outputs());
}

// A shape that changes between preparations.
TEST(AclDevice, OtherShapesLater)
{
    const Build build = [](IrBuilder& builder) {
        builder.input("x", {1, 3, 13, 17});
        builder.floats("w", {5, 3, 3, 3}, ramp(135));
        builder.add("Conv", {"x", "w"}, {"y"});
        builder.outputs({"y"});
    };
    AclRun ours({}, build), reference({{}}, build);
    for (const int side : {13, 7, 31}) {
        for (AclRun* run : {&ours, &reference}) {
            const int dims[] = {1, 3, side, side};
            ASSERT_EQ(set_ir_tensor_shape(test::find_tensor(run->source(), "x"), dims, 4),
                      TENGINE_OK);
            ASSERT_EQ(run->prerun(), TENGINE_OK) << tengine_error_message();
            const std::vector<float> data = ramp(static_cast<size_t>(3 * side * side));
            run->feed("x", data.data(), data.size() * sizeof(float));
            ASSERT_EQ(run->run(), TENGINE_OK) << tengine_error_message();
        }
        const std::vector<float> got = ours.outputs(), wanted = reference.outputs();
        ASSERT_EQ(got.size(), wanted.size());
        for (size_t i = 0; i < got.size(); ++i)
            ASSERT_NEAR(got[i], wanted[i], 1e-5F);
    }
}

}  // namespace
}  // namespace tengine::acl
