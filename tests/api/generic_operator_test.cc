// SPDX-License-Identifier: Apache-2.0
// Operators that are not known: built by hand and from files, their attributes, and the custom
// kernels they need.
#include "kernel_recorder.h"
#include "onnx_bytes.h"
#include "tengine/inspect.h"

namespace tengine {
namespace {

using GenericOperatorTest = CustomKernelTest;

graph_t create_generic_graph()
{
    const graph_t net = create_graph(nullptr, nullptr, nullptr);
    const tensor_t a = add_input(net, "a", {2, 3});
    const tensor_t b = add_input(net, "b", {3});
    if (!add_node(net, "mix", "Generic", {a, b})) return nullptr;
    const node_t mix = get_graph_node(net, "mix");
    const tensor_t second = create_graph_tensor(net, "mix2", TENGINE_DT_FP32);
    const char name[] = "com.example.Mix";
    if (set_node_output_tensor(mix, 1, second, TENSOR_TYPE_VAR) != 0 ||
        set_node_attr_generic(mix, "op_name", "string", name, sizeof name) != 0)
        return nullptr;
    return set_borders(net, {"a", "b"}, {"mix"}) ? net : nullptr;
}

TEST_F(GenericOperatorTest, AnUnknownOperatorNeedsAKernel)
{
    const graph_t net = create_generic_graph();
    ASSERT_NE(net, nullptr) << get_tengine_error();
    EXPECT_EQ(prerun_graph(net), -1);
    EXPECT_EQ(get_tengine_errno(), TENGINE_EOPERATOR);
    EXPECT_EQ(
        last_error(),
        "operator 'com.example.Mix' of node 'mix' is unknown: register a custom operator with "
        "tengine_op_register, or set a kernel with set_custom_kernel");
    const node_t mix = get_graph_node(net, "mix");
    ASSERT_EQ(set_custom_kernel(mix, "CPU", &kernel.ops), 0);
    EXPECT_EQ(prerun_graph(net), -1);
    EXPECT_NE(last_error().find("needs the function infer_shape"), std::string::npos);
    kernel.ops.infer_shape = infer_like_input;
    ASSERT_TRUE(write_floats(get_graph_tensor(net, "a"), {1, 2, 3, 4, 5, 6}));
    ASSERT_TRUE(write_floats(get_graph_tensor(net, "b"), {10, 20, 30}));
    ASSERT_EQ(prerun_graph(net), 0) << get_tengine_error();
    ASSERT_EQ(run_graph(net, 1), 0) << get_tengine_error();
    EXPECT_EQ(read_floats(get_graph_tensor(net, "mix")),
              (std::vector<float>{23, 45, 67, 29, 51, 73}));
    EXPECT_EQ(read_floats(get_graph_tensor(net, "mix2")).size(), 12u);
    tengine_execution_node placed;
    ASSERT_EQ(tengine_graph_get_execution_node(net, 0, &placed), 0);
    EXPECT_STREQ(placed.op, "com.example.Mix");
    // No other device supports it.
    kernel.results["bind"] = -1;
    EXPECT_EQ(prerun_graph(net), -1);
    EXPECT_NE(last_error().find("com.example.Mix 'mix': bind"), std::string::npos);
    kernel.results = {{"infer_shape", -1}};
    EXPECT_EQ(prerun_graph(net), -1);
    EXPECT_NE(last_error().find("com.example.Mix 'mix': infer_shape"), std::string::npos);
}

TEST_F(GenericOperatorTest, KernelsForUnknownOperatorsGoByAnyOfTheirNames)
{
    const graph_t net = create_generic_graph();
    const node_t mix = get_graph_node(net, "mix");
    for (const char* name : {"com.example.Mix", "Mix", "Generic"}) {
        kernel.ops.op = name;
        EXPECT_EQ(set_custom_kernel(mix, "CPU", &kernel.ops), 0) << name;
        EXPECT_EQ(remove_custom_kernel(mix, "CPU"), 0);
    }
    kernel.ops.op = "example.Mix";
    EXPECT_EQ(set_custom_kernel(mix, "CPU", &kernel.ops), -1);
    EXPECT_NE(last_error().find("'com.example.Mix'"), std::string::npos);
}

// A dimension of an output may not be negative.
TEST_F(GenericOperatorTest, BadShapesAreAnError)
{
    const graph_t net = create_generic_graph();
    kernel.ops.infer_shape = [](custom_kernel_ops*, const int*[], int, int* outputs[], int, int) {
        outputs[0][0] = 2;
        outputs[0][1] = -3;
        return 0;
    };
    ASSERT_EQ(set_custom_kernel(get_graph_node(net, "mix"), "CPU", &kernel.ops), 0);
    EXPECT_EQ(prerun_graph(net), -1);
    EXPECT_NE(last_error().find("gave output 0 the dimension -3"), std::string::npos);
}

TEST_F(GenericOperatorTest, AddedAttributesBelongToTheNode)
{
    const graph_t net = create_generic_graph();
    const node_t mix = get_graph_node(net, "mix");
    ASSERT_EQ(add_node_attr(mix, "level", "int", sizeof(int)), 0) << get_tengine_error();
    ASSERT_EQ(add_node_attr(mix, "gain", "float", sizeof(float)), 0);
    ASSERT_EQ(add_node_attr(mix, "mode", "string", 0), 0);
    ASSERT_EQ(add_node_attr(mix, "steps", "int[]", 0), 0);
    ASSERT_EQ(add_node_attr(mix, "table", "float[]", 0), 0);
    ASSERT_EQ(add_node_attr(mix, "words", "string[]", 0), 0);
    EXPECT_EQ(add_node_attr(mix, "level", "float", 4), -1);
    EXPECT_TRUE(failed_with(TENGINE_EEXIST));
    EXPECT_EQ(add_node_attr(mix, "other", "double", 8), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    int level = -1;
    ASSERT_EQ(get_node_attr_int(mix, "level", &level), 0);
    EXPECT_EQ(level, 0);
    level = 5;
    const float gain = 0.5f, table[] = {1, 2};
    const int steps[] = {3, 4, 5};
    const char* words[] = {"one", "two"};
    ASSERT_EQ(set_node_attr_int(mix, "level", &level), 0);
    ASSERT_EQ(set_node_attr_float(mix, "gain", &gain), 0);
    ASSERT_EQ(set_node_attr_generic(mix, "mode", "string", "fast", 5), 0);
    ASSERT_EQ(set_node_attr_generic(mix, "steps", "int[]", steps, sizeof steps), 0);
    ASSERT_EQ(set_node_attr_generic(mix, "table", "float[]", table, sizeof table), 0);
    ASSERT_EQ(set_node_attr_generic(mix, "words", "string[]", words, sizeof words), 0);
    // Values stay after more are added, and after the graph is prepared.
    ASSERT_EQ(add_node_attr(mix, "late", "int", 4), 0);
    kernel.ops.infer_shape = infer_like_input;
    ASSERT_EQ(set_custom_kernel(mix, "CPU", &kernel.ops), 0);
    ASSERT_EQ(prerun_graph(net), 0) << get_tengine_error();
    level = 0;
    ASSERT_EQ(get_node_attr_int(mix, "level", &level), 0);
    EXPECT_EQ(level, 5);
    char mode[8] = {};
    ASSERT_EQ(get_node_attr_generic(mix, "mode", "string", mode, sizeof mode), 0);
    EXPECT_STREQ(mode, "fast");
    EXPECT_EQ(tengine_node_get_attr_number(mix, "steps"), 3);
    const char* read[2] = {};
    ASSERT_EQ(get_node_attr_generic(mix, "words", "string[]", read, sizeof read), 0);
    EXPECT_STREQ(read[1], "two");
    EXPECT_EQ(get_node_attr_int(mix, "nothing", &level), -1);
    EXPECT_NE(last_error().find("level"), std::string::npos);
    take_logged_failures();
    // Other operators have fixed attributes.
    EXPECT_EQ(add_node_attr(node, "mine", "int", 4), -1);
    EXPECT_TRUE(failed_with(TENGINE_ENOTSUP));
}

TEST_F(GenericOperatorTest, ANodeHasRoomForManyAttributesButNotForAny)
{
    const graph_t net = create_generic_graph();
    const node_t mix = get_graph_node(net, "mix");
    int added = 0;
    while (added < 5000 &&
           add_node_attr(mix, ("a" + std::to_string(added)).c_str(), "int[]", 0) == 0)
        ++added;
    EXPECT_GT(added, 500);
    EXPECT_LT(added, 5000);
    EXPECT_TRUE(failed_with(TENGINE_ELIMIT));
}

// y = com.example.Fancy(x), x float [4]; opset 13 and version 3 of the domain.
std::string make_fancy_model(int output_type)
{
    const auto text = [](const std::string& value) { return value; };
    Message level, gain, mode, steps, node_message, graph_message, model;
    level.bytes(1, "level").number(3, 7).number(20, 2);
    mode.bytes(1, "mode").bytes(4, "soft").number(20, 3);
    steps.bytes(1, "steps").number(8, 4).number(8, 9).number(20, 7);
    node_message.bytes(1, "x").bytes(2, "y").bytes(3, "fancy").bytes(4, "Fancy");
    node_message.bytes(5, level.text()).bytes(5, mode.text()).bytes(5, steps.text());
    node_message.bytes(7, "com.example");
    const auto value = [](const char* name, int type) {
        Message dim, shape, tensor, type_message, info;
        dim.number(1, 4);
        shape.bytes(1, dim.text());
        tensor.number(1, static_cast<uint64_t>(type)).bytes(2, shape.text());
        type_message.bytes(1, tensor.text());
        info.bytes(1, name).bytes(2, type_message.text());
        return info.text();
    };
    graph_message.bytes(1, node_message.text()).bytes(2, "fancy graph");
    graph_message.bytes(11, value("x", 1)).bytes(12, value("y", output_type));
    Message onnx, own;
    onnx.bytes(1, "").number(2, 13);
    own.bytes(1, "com.example").number(2, 3);
    model.number(1, 8).bytes(7, graph_message.text()).bytes(8, onnx.text()).bytes(8, own.text());
    return text(model.text());
}

TEST_F(GenericOperatorTest, UnknownOperatorsOfAFile)
{
    const std::string bytes = make_fancy_model(1);
    const graph_t net =
        create_graph(nullptr, "onnx:m", bytes.data(), static_cast<int>(bytes.size()));
    ASSERT_NE(net, nullptr) << get_tengine_error();
    const node_t fancy = get_graph_node(net, "fancy");
    ASSERT_NE(fancy, nullptr);
    EXPECT_STREQ(get_node_op(fancy), "Generic");
    char text[32];
    ASSERT_EQ(get_node_attr_generic(fancy, "op_name", "string", text, sizeof text), 0);
    EXPECT_STREQ(text, "com.example.Fancy");
    int level = 0, steps[2] = {};
    ASSERT_EQ(get_node_attr_int(fancy, "level", &level), 0);
    EXPECT_EQ(level, 7);
    ASSERT_EQ(get_node_attr_generic(fancy, "mode", "string", text, sizeof text), 0);
    EXPECT_STREQ(text, "soft");
    ASSERT_EQ(get_node_attr_generic(fancy, "steps", "int[]", steps, sizeof steps), 0);
    EXPECT_EQ(steps[1], 9);
    EXPECT_EQ(prerun_graph(net), -1);
    EXPECT_TRUE(failed_with(TENGINE_EOPERATOR));
    kernel.ops.op = "Fancy";
    kernel.ops.infer_shape = infer_like_input;
    ASSERT_EQ(set_custom_kernel(fancy, "CPU", &kernel.ops), 0) << get_tengine_error();
    ASSERT_TRUE(write_floats(get_graph_input_tensor(net, 0, 0), {0, 1, 2, 3}));
    ASSERT_EQ(prerun_graph(net), 0) << get_tengine_error();
    ASSERT_EQ(run_graph(net, 1), 0) << get_tengine_error();
    EXPECT_EQ(read_floats(get_graph_output_tensor(net, 0, 0)), (std::vector<float>{1, 3, 5, 7}));
}

TEST_F(GenericOperatorTest, TheFileTellsTheTypesOfUnknownOutputs)
{
    const std::string bytes = make_fancy_model(7);
    const graph_t net =
        create_graph(nullptr, "onnx:m", bytes.data(), static_cast<int>(bytes.size()));
    ASSERT_NE(net, nullptr) << get_tengine_error();
    EXPECT_EQ(get_tensor_data_type(get_graph_output_tensor(net, 0, 0)), TENGINE_DT_INT64);
    kernel.ops.infer_shape = infer_like_input;
    ASSERT_EQ(set_custom_kernel(get_graph_node(net, "fancy"), "CPU", &kernel.ops), 0);
    ASSERT_EQ(prerun_graph(net), 0) << get_tengine_error();
    EXPECT_EQ(kernel.outputs[0].data_type, TENGINE_DT_INT64);
    EXPECT_EQ(kernel.outputs[0].element_size, 8);
}

}  // namespace
}  // namespace tengine
