// SPDX-License-Identifier: Apache-2.0
// A program that contains the operator: no plug-in. Runs the model that make_offset_atan made.
#include <stdio.h>

#include "offset_atan.h"

static int run_model(const char* path)
{
    float x[8] = {-4, -2, -1, -0.5f, 0, 1, 2, 4};
    graph_t graph = create_graph(NULL, "onnx", path);
    tensor_t input = graph ? get_graph_input_tensor(graph, 0, 0) : NULL;
    if (!input || set_tensor_buffer(input, x, sizeof x) < 0 || prerun_graph(graph) < 0 ||
        run_graph(graph, 1) < 0)
        return -1;
    const float* y = get_tensor_buffer(get_graph_output_tensor(graph, 0, 0));
    for (int i = 0; i < 8; ++i)
        printf("%4.1f -> %.4f\n", x[i], y[i]);
    return destroy_graph(graph);
}

int main(int argc, char** argv)
{
    const char* path = argc > 1 ? argv[1] : "offset_atan.onnx";
    if (init_tengine() < 0) return 1;
    const int status = register_offset_atan() < 0 ? -1 : run_model(path);
    if (status < 0) fprintf(stderr, "%s\n", get_tengine_error());
    release_tengine();
    return status < 0;
}
