// SPDX-License-Identifier: Apache-2.0
// Custom operators in graphs that stay prepared for recurring shapes.
#include <algorithm>
#include <utility>

#include "onnx_bytes.h"
#include "op_model.h"

namespace tengine {
namespace {

using Calls = std::vector<std::string>;

class CustomOpShapesTest : public CustomOpTest
{
  protected:
    static void reshape(graph_t graph, int size)
    {
        ASSERT_EQ(set_tensor_shape(get_graph_tensor(graph, "x"), &size, 1), 0);
        ASSERT_EQ(prerun_graph(graph), 0) << get_tengine_error();
    }

    Calls take_calls() { return std::exchange(shift_op.calls, {}); }
};

// y = x + number of elements, which prepare keeps in the state, by way of temporaries of the same
// length.
int note_elements(void*, tengine_op_context_t* context)
{
    const tengine_op_tensor_t* x = tengine_op_input(context, 0);
    const auto elements = static_cast<float>(tengine_op_tensor_elements(x));
    *static_cast<float*>(tengine_op_state(context)) = elements;
    EXPECT_EQ(tengine_op_request_temporary(context, tengine_op_tensor_bytes(x)), 0);
    return tengine_op_set_output_like(context, 0, x);
}

int shift_by_way_of_temporary(void*, tengine_op_context_t* context)
{
    std::fill_n(static_cast<char*>(tengine_op_temporary(context, 0)),
                tengine_op_tensor_bytes(tengine_op_input(context, 0)), '\1');
    return shift(context);
}

// A kept preparation leaves prepare to its first run: prerun_graph itself makes no call.
TEST_F(CustomOpShapesTest, AKnownShapeIsNotCompiledAgain)
{
    shift_op.prepare = note_elements;
    shift_op.invoke = shift_by_way_of_temporary;
    ASSERT_TRUE(register_shift_op(&shift_op));
    const graph_t graph = load();
    for (const int size : {4, 700, 7}) {
        reshape(graph, size);
        EXPECT_EQ(shift_op.count("prepare"), 1);
        take_calls();
    }
    for (const int size : {700, 4, 4, 7, 700}) {
        const auto number = static_cast<size_t>(size);
        reshape(graph, size);
        EXPECT_EQ(take_calls(), Calls());
        ASSERT_TRUE(write_floats(get_graph_tensor(graph, "x"), std::vector<float>(number, 1)));
        for (int run = 0; run < 2; ++run) {
            ASSERT_EQ(run_graph(graph, 1), 0) << get_tengine_error();
            EXPECT_EQ(result(graph), std::vector<float>(number, static_cast<float>(size) + 1));
        }
        EXPECT_LE(shift_op.count("prepare"), 1);
        EXPECT_EQ(shift_op.count("invoke"), 2);
        take_calls();
    }
}

// After a failure of the other shape's prepare, this shape uses none of its state.
TEST_F(CustomOpShapesTest, AFailedPreparationIsNotUsed)
{
    shift_op.prepare = note_elements;
    ASSERT_TRUE(register_shift_op(&shift_op));
    const graph_t graph = load();
    reshape(graph, 4);
    reshape(graph, 5);
    reshape(graph, 4);
    shift_op.failing = "prepare";
    shift_op.code = -1;
    ASSERT_TRUE(write_floats(get_graph_tensor(graph, "x"), {0, 0, 0, 0}));
    EXPECT_EQ(run_graph(graph, 1), -1);
    EXPECT_TRUE(failed_with(TENGINE_EDEVICE));
    shift_op.failing = "";
    ASSERT_EQ(run_graph(graph, 1), 0) << get_tengine_error();
    EXPECT_EQ(result(graph), (std::vector<float>{4, 4, 4, 4}));
}

// y = Shift(w, Shape(x)): the shape of x reaches the operator as the value of a constant.
graph_t load_shape_reader()
{
    Message shape, node, graph, onnx, own, bytes;
    const auto add_input = [&](const char* name, uint64_t size) {
        Message dims, tensor, type, info;
        dims.bytes(1, Message().number(1, size).text());
        tensor.number(1, 1).bytes(2, dims.text());
        type.bytes(1, tensor.text());
        graph.bytes(11, info.bytes(1, name).bytes(2, type.text()).text());
    };
    shape.bytes(1, "x").bytes(2, "s").bytes(3, "shape").bytes(4, "Shape");
    node.bytes(1, "w").bytes(1, "s").bytes(2, "y").bytes(3, "shift").bytes(4, "Shift");
    node.bytes(7, "com.example");
    graph.bytes(1, shape.text()).bytes(1, node.text()).bytes(2, "shape reader");
    add_input("x", 4);
    add_input("w", 2);
    graph.bytes(12, Message().bytes(1, "y").text());
    onnx.bytes(1, "").number(2, 13);
    own.bytes(1, "com.example").number(2, 3);
    bytes.number(1, 8).bytes(7, graph.text()).bytes(8, onnx.text()).bytes(8, own.text());
    return create_graph(nullptr, "onnx:m", bytes.text().data(),
                        static_cast<int>(bytes.text().size()));
}

int note_constant(void*, tengine_op_context_t* context)
{
    const auto* s =
        static_cast<const int64_t*>(tengine_op_tensor_data(tengine_op_input(context, 1)));
    if (!s) return tengine_op_report(context, TENGINE_EINVAL, "'s' is not constant");
    *static_cast<float*>(tengine_op_state(context)) = static_cast<float>(*s);
    return tengine_op_set_output_like(context, 0, tengine_op_input(context, 0));
}

TEST_F(CustomOpShapesTest, ConstantsOfAKnownShapeArePreparedAgain)
{
    shift_op.prepare = note_constant;
    ASSERT_TRUE(register_shift_op(&shift_op));
    const graph_t graph = load_shape_reader();
    ASSERT_NE(graph, nullptr) << get_tengine_error();
    for (const int size : {4, 6, 4, 6, 6}) {
        reshape(graph, size);
        ASSERT_TRUE(write_floats(get_graph_tensor(graph, "w"), {1, 2}));
        ASSERT_TRUE(write_floats(get_graph_tensor(graph, "x"),
                                 std::vector<float>(static_cast<size_t>(size))));
        ASSERT_EQ(run_graph(graph, 1), 0) << get_tengine_error();
        const auto offset = static_cast<float>(size);
        EXPECT_EQ(result(graph), (std::vector<float>{offset + 1, offset + 2}));
    }
}

}  // namespace
}  // namespace tengine
