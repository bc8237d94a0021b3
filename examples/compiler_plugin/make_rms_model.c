// SPDX-License-Identifier: Apache-2.0
// Makes a model for ACME: x of 4x16; h = x * 0.5 - 0.25; n = h / sqrt(mean(h * h) + 1e-5);
// y = tanh(n) + x.
#include <stdint.h>
#include <stdio.h>

#include "tengine/c_api.h"

static int failed;

static tensor_t add(graph_t graph, const char* name, const char* op, tensor_t a, tensor_t b)
{
    node_t node = create_graph_node(graph, name, op);
    tensor_t output = create_graph_tensor(graph, name, TENGINE_DT_FP32);
    if (set_node_output_tensor(node, 0, output, a ? TENSOR_TYPE_VAR : TENSOR_TYPE_INPUT) < 0 ||
        (a && set_node_input_tensor(node, 0, a) < 0) ||
        (b && set_node_input_tensor(node, 1, b) < 0))
        failed = 1;
    return output;
}

static tensor_t add_constant(graph_t graph, const char* name, int data_type, int number,
                             const void* data, int size)
{
    node_t node = create_graph_node(graph, name, "Const");
    tensor_t output = create_graph_tensor(graph, name, data_type);
    if (set_node_output_tensor(node, 0, output, TENSOR_TYPE_CONST) < 0 ||
        set_tensor_shape(output, &number, 1) < 0 || set_tensor_data(output, data, size) < 0)
        failed = 1;
    return output;
}

static int make_model(graph_t graph, const char* path)
{
    const int dims[] = {4, 16};
    const float quarter = 0.25f, epsilon = 1e-5f;
    const int64_t last = -1;
    float half[16];
    for (int i = 0; i < 16; ++i)
        half[i] = 0.5f;
    tensor_t x = add(graph, "x", "InputOp", NULL, NULL);
    if (set_tensor_shape(x, dims, 2) < 0) failed = 1;
    tensor_t scale = add_constant(graph, "scale", TENGINE_DT_FP32, 16, half, sizeof half);
    tensor_t shift = add_constant(graph, "shift", TENGINE_DT_FP32, 1, &quarter, sizeof quarter);
    tensor_t axes = add_constant(graph, "axes", TENGINE_DT_INT64, 1, &last, sizeof last);
    tensor_t small = add_constant(graph, "epsilon", TENGINE_DT_FP32, 1, &epsilon, sizeof epsilon);
    tensor_t h = add(graph, "h", "Sub", add(graph, "scaled", "Mul", x, scale), shift);
    tensor_t mean = add(graph, "mean", "ReduceMean", add(graph, "square", "Mul", h, h), axes);
    tensor_t root = add(graph, "root", "Sqrt", add(graph, "sum", "Add", mean, small), NULL);
    tensor_t n = add(graph, "n", "Div", h, root);
    add(graph, "y", "Add", add(graph, "tanh", "Tanh", n, NULL), x);
    const char* inputs[] = {"x"};
    const char* outputs[] = {"y"};
    if (failed || set_graph_input_node(graph, inputs, 1) < 0 ||
        set_graph_output_node(graph, outputs, 1) < 0)
        return -1;
    return save_graph(graph, "onnx", path);
}

int main(int argc, char** argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: make_rms_model FILE.onnx\n");
        return 2;
    }
    if (init_tengine() < 0) return 1;
    graph_t graph = create_graph(NULL, NULL, NULL);
    const int status = graph ? make_model(graph, argv[1]) : -1;
    if (status < 0) fprintf(stderr, "%s\n", get_tengine_error());
    release_tengine();
    return status < 0;
}
