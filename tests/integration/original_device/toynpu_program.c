// SPDX-License-Identifier: Apache-2.0
// toynpu_program <file>: builds a small network of Tengine's operators, writes it as the tmfile
// <file>, and runs that on the device TOYNPU and on the CPU. Succeeds when results are equal and
// each node is where it has to be: the chip has neither groups nor Sigmoid.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tengine/inspect.h"

enum
{
    kChannels = 2,
    kSize = kChannels * 4 * 4,
    kWeights = kChannels * kChannels * 3 * 3,
    kRuns = 3
};

static int fail(const char* what)
{
    fprintf(stderr, "%s: %s\n", what, get_tengine_error());
    return -1;
}

// A node with one tensor of its own name.
static node_t add_node(graph_t graph, const char* name, const char* op, int type, const int* dims)
{
    node_t node = create_graph_node(graph, name, op);
    tensor_t tensor = create_graph_tensor(graph, name, TENGINE_DT_FP32);
    if (node == NULL || tensor == NULL) return NULL;
    if (set_node_output_tensor(node, 0, tensor, type) < 0) return NULL;
    return dims != NULL && set_tensor_shape(tensor, dims, 4) < 0 ? NULL : node;
}

static int connect(graph_t graph, const char* node, int index, const char* tensor)
{
    return set_node_input_tensor(get_graph_node(graph, node), index,
                                 get_graph_tensor(graph, tensor));
}

static int add_conv(graph_t graph, const char* name, const char* data, const char* weight,
                    int group, int activation)
{
    static float weights[kWeights];
    const int dims[] = {kChannels, kChannels / group, 3, 3};
    const int bytes = kWeights / group * (int)sizeof *weights;
    const int three = 3, one = 1, channels = kChannels;
    for (int i = 0; i < kWeights; ++i)
        weights[i] = (float)(i % 5 - 2);
    node_t node = add_node(graph, name, "Convolution", TENSOR_TYPE_VAR, NULL);
    if (node == NULL || !add_node(graph, weight, "Const", TENSOR_TYPE_CONST, dims)) return -1;
    if (set_tensor_buffer(get_graph_tensor(graph, weight), weights, bytes) < 0) return -1;
    const char* const pads[] = {"pad_h0", "pad_h1", "pad_w0", "pad_w1"};
    for (int i = 0; i < 4; ++i) {
        if (set_node_attr_int(node, pads[i], &one) < 0) return -1;
    }
    if (set_node_attr_int(node, "kernel_h", &three) < 0 ||
        set_node_attr_int(node, "kernel_w", &three) < 0 ||
        set_node_attr_int(node, "output_channel", &channels) < 0 ||
        set_node_attr_int(node, "group", &group) < 0 ||
        set_node_attr_int(node, "activation", &activation) < 0)
        return -1;
    return connect(graph, name, 0, data) < 0 ? -1 : connect(graph, name, 1, weight);
}

// data → whole (with ReLU) → grouped → sum with whole → relu → sigmoid
static int write_model(const char* path)
{
    const int dims[] = {1, kChannels, 4, 4}, sum = 2;
    const char* inputs[] = {"data"};
    const char* outputs[] = {"sigmoid"};
    graph_t graph = create_graph(NULL, NULL, NULL);
    if (!add_node(graph, "data", "InputOp", TENSOR_TYPE_INPUT, dims) ||
        add_conv(graph, "whole", "data", "whole_w", 1, 0) < 0 ||
        add_conv(graph, "grouped", "whole", "grouped_w", 2, -1) < 0 ||
        !add_node(graph, "sum", "Eltwise", TENSOR_TYPE_VAR, NULL) ||
        !add_node(graph, "relu", "ReLU", TENSOR_TYPE_VAR, NULL) ||
        !add_node(graph, "sigmoid", "Sigmoid", TENSOR_TYPE_VAR, NULL))
        return fail("nodes");
    if (set_node_attr_int(get_graph_node(graph, "sum"), "type", &sum) < 0 ||
        connect(graph, "sum", 0, "grouped") < 0 || connect(graph, "sum", 1, "whole") < 0 ||
        connect(graph, "relu", 0, "sum") < 0 || connect(graph, "sigmoid", 0, "relu") < 0 ||
        set_graph_input_node(graph, inputs, 1) < 0 || set_graph_output_node(graph, outputs, 1) < 0)
        return fail("edges");
    if (save_graph(graph, "tengine", path) < 0) return fail(path);
    return destroy_graph(graph);
}

static int run(graph_t graph, const float* data, float* out_values)
{
    if (set_tensor_data(get_graph_input_tensor(graph, 0, 0), data, kSize * (int)sizeof *data) < 0)
        return fail("set_tensor_data");
    if (run_graph(graph, 1) < 0) return fail("run_graph");
    return get_tensor_data(get_graph_output_tensor(graph, 0, 0), out_values,
                           kSize * (int)sizeof *out_values);
}

static int is_on(graph_t graph, const char* op, const char* name, const char* device)
{
    for (int i = 0; i < tengine_graph_get_execution_node_number(graph); ++i) {
        struct tengine_execution_node node;
        if (tengine_graph_get_execution_node(graph, i, &node) < 0) return 0;
        if (strcmp(node.op, op) != 0 || strstr(node.name, name) == NULL) continue;
        printf("%s %s is on %s\n", node.op, node.name, node.device);
        return strcmp(node.device, device) == 0;
    }
    fprintf(stderr, "there is no %s %s\n", op, name);
    return 0;
}

static int is_placed(graph_t graph)
{
    return is_on(graph, "Conv", "whole", "TOYNPU") && is_on(graph, "Relu", "whole", "TOYNPU") &&
           is_on(graph, "Conv", "grouped", "CPU") && is_on(graph, "Add", "sum", "TOYNPU") &&
           is_on(graph, "Relu", "relu", "TOYNPU") && is_on(graph, "Sigmoid", "sigmoid", "CPU");
}

// New values in each run, between 0.5 and 1 after the Sigmoid, not all alike.
static int compare(graph_t graph, graph_t reference)
{
    float data[kSize], expected[kSize], actual[kSize];
    for (int k = 0; k < kRuns; ++k) {
        for (int i = 0; i < kSize; ++i)
            data[i] = (float)((i * 7 + k) % 9 - 4) / 64.0f;
        if (run(reference, data, expected) < 0 || run(graph, data, actual) < 0) return -1;
        int above = 0;
        for (int i = 0; i < kSize; ++i) {
            above += expected[i] > 0.5f;
            if (!(fabsf(actual[i] - expected[i]) <= 1e-5f)) {
                fprintf(stderr, "value %d is %g instead of %g\n", i, actual[i], expected[i]);
                return -1;
            }
        }
        if (above == 0 || above == kSize) return fail("the values say nothing");
    }
    return 0;
}

int main(int argc, char** argv)
{
    if (argc != 2) return 2;
    if (init_tengine() < 0) return fail("init_tengine") != 0;
    if (write_model(argv[1]) < 0) return 1;
    context_t context = create_context("anything", 1);
    if (set_context_device(context, "TOYNPU", NULL, 0) < 0) return fail("TOYNPU") != 0;
    graph_t graph = create_graph(context, "tengine", argv[1]);
    graph_t reference = create_graph(NULL, "tengine", argv[1]);
    for (int round = 0; round < 2; ++round) {
        if (prerun_graph(graph) < 0 || prerun_graph(reference) < 0) return fail("prerun") != 0;
        if (!is_placed(graph) || compare(graph, reference) < 0) return 1;
        postrun_graph(graph);
    }
    destroy_graph(reference);
    destroy_graph(graph);
    destroy_context(context);
    release_tengine();
    return 0;
}
