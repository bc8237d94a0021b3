// SPDX-License-Identifier: Apache-2.0
// Makes a model with the operator: y = Relu(com.example.OffsetAtan(x)), x of shape 1x8, offset 0.5.
// A node with an unknown operator is a "Generic" with the operator's name.
#include <stdio.h>
#include <string.h>

#include "tengine/c_api.h"

static tensor_t add_node(graph_t graph, const char* name, const char* op, tensor_t input)
{
    node_t node = create_graph_node(graph, name, op);
    tensor_t output = create_graph_tensor(graph, name, TENGINE_DT_FP32);
    if (!node || !output || (input && set_node_input_tensor(node, 0, input) < 0) ||
        set_node_output_tensor(node, 0, output, input ? TENSOR_TYPE_VAR : TENSOR_TYPE_INPUT) < 0)
        return NULL;
    return output;
}

static int name_operator(graph_t graph)
{
    static const char op[] = "com.example.OffsetAtan";
    const float offset = 0.5f;
    node_t node = get_graph_node(graph, "atan");
    return set_node_attr_generic(node, "op_name", "string", op, sizeof op) == 0 &&
                   add_node_attr(node, "offset", "float", sizeof offset) == 0
               ? set_node_attr_float(node, "offset", &offset)
               : -1;
}

static int make_model(graph_t graph, const char* path)
{
    const int dims[] = {1, 8};
    const char* inputs[] = {"x"};
    const char* outputs[] = {"y"};
    tensor_t x = add_node(graph, "x", "InputOp", NULL);
    tensor_t atan = add_node(graph, "atan", "Generic", x);
    tensor_t y = add_node(graph, "y", "Relu", atan);
    if (!x || !atan || !y || set_tensor_shape(x, dims, 2) < 0 || name_operator(graph) < 0)
        return -1;
    if (set_graph_input_node(graph, inputs, 1) < 0 || set_graph_output_node(graph, outputs, 1) < 0)
        return -1;
    return save_graph(graph, "onnx", path);
}

int main(int argc, char** argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: make_offset_atan FILE.onnx\n");
        return 2;
    }
    if (init_tengine() < 0) return 1;
    graph_t graph = create_graph(NULL, NULL, NULL);
    const int status = graph ? make_model(graph, argv[1]) : -1;
    if (status < 0) fprintf(stderr, "%s\n", get_tengine_error());
    release_tengine();
    return status < 0;
}
