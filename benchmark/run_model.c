// SPDX-License-Identifier: Apache-2.0
// One side of compare_ort.mjs: runs a model whenever it is told to. The other side, run_ort.mjs,
// behaves the same.
//   run_model MODEL THREADS PRECISION FOLDER [DEVICE...]
// PRECISION is fp32, fp16, bf16 or int8; devices, best first, are by default those of the library.
// The file FOLDER/inputs has a line for each input, "FILE TYPE RANK DIM... NAME": FILE in the same
// folder holds the raw data, TYPE is the name of a data type in ONNX Runtime for JavaScript, and
// NAME may be * for the first input. When the model is prepared the program prints the milliseconds
// that this took, from the file on, and the multiply-adds of a run; for every line read it runs
// once and prints the milliseconds; at the end of its input it writes the last run's outputs, raw,
// to FOLDER as output0, output1 ... with FOLDER/outputs, a list of the same kind, and prints the
// peak of its memory in KiB.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <sys/resource.h>

#include "tengine/c_api.h"
#include "tengine/inspect.h"

static int fail(const char* what)
{
    fprintf(stderr, "run_model: %s\n", what);  // the library has logged the reason
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

static const char* type_name(int data_type)
{
    static const char* const kNames[] = {"float32", "float16", "int8",  "uint8",   "int32",
                                         "int16",   "int64",   "bool",  "float64", "bfloat16",
                                         "uint16",  "uint32",  "uint64"};
    const int count = sizeof kNames / sizeof *kNames;
    return data_type >= 0 && data_type < count ? kNames[data_type] : NULL;
}

static double now_ms(void)
{
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static FILE* open_in(const char* folder, const char* name, const char* mode)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return fopen(path, mode);
}

static int read_data(tensor_t input, FILE* file)
{
    const int size = get_tensor_buffer_size(input);
    if (size <= 0) return size;
    // The graph uses the buffer until the program ends.
    void* data = malloc((size_t)size);
    if (!data || fread(data, 1, (size_t)size, file) != (size_t)size) return -1;
    return set_tensor_buffer(input, data, size);
}

// Reads a line of the list of inputs; 0 at its end.
static int set_input(graph_t graph, const char* folder, FILE* list)
{
    char file_name[64], name[1024];
    int shape[MAX_SHAPE_DIM_NUM], rank;
    const int found = fscanf(list, "%63s %*s %d", file_name, &rank);
    if (found == EOF) return 0;
    if (found != 2 || rank < 0 || rank > MAX_SHAPE_DIM_NUM) return -1;
    for (int i = 0; i < rank; ++i)
        if (fscanf(list, "%d", &shape[i]) != 1) return -1;
    if (fscanf(list, " %1023[^\n]", name) != 1) return -1;
    const int is_first = strcmp(name, "*") == 0;
    tensor_t input = is_first ? tengine_graph_get_input(graph, 0) : get_graph_tensor(graph, name);
    if (!input || set_tensor_shape(input, shape, rank) < 0) return -1;
    FILE* file = open_in(folder, file_name, "rb");
    if (!file) return -1;
    const int status = read_data(input, file);
    fclose(file);
    return status < 0 ? -1 : 1;
}

static int set_inputs(graph_t graph, const char* folder)
{
    FILE* list = open_in(folder, "inputs", "r");
    if (!list) return -1;
    int status;
    do
        status = set_input(graph, folder, list);
    while (status > 0);
    fclose(list);
    return status;
}

static int write_output(tensor_t output, int index, const char* folder, FILE* list)
{
    int shape[MAX_SHAPE_DIM_NUM];
    const int rank = get_tensor_shape(output, shape, MAX_SHAPE_DIM_NUM);
    const char* type = type_name(get_tensor_data_type(output));
    char file_name[32];
    snprintf(file_name, sizeof file_name, "output%d", index);
    FILE* file = rank >= 0 && type ? open_in(folder, file_name, "wb") : NULL;
    if (!file) return -1;
    fprintf(list, "%s %s %d", file_name, type, rank);
    for (int i = 0; i < rank; ++i)
        fprintf(list, " %d", shape[i]);
    fprintf(list, " %s\n", get_tensor_name(output));
    const size_t size = (size_t)get_tensor_buffer_size(output);
    const int good = size == 0 || fwrite(get_tensor_buffer(output), 1, size, file) == size;
    return fclose(file) == 0 && good ? 0 : -1;
}

static int write_outputs(graph_t graph, const char* folder)
{
    FILE* list = open_in(folder, "outputs", "w");
    if (!list) return -1;
    int status = 0;
    for (int i = 0; status == 0 && i < tengine_graph_get_output_number(graph); ++i)
        status = write_output(tengine_graph_get_output(graph, i), i, folder, list);
    return fclose(list) == 0 ? status : -1;
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

static graph_t load(const char* model, char** devices, int device_number)
{
    context_t context = create_context(NULL, device_number > 0);
    if (!context) return NULL;
    int status = 0;
    for (int i = 0; status == 0 && i < device_number; ++i)
        status = add_context_device(context, devices[i]);
    graph_t graph = status == 0 ? create_graph(context, "onnx", model) : NULL;
    destroy_context(context);
    return graph;
}

int main(int argc, char** argv)
{
    const int precision = argc < 5 ? -1 : parse_precision(argv[3]);
    if (precision < 0) {
        fputs("usage: run_model MODEL THREADS fp32|fp16|bf16|int8 FOLDER [DEVICE...]\n", stderr);
        return 2;
    }
    struct options options;
    memset(&options, 0, sizeof options);
    options.num_thread = atoi(argv[2]);
    options.precision = precision;

    if (init_tengine() < 0) return fail("init");
    const double start = now_ms();
    graph_t graph = load(argv[1], argv + 5, argc - 5);
    if (!graph) return fail(argv[1]);
    if (set_inputs(graph, argv[4]) < 0) return fail(argv[4]);
    if (prerun_graph_multithread(graph, options) < 0) return fail("prerun");
    const double ready = now_ms();
    struct tengine_graph_stats stats;
    if (tengine_graph_get_stats(graph, &stats) < 0) return fail(argv[1]);
    printf("%.4f %lld\n", ready - start, (long long)stats.mac_number);
    fflush(stdout);
    if (serve(graph) < 0) return fail("run");
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    if (write_outputs(graph, argv[4]) < 0) return fail(argv[4]);
    printf("%ld\n", usage.ru_maxrss);
    destroy_graph(graph);
    release_tengine();
    return 0;
}
