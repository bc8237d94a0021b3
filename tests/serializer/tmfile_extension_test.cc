// SPDX-License-Identifier: Apache-2.0
// Nodes without an operator of Tengine's: saved under their ONNX name, loaded unchanged.
#include <cstring>

#include "graph/graph.h"
#include "graph/string_pool.h"
#include "module/module.h"
#include "operator/param.h"
#include "operator/registry.h"
#include "serializer/tmfile/tmfile.h"
#include "serializer/tmfile_model.h"

namespace tengine::test {
namespace {

using TmfileExtensionTest = TmfileTest;

class ExtensionGraph
{
  public:
    explicit ExtensionGraph(const char* op, int opset = 0) : graph(create_ir_graph(nullptr))
    {
        struct node* input = create_ir_node(graph, "x", get_op_type("tengine", "InputOp"), 0);
        x = create_ir_tensor(graph, "x", TENGINE_DT_FP32);
        x->tensor_type = TENSOR_TYPE_INPUT;
        EXPECT_EQ(set_ir_node_output_tensor(input, 0, x), 0);
        node = create_ir_node(graph, "y", get_op_type_by_name(op), opset);
        EXPECT_EQ(set_ir_node_input_tensor(node, 0, x), 0);
        EXPECT_EQ(set_ir_node_output_tensor(node, 0, create_ir_tensor(graph, "y", 0)), 0);
        EXPECT_EQ(set_ir_graph_output_node(graph, &node->index, 1), 0);
        EXPECT_EQ(set_ir_graph_input_node(graph, &input->index, 1), 0);
    }
    ~ExtensionGraph() { destroy_ir_graph(graph); }
    ExtensionGraph(const ExtensionGraph&) = delete;
    ExtensionGraph& operator=(const ExtensionGraph&) = delete;

    void expect_round_trip() const
    {
        const LoadedTmfile again(write_graph(graph));
        ASSERT_EQ(again.status, 0) << again.message;
        EXPECT_EQ(describe_graph(again.graph), describe_graph(graph));
    }

    struct graph* graph;
    struct tensor* x;
    struct node* node;
};

int set_some(struct node* node, const op_field_t& field)
{
    const bool is_ranged = field.minimum != 0 || field.maximum != 0;
    const double number = is_ranged ? (field.maximum != 0 ? field.maximum : field.minimum) : 3;
    const int64_t ints[] = {static_cast<int64_t>(number), static_cast<int64_t>(number)};
    const float floats[] = {static_cast<float>(number), static_cast<float>(number)};
    const char* const texts[] = {"first", ""};
    int values[] = {1, 2, 3, 4, 5, 6};
    const struct op_tensor tensor = {TENGINE_DT_INT32, 2, {2, 3}, sizeof(values), values};
    const std::string choice(field.choices ? field.choices : "words");
    const size_t length = std::min(choice.find('|'), choice.size());
    switch (field.kind) {
        case OP_FIELD_INT:
            return set_node_int(node, field.name, ints[0]);
        case OP_FIELD_FLOAT:
            return set_node_float(node, field.name, floats[0]);
        case OP_FIELD_STRING:
            return set_node_text(node, field.name, choice.data(), length);
        case OP_FIELD_INTS:
            return set_node_ints(node, field.name, ints, 2);
        case OP_FIELD_FLOATS:
            return set_node_floats(node, field.name, floats, 2);
        case OP_FIELD_STRINGS:
            return set_node_texts(node, field.name, texts, 2);
        default:
            return set_node_tensor(node, field.name, &tensor);
    }
}

// Every row of every operator that is not Tengine's, with all its attributes set; those that have
// graphs are in api/control_flow_test.cc.
TEST_F(TmfileExtensionTest, EveryOperatorWithAllAttributes)
{
    int rows = 0;
    for (int i = 0; i < get_op_method_count(); ++i) {
        const ir_method_t* method = find_op_method_via_index(i);
        if (method->tengine || method->bodies) continue;
        const std::string domain = method->domain ? method->domain : "";
        const std::string name = (domain.empty() ? "" : domain + ".") + method->name;
        SCOPED_TRACE(name + " of opset " + std::to_string(method->version));
        ++rows;
        ExtensionGraph made(name.c_str(), method->version);
        made.expect_round_trip();
        for (int k = 0; k < method->field_num; ++k) {
            const op_field_t& field = method->fields[k];
            if (find_op_field(method, field.name, method->version) != &field) continue;
            ASSERT_EQ(set_some(made.node, field), 0) << tengine_error_message();
        }
        made.expect_round_trip();
    }
    std::printf("round trips of %d rows as extension records\n", rows);
    EXPECT_GT(rows, 150);
}

TEST_F(TmfileExtensionTest, AbsentInputsAndOutputs)
{
    ExtensionGraph made("Clip", 13);
    ASSERT_EQ(set_ir_node_input_tensor(made.node, 2, made.x), 0);
    ASSERT_EQ(made.node->input_tensors[1], -1);
    made.expect_round_trip();
    ExtensionGraph outputs("LSTM", 14);
    ASSERT_EQ(set_ir_node_output_tensor(outputs.node, 2, create_ir_tensor(outputs.graph, "c", 0)),
              0);
    ASSERT_EQ(set_ir_graph_output_node(outputs.graph, &outputs.node->index, 1), 0);
    outputs.expect_round_trip();
}

// The original must reject operators that it does not know: its own end at 107.
TEST_F(TmfileExtensionTest, OperatorNumberIsOutsideTheOriginals)
{
    const ExtensionGraph made("Einsum");
    const std::string bytes = write_graph(made.graph);
    const uint32_t type = 0x544e4558;
    const std::string name(reinterpret_cast<const char*>(&type), sizeof(type));
    EXPECT_EQ(name, "XENT");
    EXPECT_NE(bytes.find(name), std::string::npos);
    EXPECT_NE(bytes.find(std::string("Einsum\0", 7)), std::string::npos);
}

TEST_F(TmfileExtensionTest, DamagedExtensionsAreRejected)
{
    ExtensionGraph made("LeakyRelu", 6);
    ASSERT_EQ(set_node_float(made.node, "alpha", 0.25f), 0);
    const std::string bytes = write_graph(made.graph);
    const auto replace = [&bytes](const std::string& from, const std::string& to) {
        std::string changed = bytes;
        changed.replace(bytes.find(from), from.size(), to);
        return changed;
    };
    expect_failure(LoadedTmfile(replace("LeakyRelu", "LeakyRelv")), TENGINE_EOPERATOR,
                   {"'LeakyRelv'", "'y'"});
    expect_failure(LoadedTmfile(replace("float", "floaz")), TENGINE_EFORMAT,
                   {"'alpha'", "'floaz'"});
    expect_failure(LoadedTmfile(replace("alpha", "alphb")), TENGINE_ENOENT, {"'alphb'"});
}

TEST_F(TmfileExtensionTest, StringsComeBackAndAreChecked)
{
    ExtensionGraph made("Equal", 13);
    struct tensor* constant = create_ir_tensor(made.graph, "w", TENGINE_DT_STRING);
    const int dims[] = {2};
    constant->tensor_type = TENSOR_TYPE_CONST;
    ASSERT_EQ(set_ir_tensor_shape(constant, dims, 1), 0);
    ASSERT_EQ(allocate_ir_tensor(constant), 0);
    auto** texts = static_cast<const char**>(constant->data);
    ASSERT_EQ(keep_ir_string(made.graph, "abc", 3, &texts[0]), 0);
    ASSERT_EQ(keep_ir_string(made.graph, "", 0, &texts[1]), 0);
    ASSERT_EQ(set_ir_node_input_tensor(made.node, 1, constant), 0);
    const std::string bytes = write_graph(made.graph);
    const LoadedTmfile again(bytes);
    ASSERT_EQ(again.status, 0) << again.message;
    const auto* read = static_cast<const char* const*>(again.tensor("w")->data);
    EXPECT_STREQ(read[0], "abc");
    EXPECT_STREQ(read[1], "");

    const std::string first("\3\0\0\0abc", 7);
    const auto with = [&](const std::string& other) {
        std::string changed = bytes;
        return changed.replace(bytes.find(first), first.size(), other);
    };
    expect_failure(LoadedTmfile(with(std::string("\x7f\0\0\0abc", 7))), TENGINE_EFORMAT,
                   {"string 0 has 127 bytes, 7 are left"});
    expect_failure(LoadedTmfile(with(std::string("\2\0\0\0abc", 7))), TENGINE_EFORMAT,
                   {"'w'", "string 1"});
    expect_failure(LoadedTmfile(with(std::string("\3\0\0\0a\xff"
                                                 "c",
                                                 7))),
                   TENGINE_EINVAL, {"'w'", "is not UTF-8"});
    expect_failure(LoadedTmfile(with(std::string("\3\0\0\0a\0c", 7))), TENGINE_EINVAL,
                   {"'w'", "is NUL"});
}

}  // namespace
}  // namespace tengine::test
