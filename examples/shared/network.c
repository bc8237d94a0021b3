// SPDX-License-Identifier: Apache-2.0
// A network with one input and outputs in fp32.
#include "network.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "path.h"
#include "tengine/graph.h"

enum
{
    kMaxDeviceNames = 256
};

static const char* format_of(const char* path)
{
    const char* ending = strrchr(path, '.');
    if (ending && strcmp(ending, ".tmfile") == 0) return "tengine";
    if (ending && strcmp(ending, ".tflite") == 0) return "tflite";
    return "onnx";
}

static context_t open_context(const char* devices)
{
    char names[kMaxDeviceNames];
    if (devices && strlen(devices) >= sizeof names) {
        fail("-d: %zu characters, expected at most %zu", strlen(devices), sizeof names - 1);
        return NULL;
    }
    context_t context = create_context(kProgram, devices != NULL);
    if (!context || !devices) return context;
    strcpy(names, devices);
    for (char* name = strtok(names, ","); name; name = strtok(NULL, ",")) {
        if (add_context_device(context, name) == 0) continue;
        destroy_context(context);
        return NULL;
    }
    return context;
}

// The programs rely on one input and on values in fp32.
static int check_tensors(const char* path, graph_t graph)
{
    const int input_num = tengine_graph_get_input_number(graph);
    const int output_num = tengine_graph_get_output_number(graph);
    if (input_num < 0 || output_num < 0) return -1;
    if (input_num != 1) return fail("%s: %d inputs, expected 1", path, input_num);
    const int type = get_tensor_data_type(tengine_graph_get_input(graph, 0));
    if (type != TENGINE_DT_FP32)
        return fail("%s: the input has data type %d, expected float32 (%d)", path, type,
                    TENGINE_DT_FP32);
    return 0;
}

int network_open(const char* folder, const char* file, const struct run_options* options,
                 struct network* out_network)
{
    const struct network none = {0};
    char path[kPathSize];
    *out_network = none;
    out_network->path = file;
    if (folder) {
        if (path_join(folder, file, path) < 0) return -1;
        file = path;
    }
    out_network->context = open_context(options->devices);
    if (!out_network->context) return -1;
    // Lines of text, for example, have many widths.
    if (tengine_context_set_option(out_network->context, "run.shape_cache", "16") < 0) return -1;
    out_network->graph = create_graph(out_network->context, format_of(file), file);
    if (!out_network->graph) return fail("%s: cannot be loaded", file);
    out_network->plan.num_thread = options->threads;
    out_network->plan.cluster = TENGINE_CLUSTER_BIG;
    out_network->plan.precision = options->precision;
    return check_tensors(out_network->path, out_network->graph);
}

void network_close(struct network* network)
{
    if (network->graph) destroy_graph(network->graph);
    destroy_context(network->context);
    free(network->input);
}

// Lends the graph a buffer of the size of the input, once its shape is set.
static int lend_input(struct network* network, tensor_t tensor)
{
    const int64_t size = tengine_tensor_get_buffer_size(tensor);
    if (size < 0) return -1;
    float* input = size > 0 && (uint64_t)size <= SIZE_MAX ? calloc(1, (size_t)size) : NULL;
    if (!input)
        return fail("%s: out of memory for an input of %lld bytes", network->path, (long long)size);
    const int status = tengine_tensor_set_buffer(tensor, input, (size_t)size);
    float* old = status < 0 ? input : network->input;
    if (status == 0) network->input = input;
    free(old);
    return status;
}

float* network_input(struct network* network, const int dims[], int dim_num)
{
    const size_t size = (size_t)dim_num * sizeof *dims;
    if (network->dim_num == dim_num && memcmp(network->dims, dims, size) == 0)
        return network->input;
    tensor_t tensor = tengine_graph_get_input(network->graph, 0);
    network->dim_num = 0;
    if (!tensor || set_tensor_shape(tensor, dims, dim_num) < 0) return NULL;
    if (lend_input(network, tensor) < 0) return NULL;
    if (prerun_graph_multithread(network->graph, network->plan) < 0) return NULL;
    memcpy(network->dims, dims, size);
    network->dim_num = dim_num;
    return network->input;
}

int network_run(struct network* network)
{
    return run_graph(network->graph, 1) < 0 ? -1 : 0;
}

const float* network_output(const struct network* network, int index, int out_dims[], int dim_num)
{
    int dims[MAX_SHAPE_DIM_NUM];
    tensor_t output = tengine_graph_get_output(network->graph, index);
    if (!output) return NULL;
    const int found = get_tensor_shape(output, dims, MAX_SHAPE_DIM_NUM);
    const int type = get_tensor_data_type(output);
    if (found < 0) return NULL;
    if (found != dim_num || type != TENGINE_DT_FP32) {
        fail("%s: output %d has %d dimensions and data type %d, expected %d and float32 (%d)",
             network->path, index, found, type, dim_num, TENGINE_DT_FP32);
        return NULL;
    }
    memcpy(out_dims, dims, (size_t)dim_num * sizeof *dims);
    return get_tensor_buffer(output);
}
