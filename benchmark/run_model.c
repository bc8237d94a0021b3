// SPDX-License-Identifier: Apache-2.0
// One side of compare_ort.mjs: runs a model whenever it is told to. The other side, run_ort.mjs,
// behaves the same.
//   run_model MODEL THREADS PRECISION INPUT OUTPUT DIM...
// PRECISION is fp32, fp16, bf16 or int8. INPUT is a file of raw floats of shape DIM..., OUTPUT
// takes the first output as raw floats. When the model is prepared it prints the milliseconds that
// this took, from the file on, and the multiply-adds of a run; for every line read it runs once and
// prints the milliseconds; at the end of its input it prints the peak of its memory in KiB.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <sys/resource.h>

#include "tengine/c_api.h"
#include "tengine/inspect.h"

static int fail(const char* what)
{
    fprintf(stderr, "run_model: %s\n", what);  // what a call failed with has been logged
    return 1;
}

// -1: unknown
static int parse_precision(const char* name)
{
    static const struct
    {
        const char* name;
        int mode;
    } kPrecisions[] = {{"fp32", TENGINE_MODE_FP32},
                       {"fp16", TENGINE_MODE_FP16},
                       {"bf16", TENGINE_MODE_BF16},
                       {"int8", TENGINE_MODE_INT8}};
    for (size_t i = 0; i < sizeof kPrecisions / sizeof *kPrecisions; ++i)
        if (strcmp(kPrecisions[i].name, name) == 0) return kPrecisions[i].mode;
    return -1;
}

static double now_ms(void)
{
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static int set_input(graph_t graph, const char* path, int* shape, int rank)
{
    tensor_t input = get_graph_input_tensor(graph, 0, 0);
    if (set_tensor_shape(input, shape, rank) < 0) return -1;
    const int size = get_tensor_buffer_size(input);
    FILE* file = fopen(path, "rb");
    void* data = size > 0 ? malloc((size_t)size) : NULL;
    // The buffer is the graph's until the program ends.
    const int good = file && data && fread(data, 1, (size_t)size, file) == (size_t)size;
    if (file) fclose(file);
    return good ? set_tensor_buffer(input, data, size) : -1;
}

static int write_output(graph_t graph, const char* path)
{
    tensor_t output = get_graph_output_tensor(graph, 0, 0);
    const size_t size = (size_t)get_tensor_buffer_size(output);
    FILE* file = fopen(path, "wb");
    if (!file) return -1;
    const int good = fwrite(get_tensor_buffer(output), 1, size, file) == size;
    return fclose(file) == 0 && good ? 0 : -1;
}

static int serve(graph_t graph)
{
    char line[16];
    while (fgets(line, sizeof line, stdin)) {
        const double start = now_ms();
        if (run_graph(graph, 1) < 0) return -1;
        printf("%.4f\n", now_ms() - start);
        fflush(stdout);
    }
    return 0;
}

int main(int argc, char** argv)
{
    int shape[8];
    const int rank = argc - 6;
    const int precision = rank < 1 ? -1 : parse_precision(argv[3]);
    if (rank > 8 || precision < 0) {
        fputs("usage: run_model MODEL THREADS fp32|fp16|bf16|int8 INPUT OUTPUT DIM...\n", stderr);
        return 2;
    }
    for (int i = 0; i < rank; ++i)
        shape[i] = atoi(argv[6 + i]);
    struct options options;
    memset(&options, 0, sizeof options);
    options.num_thread = atoi(argv[2]);
    options.precision = precision;

    if (init_tengine() < 0) return fail("init");
    const double start = now_ms();
    graph_t graph = create_graph(NULL, "onnx", argv[1]);
    if (!graph) return fail(argv[1]);
    if (set_input(graph, argv[4], shape, rank) < 0) return fail(argv[4]);
    if (prerun_graph_multithread(graph, options) < 0) return fail("prerun");
    const double ready = now_ms();
    struct tengine_graph_stats stats;
    if (tengine_graph_get_stats(graph, &stats) < 0) return fail(argv[1]);
    printf("%.4f %lld\n", ready - start, (long long)stats.mac_number);
    fflush(stdout);
    if (serve(graph) < 0) return fail("run");
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    if (write_output(graph, argv[5]) < 0) return fail(argv[5]);
    printf("%ld\n", usage.ru_maxrss);
    destroy_graph(graph);
    release_tengine();
    return 0;
}
