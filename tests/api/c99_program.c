// SPDX-License-Identifier: Apache-2.0
// The life of a graph in C99, with the call sequence that programs written for Tengine Lite use:
// build by hand, prepare, run, read, release; y = Conv(x, w), with 2 output channels.
#include "c99_program.h"

#include <string.h>

// The other spelling of "tengine/c_api.h", which programs of Tengine Lite use.
#include "api/c_api.h"

#define REQUIRE(condition) \
    if (!(condition)) return #condition

static tensor_t add_tensor(graph_t graph, const char* name, const char* op, int tensor_type,
                           const int* dims, int dim_number)
{
    node_t node = create_graph_node(graph, name, op);
    tensor_t tensor = create_graph_tensor(graph, name, TENGINE_DT_FP32);
    if (set_node_output_tensor(node, 0, tensor, tensor_type) != 0) return NULL;
    if (dim_number > 0 && set_tensor_shape(tensor, dims, dim_number) != 0) return NULL;
    return tensor;
}

static const char* build(graph_t graph, float* weights, int weight_size)
{
    const int x_dims[] = {1, 1, 3, 3};
    const int w_dims[] = {2, 1, 3, 3};
    const int pads[] = {1, 1, 1, 1};
    const char* input_nodes[] = {"x"};
    const char* output_nodes[] = {"y"};
    tensor_t x = add_tensor(graph, "x", "InputOp", TENSOR_TYPE_INPUT, x_dims, 4);
    tensor_t w = add_tensor(graph, "w", "Const", TENSOR_TYPE_CONST, w_dims, 4);
    tensor_t y = add_tensor(graph, "y", "Conv", TENSOR_TYPE_VAR, NULL, 0);
    node_t conv = get_graph_node(graph, "y");
    REQUIRE(x && w && y);
    REQUIRE(get_tensor_buffer_size(w) == weight_size);
    REQUIRE(set_tensor_buffer(w, weights, weight_size) == 0);
    REQUIRE(set_node_input_tensor(conv, 0, x) == 0);
    REQUIRE(set_node_input_tensor(conv, 1, w) == 0);
    REQUIRE(set_node_attr_generic(conv, "pads", "int[]", pads, sizeof pads) == 0);
    REQUIRE(set_graph_input_node(graph, input_nodes, 1) == 0);
    REQUIRE(set_graph_output_node(graph, output_nodes, 1) == 0);
    return NULL;
}

// The first filter picks the centre, the second sums up all.
static const char* run(graph_t graph)
{
    float data[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    int dims[MAX_SHAPE_DIM_NUM];
    struct options opt;
    tensor_t x = get_graph_input_tensor(graph, 0, 0);
    tensor_t y = get_graph_output_tensor(graph, 0, 0);
    const float* result;
    opt.num_thread = 1;
    opt.cluster = TENGINE_CLUSTER_ALL;
    opt.precision = TENGINE_MODE_FP32;
    opt.affinity = 255;
    REQUIRE(set_tensor_buffer(x, data, sizeof data) == 0);
    REQUIRE(prerun_graph_multithread(graph, opt) == 0);
    REQUIRE(run_graph(graph, 1) == 0);
    REQUIRE(get_tensor_shape(y, dims, MAX_SHAPE_DIM_NUM) == 4);
    REQUIRE(dims[0] == 1 && dims[1] == 2 && dims[2] == 3 && dims[3] == 3);
    REQUIRE(get_tensor_buffer_size(y) == 18 * (int)sizeof(float));
    result = (const float*)get_tensor_buffer(y);
    REQUIRE(result != NULL);
    REQUIRE(memcmp(result, data, sizeof data) == 0);
    REQUIRE(result[9 + 4] == 45 && result[9] == 12);
    REQUIRE(postrun_graph(graph) == 0);
    return NULL;
}

const char* run_c99_program(void)
{
    float weights[18] = {0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    const char* failure;
    context_t context;
    graph_t graph;
    REQUIRE(init_tengine() == 0);
    REQUIRE(request_tengine_version("1.0") == 1);
    context = create_context("c99", 0);
    graph = create_graph(context, NULL, NULL);
    REQUIRE(graph != NULL);
    failure = build(graph, weights, sizeof weights);
    if (!failure) failure = run(graph);
    REQUIRE(destroy_graph(graph) == 0);
    destroy_context(context);
    release_tengine();
    return failure;
}
