// SPDX-License-Identifier: Apache-2.0
// Runs a compiled file, the program of a board: the input's bytes come from a file, the largest
// results are printed, and their bytes go to a file.
//     run_compiled MODEL INPUT OUTPUT [BATCH [int8]]
#include <stdio.h>
#include <stdlib.h>

#include "tengine/c_api.h"

static int fail(const char* what)
{
    fprintf(stderr, "%s: %s\n", what, get_tengine_error());
    return 1;
}

static int set_batch(tensor_t input, int batch)
{
    int dims[MAX_SHAPE_DIM_NUM];
    const int rank = get_tensor_shape(input, dims, MAX_SHAPE_DIM_NUM);
    if (rank < 1) return -1;
    dims[0] = batch;
    return set_tensor_shape(input, dims, rank);
}

static int read_input(tensor_t input, const char* path)
{
    const size_t bytes = (size_t)get_tensor_buffer_size(input);
    void* buffer = malloc(bytes);
    FILE* file = fopen(path, "rb");
    const int is_read = buffer && file && fread(buffer, 1, bytes, file) == bytes;
    if (file) fclose(file);
    if (is_read && set_tensor_buffer(input, buffer, (int)bytes) == 0) return 0;
    free(buffer);
    return -1;
}

static void print_largest(const float* values, int number)
{
    int best = 0;
    for (int i = 1; i < number; ++i)
        if (values[i] > values[best]) best = i;
    printf("largest: %d of %d, %.4f\n", best, number, (double)values[best]);
}

static int write_output(tensor_t output, const char* path)
{
    const size_t bytes = (size_t)get_tensor_buffer_size(output);
    FILE* file = fopen(path, "wb");
    if (!file) return -1;
    const int is_written = fwrite(get_tensor_buffer(output), 1, bytes, file) == bytes;
    print_largest(get_tensor_buffer(output), (int)(bytes / sizeof(float)));
    return fclose(file) == 0 && is_written ? 0 : -1;
}

int main(int count, char** words)
{
    if (count < 4 || init_tengine() != 0) return fail("run_compiled MODEL INPUT OUTPUT");
    graph_t graph = create_graph(NULL, "tengine", words[1]);
    if (!graph) return fail("load");
    tensor_t input = get_graph_input_tensor(graph, 0, 0);
    if (count > 4 && set_batch(input, atoi(words[4])) != 0) return fail("shape");
    const struct options options = {1, TENGINE_CLUSTER_ALL,
                                    count > 5 ? TENGINE_MODE_INT8 : TENGINE_MODE_FP32, 0};
    if (prerun_graph_multithread(graph, options) != 0) return fail("prepare");
    if (read_input(input, words[2]) != 0) return fail(words[2]);
    if (run_graph(graph, 1) != 0) return fail("run");
    if (write_output(get_graph_output_tensor(graph, 0, 0), words[3]) != 0) return fail(words[3]);
    void* buffer = get_tensor_buffer(input);
    destroy_graph(graph);
    free(buffer);
    release_tengine();
    return 0;
}
