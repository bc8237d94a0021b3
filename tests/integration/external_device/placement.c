// SPDX-License-Identifier: Apache-2.0
// placement <model> <devices> [<operator> | <key>=<value>]...: runs the model three times with the
// devices, best first and separated by commas, before the CPU, with these options, and without.
// Succeeds if all results are equal and the first device got every node of the operators.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tengine/inspect.h"

enum
{
    kInputs = 64,
    kOutputs = 10,
    kRuns = 3
};

static int fail(const char* what)
{
    fprintf(stderr, "%s: %s\n", what, get_tengine_error());
    return -1;
}

static graph_t prepare(context_t context, const char* model, float* pixels)
{
    const int shape[] = {1, 1, 8, 8};
    graph_t graph = create_graph(context, "onnx", model);
    if (!graph) return NULL;
    tensor_t input = get_graph_input_tensor(graph, 0, 0);
    if (set_tensor_shape(input, shape, 4) < 0 ||
        set_tensor_buffer(input, pixels, kInputs * (int)sizeof *pixels) < 0 ||
        prerun_graph(graph) < 0)
        return NULL;
    return graph;
}

static int run(graph_t graph, float* out_values)
{
    if (run_graph(graph, 1) < 0) return -1;
    return get_tensor_data(get_graph_output_tensor(graph, 0, 0), out_values,
                           kOutputs * (int)sizeof *out_values);
}

// Adds the devices in the given order; `devices` is modified.
static int add_devices(context_t context, char* devices)
{
    for (char* name = strtok(devices, ","); name; name = strtok(NULL, ",")) {
        if (set_context_device(context, name, NULL, 0) < 0) return -1;
    }
    return 0;
}

static int set_options(context_t context, char** arguments, int number)
{
    for (int i = 0; i < number; ++i) {
        char* const value = strchr(arguments[i], '=');
        if (!value) continue;
        *value = '\0';
        if (tengine_context_set_option(context, arguments[i], value + 1) < 0) return -1;
        *value = '=';
    }
    return 0;
}

static int are_equal(const float* expected, const float* actual)
{
    for (int i = 0; i < kOutputs; ++i) {
        if (!(fabsf(actual[i] - expected[i]) <= 1e-5f)) {
            fprintf(stderr, "value %d is %g instead of %g\n", i, actual[i], expected[i]);
            return 0;
        }
    }
    return 1;
}

// Returns the number of nodes of `op`, or -1 if one of them is not on `device`.
static int count_nodes_on(graph_t graph, const char* device, const char* op)
{
    int count = 0;
    for (int i = 0; i < tengine_graph_get_execution_node_number(graph); ++i) {
        struct tengine_execution_node node;
        if (tengine_graph_get_execution_node(graph, i, &node) < 0) return fail("execution node");
        if (strcmp(node.op, op) != 0) continue;
        printf("%s %s is on %s\n", node.op, node.name, node.device);
        if (strcmp(node.device, device) != 0) return -1;
        ++count;
    }
    return count;
}

int main(int argc, char** argv)
{
    float pixels[kInputs], expected[kOutputs], actual[kOutputs];
    if (argc < 3) return 2;
    for (int i = 0; i < kInputs; ++i)
        pixels[i] = (float)(i % 7) / 7.0f;

    if (init_tengine() < 0) return fail("init_tengine") != 0;
    context_t context = create_context("placement", 0);
    if (!context || add_devices(context, argv[2]) < 0) return fail(argv[2]) != 0;
    if (set_options(context, argv + 3, argc - 3) < 0) return fail("options") != 0;
    graph_t graph = prepare(context, argv[1], pixels);
    graph_t reference = prepare(NULL, argv[1], pixels);
    if (!graph || !reference) return fail(argv[1]) != 0;
    if (run(reference, expected) < 0) return fail("run on the CPU") != 0;

    for (int i = 3; i < argc; ++i) {
        if (!strchr(argv[i], '=') && count_nodes_on(graph, argv[2], argv[i]) <= 0) {
            fprintf(stderr, "not every %s is on %s\n", argv[i], argv[2]);
            return 1;
        }
    }
    for (int i = 0; i < kRuns; ++i) {
        if (run(graph, actual) < 0) return fail("run") != 0;
        if (!are_equal(expected, actual)) return 1;
    }
    destroy_graph(reference);
    destroy_graph(graph);
    destroy_context(context);
    release_tengine();
    return 0;
}
