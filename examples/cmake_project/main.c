// SPDX-License-Identifier: Apache-2.0
// classify <model> <values>: runs an ONNX model or a tmfile and prints the most probable classes.
// <values> holds the model's input as raw 32-bit floats, as numpy's tofile() writes them. The
// library has logged why a call of it failed.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tengine/c_api.h"

enum
{
    kPrinted = 3
};

static int fail(const char* subject, const char* reason)
{
    fprintf(stderr, "classify: %s: %s\n", subject, reason);
    return -1;
}

static const char* format_of(const char* path)
{
    const char* ending = strrchr(path, '.');
    return ending && strcmp(ending, ".onnx") == 0 ? "onnx" : "tengine";
}

// Sets free dimensions of the model, such as the batch, to 1.
static int close_shape(tensor_t input)
{
    int shape[MAX_SHAPE_DIM_NUM];
    const int dimensions = get_tensor_shape(input, shape, MAX_SHAPE_DIM_NUM);
    if (dimensions < 0) return -1;
    for (int i = 0; i < dimensions; ++i) {
        if (shape[i] < 1) shape[i] = 1;
    }
    return set_tensor_shape(input, shape, dimensions) < 0 ? -1 : 0;
}

static int check_types(const char* model, tensor_t input, tensor_t output)
{
    if (get_tensor_data_type(input) != TENGINE_DT_FP32 ||
        get_tensor_data_type(output) != TENGINE_DT_FP32)
        return fail(model, "input or output is not of 32-bit floats");
    return 0;
}

static int read_values(const char* path, void* values, size_t bytes)
{
    FILE* file = fopen(path, "rb");
    if (!file) return fail(path, "cannot be opened");
    const size_t read = fread(values, 1, bytes, file);
    const int more = fgetc(file) != EOF;
    fclose(file);
    if (read == bytes && !more) return 0;
    fprintf(stderr, "classify: %s: the model takes exactly %lu bytes\n", path,
            (unsigned long)bytes);
    return -1;
}

static void print_classes(const float* values, int count)
{
    int printed[kPrinted];
    for (int rank = 0; rank < kPrinted && rank < count; ++rank) {
        int best = -1;
        for (int i = 0; i < count; ++i) {
            int taken = 0;
            for (int k = 0; k < rank; ++k)
                taken |= printed[k] == i;
            if (!taken && (best < 0 || values[i] > values[best])) best = i;
        }
        printed[rank] = best;
        printf("class %4d  %g\n", best, values[best]);
    }
}

// The graph reads `*out_values` in place; the caller frees it after destroying the graph.
static int run(graph_t graph, const char* model, const char* values_path, float** out_values)
{
    tensor_t input = get_graph_input_tensor(graph, 0, 0);
    tensor_t output = get_graph_output_tensor(graph, 0, 0);
    if (!input || !output) return -1;
    if (check_types(model, input, output) < 0 || close_shape(input) < 0) return -1;

    const int bytes = get_tensor_buffer_size(input);
    if (bytes < 0) return -1;
    *out_values = malloc((size_t)bytes);
    if (!*out_values) return fail(model, "out of memory for the input");
    if (read_values(values_path, *out_values, (size_t)bytes) < 0) return -1;
    if (set_tensor_buffer(input, *out_values, bytes) < 0 || prerun_graph(graph) < 0 ||
        run_graph(graph, 1) < 0)
        return -1;

    const float* result = get_tensor_buffer(output);
    if (!result) return -1;
    print_classes(result, get_tensor_buffer_size(output) / (int)sizeof *result);
    return 0;
}

int main(int argc, char** argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: classify <model> <values>\n");
        return EXIT_FAILURE;
    }
    if (init_tengine() < 0) return EXIT_FAILURE;
    float* values = NULL;
    graph_t graph = create_graph(NULL, format_of(argv[1]), argv[1]);
    const int status = graph ? run(graph, argv[1], argv[2], &values) : -1;
    if (graph) destroy_graph(graph);
    free(values);
    release_tengine();
    return status < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
