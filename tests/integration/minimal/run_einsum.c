// SPDX-License-Identifier: Apache-2.0
// Runs an Einsum in a library without the operators to which it is lowered elsewhere: the sum over
// b and i of a[b][i][i] * c[b][j].
#include <stdio.h>

#include "tengine/c_api.h"

enum
{
    kBatch = 2,
    kSize = 3,
    kColumns = 5
};

static float a[kBatch][kSize][kSize], c[kBatch][kColumns];

static int fail(const char* what)
{
    fprintf(stderr, "%s: %s\n", what, get_tengine_error());
    return 1;
}

static int add_input(graph_t graph, node_t einsum, int index, const char* name, const int dims[],
                     int dim_num, void* data, int size)
{
    node_t node = create_graph_node(graph, name, "InputOp");
    tensor_t tensor = create_graph_tensor(graph, name, TENGINE_DT_FP32);
    return node && tensor && set_tensor_shape(tensor, dims, dim_num) == 0 &&
           set_node_output_tensor(node, 0, tensor, TENSOR_TYPE_INPUT) == 0 &&
           set_tensor_buffer(tensor, data, size) == 0 &&
           set_node_input_tensor(einsum, index, tensor) == 0;
}

static int build(graph_t graph)
{
    const int a_dims[] = {kBatch, kSize, kSize}, c_dims[] = {kBatch, kColumns};
    const char equation[] = "bii,bj->j", *inputs[] = {"a", "c"}, *outputs[] = {"e"};
    node_t einsum = create_graph_node(graph, "e", "Einsum");
    tensor_t result = create_graph_tensor(graph, "e", TENGINE_DT_FP32);
    return einsum && result &&
           set_node_attr_generic(einsum, "equation", "string", equation, sizeof equation) == 0 &&
           add_input(graph, einsum, 0, "a", a_dims, 3, a, sizeof a) &&
           add_input(graph, einsum, 1, "c", c_dims, 2, c, sizeof c) &&
           set_node_output_tensor(einsum, 0, result, TENSOR_TYPE_VAR) == 0 &&
           set_graph_input_node(graph, inputs, 2) == 0 &&
           set_graph_output_node(graph, outputs, 1) == 0;
}

static float expected(int column)
{
    float sum = 0;
    for (int b = 0; b < kBatch; ++b)
        for (int i = 0; i < kSize; ++i)
            sum += a[b][i][i] * c[b][column];
    return sum;
}

static void fill(float* numbers, int count)
{
    for (int i = 0; i < count; ++i)
        numbers[i] = (float)(i % 7 - 3);
}

int main(void)
{
    fill(a[0][0], kBatch * kSize * kSize);
    fill(c[0], kBatch * kColumns);
    if (init_tengine() < 0) return fail("init_tengine");
    graph_t graph = create_graph(NULL, NULL, NULL);
    if (!graph || !build(graph)) return fail("the graph");
    if (create_graph_node(graph, "s", "Slice"))
        return fprintf(stderr, "the build has Slice, which the Einsum becomes\n"), 1;
    if (prerun_graph(graph) < 0) return fail("prerun_graph");
    if (run_graph(graph, 1) < 0) return fail("run_graph");
    const float* got = get_tensor_buffer(get_graph_output_tensor(graph, 0, 0));
    for (int j = 0; j < kColumns; ++j)
        if (got[j] != expected(j))
            return fprintf(stderr, "column %d is %g, expected %g\n", j, got[j], expected(j)), 1;
    postrun_graph(graph);
    destroy_graph(graph);
    release_tengine();
    return 0;
}
