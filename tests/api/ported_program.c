// SPDX-License-Identifier: Apache-2.0
// See ported_program.h. Uses both spellings of the header, and the headers of devices, as ported
// programs do.
#include "ported_program.h"

#include <math.h>
#include <string.h>

#include "api/c_api.h"
#include "tengine/VULKAN_device.h"
#include "tengine/acl_device.h"
#include "tengine/c_api.h"
#include "tengine/ocl_device.h"
#include "tengine/odla_device.h"
#include "tengine/timvx_device.h"
#include "tengine/torch_device.h"
#include "tengine/trt_device.h"

#define REQUIRE(condition) \
    if (!(condition)) return #condition

// ---- file models ----

static const char* run_classifier(graph_t graph, float* out_value, int* out_index)
{
    static float image[28 * 28];
    const int dims[] = {1, 1, 28, 28};
    struct options opt;
    tensor_t input_tensor, output_tensor;
    const float* scores;
    int number, i;
    REQUIRE(graph != NULL);
    for (i = 0; i < 28 * 28; ++i)
        image[i] = 1;
    opt.num_thread = 1;
    opt.cluster = TENGINE_CLUSTER_ALL;
    opt.precision = TENGINE_MODE_FP32;
    opt.affinity = 255;
    input_tensor = get_graph_input_tensor(graph, 0, 0);
    REQUIRE(input_tensor != NULL);
    REQUIRE(set_tensor_shape(input_tensor, dims, 4) == 0);
    REQUIRE(prerun_graph_multithread(graph, opt) == 0);
    REQUIRE(set_tensor_buffer(input_tensor, image, sizeof image) == 0);
    for (i = 0; i < 3; ++i)
        REQUIRE(run_graph(graph, 1) == 0);
    output_tensor = get_graph_output_tensor(graph, 0, 0);
    scores = (const float*)get_tensor_buffer(output_tensor);
    number = get_tensor_buffer_size(output_tensor) / (int)sizeof(float);
    REQUIRE(scores && number == 10);
    for (*out_index = 0, i = 1; i < number; ++i)
        if (scores[i] > scores[*out_index]) *out_index = i;
    *out_value = scores[*out_index];
    REQUIRE(postrun_graph(graph) == 0);
    REQUIRE(destroy_graph(graph) == 0);
    release_tengine();
    return NULL;
}

const char* run_file_program(const char* path, float* out_value, int* out_index)
{
    REQUIRE(init_tengine() == 0);
    REQUIRE(strlen(get_tengine_version()) > 0);
    REQUIRE(request_tengine_version("1.0") == 1);
    return run_classifier(create_graph(NULL, "tengine", path), out_value, out_index);
}

const char* run_memory_program(void* bytes, int size, float* out_value, int* out_index)
{
    REQUIRE(init_tengine() == 0);
    return run_classifier(create_graph(NULL, "tengine:m", (const char*)bytes, size), out_value,
                          out_index);
}

// ---- built by hand ----

static int create_input_node(graph_t graph, const char* node_name, int c, int h, int w)
{
    node_t node = create_graph_node(graph, node_name, "InputOp");
    tensor_t tensor = create_graph_tensor(graph, node_name, TENGINE_DT_FP32);
    const int dims[] = {1, c, h, w};
    if (!node || !tensor) return -1;
    if (set_node_output_tensor(node, 0, tensor, TENSOR_TYPE_INPUT) < 0) return -1;
    if (set_tensor_shape(tensor, dims, 4) < 0) return -1;
    release_graph_tensor(tensor);
    release_graph_node(node);
    return 0;
}

static int create_const_node(graph_t graph, const char* node_name, const int* dims, int dim_number,
                             float* data, int size)
{
    node_t node = create_graph_node(graph, node_name, "Const");
    tensor_t tensor = create_graph_tensor(graph, node_name, TENGINE_DT_FP32);
    if (!node || !tensor) return -1;
    if (set_node_output_tensor(node, 0, tensor, TENSOR_TYPE_CONST) < 0) return -1;
    if (set_tensor_shape(tensor, dims, dim_number) < 0) return -1;
    return set_tensor_buffer(tensor, data, size);
}

// The tensor of the same name is created with the node, before its inputs are connected.
static node_t create_op_node(graph_t graph, const char* node_name, const char* op_name)
{
    node_t node = create_graph_node(graph, node_name, op_name);
    tensor_t tensor = create_graph_tensor(graph, node_name, TENGINE_DT_FP32);
    if (!node || !tensor) return NULL;
    return set_node_output_tensor(node, 0, tensor, TENSOR_TYPE_VAR) < 0 ? NULL : node;
}

static int set_int(node_t node, const char* name, int value)
{
    return set_node_attr_int(node, name, &value);
}

static int connect(graph_t graph, node_t node, int index, const char* tensor_name)
{
    tensor_t tensor = get_graph_tensor(graph, tensor_name);
    return !tensor ? -1 : set_node_input_tensor(node, index, tensor);
}

static float kernel_weights[9] = {0, 0, 0, 0, 2, 0, 0, 0, 0};
static float kernel_bias[1] = {-3};
static float fc_weights[2 * 4] = {1, 1, 1, 1, 1, 0, 0, -1};
static float picture[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

static const char* add_convolution(graph_t graph)
{
    const int w_dims[] = {1, 1, 3, 3};
    const int b_dims[] = {1};
    node_t node = create_op_node(graph, "conv", "Convolution");
    REQUIRE(node != NULL);
    REQUIRE(create_const_node(graph, "conv_w", w_dims, 4, kernel_weights, 36) == 0);
    REQUIRE(create_const_node(graph, "conv_b", b_dims, 1, kernel_bias, 4) == 0);
    REQUIRE(set_int(node, "kernel_h", 3) == 0 && set_int(node, "kernel_w", 3) == 0);
    REQUIRE(set_int(node, "pad_h0", 1) == 0 && set_int(node, "pad_h1", 1) == 0);
    REQUIRE(set_int(node, "pad_w0", 1) == 0 && set_int(node, "pad_w1", 1) == 0);
    REQUIRE(set_int(node, "input_channel", 1) == 0 && set_int(node, "output_channel", 1) == 0);
    REQUIRE(set_int(node, "group", 1) == 0);
    REQUIRE(connect(graph, node, 0, "data") == 0);
    REQUIRE(connect(graph, node, 1, "conv_w") == 0 && connect(graph, node, 2, "conv_b") == 0);
    return NULL;
}

static const char* build_network(graph_t graph)
{
    const int fc_dims[] = {2, 4};
    const char* inputs[] = {"data"};
    const char* outputs[] = {"fc"};
    node_t relu, pool, fc;
    const char* failure;
    REQUIRE(graph != NULL);
    REQUIRE(set_graph_layout(graph, TENGINE_LAYOUT_NCHW) == 0);
    REQUIRE(create_input_node(graph, "data", 1, 4, 4) == 0);
    failure = add_convolution(graph);
    if (failure) return failure;
    relu = create_op_node(graph, "relu", "ReLU");
    pool = create_op_node(graph, "pool", "Pooling");
    fc = create_op_node(graph, "fc", "FullyConnected");
    REQUIRE(relu && pool && fc);
    REQUIRE(set_int(pool, "pool_method", 0) == 0 && set_int(pool, "kernel_h", 2) == 0);
    REQUIRE(set_int(fc, "num_output", 2) == 0);
    REQUIRE(create_const_node(graph, "fc_w", fc_dims, 2, fc_weights, sizeof fc_weights) == 0);
    REQUIRE(connect(graph, relu, 0, "conv") == 0);
    REQUIRE(connect(graph, pool, 0, "relu") == 0);
    REQUIRE(connect(graph, fc, 0, "pool") == 0 && connect(graph, fc, 1, "fc_w") == 0);
    REQUIRE(set_graph_input_node(graph, inputs, 1) == 0);
    REQUIRE(set_graph_output_node(graph, outputs, 1) == 0);
    return NULL;
}

// Doubled and shifted by -3, the picture's maxima of 2 x 2 are 7, 11, 23 and 27.
static const char* check_network(graph_t graph)
{
    const float* result;
    REQUIRE(set_tensor_buffer(get_graph_input_tensor(graph, 0, 0), picture, sizeof picture) == 0);
    REQUIRE(prerun_graph(graph) == 0);
    dump_graph(graph);
    REQUIRE(run_graph(graph, 1) == 0);
    result = (const float*)get_tensor_buffer(get_graph_output_tensor(graph, 0, 0));
    REQUIRE(result != NULL);
    REQUIRE(result[0] == 7 + 11 + 23 + 27 && result[1] == 7 - 27);
    return NULL;
}

// The life of a graph around the functions that build and use it.
typedef const char* (*step_t)(graph_t graph);

static const char* run_steps(step_t build, step_t use)
{
    graph_t graph;
    const char* failure;
    REQUIRE(init_tengine() == 0);
    graph = create_graph(NULL, NULL, NULL);
    failure = build(graph);
    if (!failure) failure = use(graph);
    if (failure) return failure;
    REQUIRE(postrun_graph(graph) == 0);
    REQUIRE(destroy_graph(graph) == 0);
    release_tengine();
    return NULL;
}

static const char* use_network(graph_t graph)
{
    const char* failure = check_network(graph);
    if (failure) return failure;
    REQUIRE(strcmp(get_node_op(get_graph_node(graph, "conv")), "Convolution") == 0);
    REQUIRE(strcmp(get_node_device(get_graph_node(graph, "conv")), "CPU") == 0);
    return NULL;
}

const char* run_hand_built_program(void)
{
    return run_steps(build_network, use_network);
}

// ---- quantised ----

static const char* build_quantised(graph_t graph)
{
    const int dims[] = {1, 1, 1, 4};
    const float in_scale = 0.1f, out_scale = 0.05f;
    const int in_zero = 128, out_zero = 10;
    const char* names[] = {"data", "relu"};
    node_t data = create_graph_node(graph, "data", "InputOp");
    node_t relu = create_graph_node(graph, "relu", "ReLU");
    tensor_t input = create_graph_tensor(graph, "data", TENGINE_DT_UINT8);
    tensor_t output = create_graph_tensor(graph, "relu", TENGINE_DT_UINT8);
    REQUIRE(set_node_output_tensor(data, 0, input, TENSOR_TYPE_INPUT) == 0);
    REQUIRE(set_tensor_shape(input, dims, 4) == 0);
    REQUIRE(set_tensor_quant_param(input, &in_scale, &in_zero, 1) == 0);
    REQUIRE(set_node_output_tensor(relu, 0, output, TENSOR_TYPE_VAR) == 0);
    REQUIRE(set_tensor_quant_param(output, &out_scale, &out_zero, 1) == 0);
    REQUIRE(set_node_input_tensor(relu, 0, input) == 0);
    REQUIRE(set_graph_input_node(graph, &names[0], 1) == 0);
    REQUIRE(set_graph_output_node(graph, &names[1], 1) == 0);
    return NULL;
}

static const char* check_quantised(graph_t graph)
{
    const float values[4] = {-3.2f, 0.0f, 1.5f, 6.0f};
    const float expected[4] = {0.0f, 0.0f, 1.5f, 6.0f};
    unsigned char bytes[4];
    const unsigned char* result;
    struct options opt = {1, TENGINE_CLUSTER_BIG, TENGINE_MODE_UINT8, 0};
    tensor_t input = get_graph_input_tensor(graph, 0, 0);
    tensor_t output = get_graph_output_tensor(graph, 0, 0);
    float scale = 0;
    int zero_point = 0, i;
    REQUIRE(get_tensor_quant_param(input, &scale, &zero_point, 1) == 1);
    for (i = 0; i < 4; ++i)
        bytes[i] = (unsigned char)lroundf(values[i] / scale + (float)zero_point);
    REQUIRE(get_tensor_buffer_size(input) == 4);
    REQUIRE(set_tensor_buffer(input, bytes, 4) == 0);
    REQUIRE(prerun_graph_multithread(graph, opt) == 0);
    REQUIRE(run_graph(graph, 1) == 0);
    REQUIRE(get_tensor_data_type(output) == TENGINE_DT_UINT8);
    REQUIRE(get_tensor_quant_param(output, &scale, &zero_point, 1) == 1);
    result = (const unsigned char*)get_tensor_buffer(output);
    for (i = 0; i < 4; ++i)
        REQUIRE(fabsf((float)(result[i] - zero_point) * scale - expected[i]) < 0.051f);
    return NULL;
}

const char* run_quantised_program(void)
{
    return run_steps(build_quantised, check_quantised);
}

// ---- accelerators ----

static const char* try_options(void)
{
    char acl_name[] = "ACL", trt_name[] = "TensorRT", ocl_name[] = "OCL", vk_name[] = "VK";
    struct acl_option acl;
    trt_opt_t trt;
    struct ocl_option ocl;
    struct vulkan_option vulkan;
    context_t context = create_context("options", 1);
    acl.dev_name = acl_name;
    acl.precision = TENGINE_MODE_FP16;
    trt.dev_name = trt_name;
    trt.gpu_index = 0;
    trt.dla_index = -1;
    trt.precision = TENGINE_MODE_INT8;
    memset(&ocl, 0, sizeof ocl);
    ocl.dev_name = ocl_name;
    ocl.load_cache = true;
    vulkan.dev_name = vk_name;
    vulkan.precision = TENGINE_MODE_FP32;
    REQUIRE(context != NULL);
    if (set_context_device(context, "ACL", &acl, sizeof acl) < 0)
        REQUIRE(get_tengine_errno() == TENGINE_ENOENT);
    REQUIRE(set_context_device(context, "TensorRT", &trt, sizeof trt) == -1);
    REQUIRE(set_context_device(context, "OCL", &ocl, sizeof ocl) == -1);
    REQUIRE(set_context_device(context, "VK", &vulkan, sizeof vulkan) == -1);
    REQUIRE(add_context_device(context, "OPENDLA") == -1);
    REQUIRE(add_context_device(context, "TORCH") == -1);
    destroy_context(context);
    return NULL;
}

const char* run_accelerator_program(void)
{
    context_t context;
    graph_t graph;
    const char* failure;
    REQUIRE(init_tengine() == 0);
    failure = try_options();
    if (failure) return failure;
    context = create_context("timvx", 1);
    REQUIRE(get_context_device_number(context) == 0);
    REQUIRE(set_context_device(context, "TIMVX", NULL, 0) == -1);
    REQUIRE(get_context_device_number(context) == 0);
    graph = create_graph(context, NULL, NULL);
    failure = build_network(graph);
    if (!failure) failure = check_network(graph);
    if (failure) return failure;
    REQUIRE(strcmp(get_node_device(get_graph_node(graph, "conv")), "CPU") == 0);
    destroy_graph(graph);
    destroy_context(context);
    release_tengine();
    return NULL;
}

// ---- log ----

static int log_lines, longest_line;

static void keep_line(const char* line)
{
    const int length = (int)strlen(line);
    ++log_lines;
    if (length > longest_line) longest_line = length;
}

static const char* dump_network(graph_t graph)
{
    dump_graph(graph);
    REQUIRE(log_lines == 0);
    set_log_level(LOG_INFO);
    dump_graph(graph);
    set_log_level(LOG_NOTICE);
    return NULL;
}

const char* run_dump_program(int* out_lines, int* out_length)
{
    const char* failure;
    log_lines = longest_line = 0;
    set_log_output(keep_line);
    failure = run_steps(build_network, dump_network);
    set_log_output(NULL);
    *out_lines = log_lines;
    *out_length = longest_line;
    return failure;
}

// ---- cut ----

// Only the nodes that feed "relu" are run, and "data" is still their input.
static const char* cut_end(graph_t graph)
{
    const char* outputs[] = {"relu"};
    const float* result;
    REQUIRE(set_graph_output_node(graph, outputs, 1) == 0);
    REQUIRE(prerun_graph(graph) == 0 && run_graph(graph, 1) == 0);
    result = (const float*)get_tensor_buffer(get_graph_tensor(graph, "relu"));
    REQUIRE(result && result[0] == 0 && result[15] == 27);
    REQUIRE(!get_tensor_buffer(get_graph_tensor(graph, "fc")));
    return NULL;
}

// The program sets "relu"; "data" is not read.
static const char* cut_beginning(graph_t graph)
{
    static float activations[16];
    const char* inputs[] = {"relu"};
    const char* outputs[] = {"fc"};
    const float* result;
    tensor_t relu = get_graph_tensor(graph, "relu");
    int i;
    for (i = 0; i < 16; ++i)
        activations[i] = i == 5 ? 9.0f : 1.0f;
    REQUIRE(set_graph_input_node(graph, inputs, 1) == 0);
    REQUIRE(set_graph_output_node(graph, outputs, 1) == 0);
    REQUIRE(get_graph_input_tensor(graph, 0, 0) == relu);
    REQUIRE(set_tensor_buffer(get_graph_tensor(graph, "data"), NULL, 0) == 0);
    REQUIRE(get_tensor_buffer_size(relu) == sizeof activations);
    REQUIRE(set_tensor_buffer(relu, activations, sizeof activations) == 0);
    REQUIRE(prerun_graph(graph) == 0 && run_graph(graph, 1) == 0);
    result = (const float*)get_tensor_buffer(get_graph_tensor(graph, "fc"));
    REQUIRE(result && result[0] == 9 + 1 + 1 + 1 && result[1] == 9 - 1);
    return NULL;
}

// In the end the graph is complete again: "relu" computes.
static const char* cut_both_ways(graph_t graph)
{
    const char* whole[] = {"data"};
    const char* failure = check_network(graph);
    if (!failure) failure = cut_end(graph);
    if (!failure) failure = cut_beginning(graph);
    if (failure) return failure;
    REQUIRE(set_graph_input_node(graph, whole, 1) == 0);
    return check_network(graph);
}

const char* run_cut_program(void)
{
    return run_steps(build_network, cut_both_ways);
}
