// SPDX-License-Identifier: Apache-2.0
#include "serializer/synthetic_graph.h"

#include <gtest/gtest.h>
#include <string>

#include "graph/graph.h"
#include "operator/param.h"
#include "operator/registry.h"
#include "tengine/error.h"

namespace tengine::test {

SyntheticGraph::SyntheticGraph() : graph(create_ir_graph(nullptr)) {}

SyntheticGraph::~SyntheticGraph()
{
    destroy_ir_graph(graph);
}

struct node* SyntheticGraph::add(const char* name, int type,
                                 std::initializer_list<struct tensor*> inputs)
{
    struct node* node = create_ir_node(graph, name, type, 0);
    struct tensor* output = create_ir_tensor(graph, name, TENGINE_DT_FP32);
    int place = 0;
    for (struct tensor* input : inputs)
        EXPECT_EQ(set_ir_node_input_tensor(node, place++, input), 0);
    EXPECT_EQ(set_ir_node_output_tensor(node, 0, output), 0);
    return node;
}

struct node* SyntheticGraph::add_input()
{
    struct node* node = add("x", get_op_type("tengine", "InputOp"), {});
    struct tensor* tensor = get_ir_node_output(node, 0);
    const int dims[] = {1, 3, 8, 8};
    tensor->tensor_type = TENSOR_TYPE_INPUT;
    EXPECT_EQ(set_ir_tensor_shape(tensor, dims, 4), 0);
    return node;
}

struct tensor* SyntheticGraph::add_constant(const char* name, std::vector<int> dims, int data_type)
{
    struct node* node = add(name, get_op_type("tengine", "Const"), {});
    struct tensor* tensor = get_ir_node_output(node, 0);
    tensor->tensor_type = TENSOR_TYPE_CONST;
    EXPECT_EQ(set_ir_tensor_data_type(tensor, data_type), 0);
    EXPECT_EQ(set_ir_tensor_shape(tensor, dims.data(), static_cast<int>(dims.size())), 0);
    EXPECT_EQ(allocate_ir_tensor(tensor), 0);
    for (size_t i = 0; i < get_ir_tensor_bytes(tensor); ++i)
        tensor->u8[i] = static_cast<uint8_t>(i * 7 + 1);
    return tensor;
}

void SyntheticGraph::set_borders(const struct node* input, const struct node* output)
{
    EXPECT_EQ(set_ir_graph_output_node(graph, &output->index, 1), 0);
    EXPECT_EQ(set_ir_graph_input_node(graph, &input->index, 1), 0);
}

namespace {

int64_t random_int(const op_field_t& field, std::mt19937& random)
{
    const bool is_ranged = field.minimum != 0 || field.maximum != 0;
    const bool is_byte = field.file_kind == OP_FILE_BYTE;
    const int64_t low = is_ranged ? static_cast<int64_t>(field.minimum) : is_byte ? 0 : -1000000;
    int64_t high = is_byte ? 255 : 1000000;
    if (is_ranged && field.maximum != 0) high = static_cast<int64_t>(field.maximum);
    if (is_ranged && field.minimum < 0) high = static_cast<int64_t>(field.maximum);
    return std::uniform_int_distribution<int64_t>(low, high)(random);
}

float random_float(const op_field_t& field, std::mt19937& random)
{
    const bool is_ranged = field.minimum != 0 || field.maximum != 0;
    const double high = field.maximum != 0 || field.minimum < 0 ? field.maximum : 1e6;
    return static_cast<float>(std::uniform_real_distribution<double>(
        is_ranged ? field.minimum : -1e6, is_ranged ? high : 1e6)(random));
}

int set_random(struct node* node, const op_field_t& field, std::mt19937& random)
{
    // Groups of four suit the anchors, four words the strided fields.
    const size_t number = field.file_kind == OP_FILE_OFFSET ? 1 + random() % 5 : 4;
    switch (field.kind) {
        case OP_FIELD_INT:
            return set_node_int(node, field.name, random_int(field, random));
        case OP_FIELD_FLOAT:
            return set_node_float(node, field.name, random_float(field, random));
        case OP_FIELD_STRING:
            return set_node_text(node, field.name, "text", 4);
        case OP_FIELD_INTS: {
            std::vector<int64_t> values(number);
            for (int64_t& value : values)
                value = random_int(field, random);
            return set_node_ints(node, field.name, values.data(), static_cast<int>(number));
        }
        case OP_FIELD_FLOATS: {
            std::vector<float> values(number);
            for (float& value : values)
                value = random_float(field, random);
            return set_node_floats(node, field.name, values.data(), static_cast<int>(number));
        }
        default:
            return TENGINE_EINVAL;
    }
}

}  // namespace

std::vector<const ir_method_t*> list_written_operators()
{
    std::vector<const ir_method_t*> methods;
    for (int i = 0; i < get_op_method_count(); ++i) {
        const ir_method_t* method = find_op_method_via_index(i);
        if (!method->tengine || method->tengine->id < 0 || method->tengine->type == 33 ||
            method->tengine->type == 14)
            continue;
        methods.push_back(method);
    }
    return methods;
}

int set_random_fields(struct node* node, std::mt19937& random)
{
    const ir_method_t& method = *node->op.method;
    for (int i = 0; i < method.field_num; ++i)
        if (method.fields[i].file_kind != OP_FILE_NOT)
            TENGINE_RETURN_IF_ERROR(set_random(node, method.fields[i], random));
    return 0;
}

}  // namespace tengine::test
