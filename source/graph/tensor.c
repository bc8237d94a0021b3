// SPDX-License-Identifier: Apache-2.0
// Tensors: shape, type, data, quantisation, consumers. Graph-wide changes are in graph.c.
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/packed_bits.h"
#include "graph/declaration.h"
#include "graph/graph.h"
#include "graph/graph_pool.h"
#include "graph/index_list.h"
#include "graph/name_index.h"

// More than any supported address space: sizes fit size_t, and sums and products with a few of them
// int64_t.
#if SIZE_MAX > UINT32_MAX
#define MAX_TENSOR_BYTES_TEXT "2^48"
#define MAX_TENSOR_BYTES ((int64_t)1 << 48)
#else
#define MAX_TENSOR_BYTES_TEXT "2^31"
#define MAX_TENSOR_BYTES ((int64_t)1 << 31)
#endif

// One block of memory has the public part and the core's own.
struct tensor_piece
{
    struct tensor tensor;
    ir_tensor_core_t core;
};

static bool make_tensor_room(struct graph* graph)
{
    if (graph->tensor_num < graph->core->tensor_capacity) return true;
    const int32_t capacity = get_ir_list_capacity(graph->core->tensor_capacity);
    if (capacity == graph->core->tensor_capacity) return false;
    struct tensor** list =
        resize_memory(graph->tensor_list, sizeof(*list) * (size_t)graph->core->tensor_capacity,
                      sizeof(*list) * (size_t)capacity);
    if (!list) return false;
    graph->tensor_list = list;
    graph->core->tensor_capacity = capacity;
    return true;
}

struct tensor* create_ir_tensor(struct graph* graph, const char* tensor_name, int data_type)
{
    if (get_data_type_size(data_type) == 0 && data_type != TENGINE_DT_UNKNOWN) {
        tengine_error_set(TENGINE_EDTYPE, "tensor '%s': invalid data type %d: expected 0 to %d",
                          tensor_name ? tensor_name : "", data_type, TENGINE_DT_COMPLEX128);
        return NULL;
    }
    if (!make_tensor_room(graph)) goto out_of_memory;
    char made_up[32];
    if (!tensor_name || !*tensor_name) {
        snprintf(made_up, sizeof(made_up), "tensor_%d", graph->tensor_num);
        tensor_name = made_up;
    }
    struct tensor_piece* piece = alloc_small_memory(sizeof(*piece));
    if (!piece) goto out_of_memory;
    struct tensor* tensor = &piece->tensor;
    tensor->core = &piece->core;
    tensor->name = duplicate_string(tensor_name);
    if (!tensor->name) {
        free_memory(tensor);
        goto out_of_memory;
    }
    tensor->index = graph->tensor_num;
    tensor->producer = -1;
    tensor->core->source_index = -1;
    tensor->tensor_type = TENSOR_TYPE_VAR;
    tensor->layout = (uint8_t)graph->graph_layout;
    tensor->data_type = (uint8_t)data_type;
    tensor->elem_size = (uint8_t)get_data_type_size(data_type);
    graph->tensor_list[graph->tensor_num++] = tensor;
    return tensor;

out_of_memory:
    tengine_error_set(TENGINE_ENOMEM, "out of memory for tensor '%s'",
                      tensor_name ? tensor_name : "");
    return NULL;
}

int set_ir_tensor_name(struct graph* graph, struct tensor* tensor, const char* name)
{
    char* copy = duplicate_string(name);
    if (!copy) return tengine_error_set(TENGINE_ENOMEM, "out of memory for a tensor's name");
    free_memory(tensor->name);
    tensor->name = copy;
    forget_ir_names(graph);
    return TENGINE_OK;
}

void exchange_ir_tensor_names(struct graph* graph, struct tensor* one, struct tensor* other)
{
    char* name = one->name;
    one->name = other->name;
    other->name = name;
    forget_ir_names(graph);
}

void release_ir_tensor_data(struct tensor* tensor)
{
    if (tensor->free_host_mem) free_memory(tensor->data);
    if (tensor->core->pack_pool) release_graph_pack(tensor->core->pack_pool, tensor->core->pack);
    tensor->core->pack = NULL;
    tensor->core->pack_pool = NULL;
    tensor->data = NULL;
    tensor->free_host_mem = 0;
    tensor->internal_allocated = 0;
    tensor->core->is_file = false;
    tensor->core->is_shared = false;
}

void set_ir_tensor_data(struct tensor* tensor, void* data, bool owned)
{
    release_ir_tensor_data(tensor);
    tensor->data = data;
    tensor->free_host_mem = owned;
}

void set_ir_tensor_file_data(struct tensor* tensor, void* data)
{
    set_ir_tensor_data(tensor, data, false);
    tensor->core->is_file = true;
}

void set_ir_tensor_pack(struct tensor* tensor, struct graph_pool* shared, void* pack)
{
    set_ir_tensor_data(tensor, pack, false);
    tensor->core->pack = pack;
    tensor->core->pack_pool = shared;
}

static void release_quant_params(struct tensor* tensor)
{
    if (tensor->quant_param_num > 1) {
        free_memory(tensor->scale_list);
        free_memory(tensor->zp_list);
    }
    tensor->quant_param_num = 0;
}

void destroy_ir_tensor(struct graph* graph, struct tensor* tensor)
{
    if (!tensor) return;
    release_ir_tensor_data(tensor);
    release_quant_params(tensor);
    free_memory(tensor->consumer);
    free_memory(tensor->subgraph_list);
    free_memory(tensor->core->declaration);
    free_memory(tensor->core->digest);
    free_memory(tensor->name);
    forget_ir_names(graph);
    graph->tensor_list[tensor->index] = NULL;
    free_memory(tensor);
}

int set_ir_tensor_shape(struct tensor* tensor, const int dims[], int dim_number)
{
    if (dim_number < 0 || dim_number > MAX_SHAPE_DIM_NUM)
        return tengine_error_set(TENGINE_ERANGE, "tensor '%s': %d dimensions, expected 0 to %d",
                                 tensor->name, dim_number, MAX_SHAPE_DIM_NUM);
    // The product skips zeroes, so that no partial product of dims can overflow later.
    int64_t product = 1;
    const int64_t most = MAX_TENSOR_BYTES / (tensor->elem_size > 0 ? tensor->elem_size : 1);
    bool empty = false;
    for (int i = 0; i < dim_number; ++i) {
        if (dims[i] < -1)
            return tengine_error_set(TENGINE_ERANGE,
                                     "tensor '%s': dimension %d is %d, expected 0 or more",
                                     tensor->name, i, dims[i]);
        if (dims[i] <= 0) {
            empty = true;
        } else if (__builtin_mul_overflow(product, (int64_t)dims[i], &product) || product > most) {
            return tengine_error_set(
                TENGINE_ERANGE,
                "tensor '%s': its %d dimensions make more than " MAX_TENSOR_BYTES_TEXT " bytes",
                tensor->name, dim_number);
        }
    }
    if (dim_number > 0) memmove(tensor->dims, dims, sizeof(int) * (size_t)dim_number);
    tensor->dim_num = (uint8_t)dim_number;
    tensor->shape_set = 1;
    tensor->elem_num = empty ? 0 : product;
    return TENGINE_OK;
}

// Stores one string after the other, each ended by 0, and as many zeroes as needed for every
// dimension to have one.
static int declare(struct tensor* tensor, const int dims[], int dim_num, const char* const names[],
                   int number)
{
    size_t bytes = sizeof(ir_declaration_t) + MAX_SHAPE_DIM_NUM;
    for (int i = 0; i < number; ++i)
        bytes += strlen(names[i]);
    ir_declaration_t* declaration = alloc_memory(bytes);
    if (!declaration)
        return tengine_error_set(
            TENGINE_ENOMEM, "tensor '%s': out of memory for names of dimensions", tensor->name);
    declaration->dim_num = dim_num;
    if (dim_num > 0) memcpy(declaration->dims, dims, sizeof *dims * (size_t)dim_num);
    char* end = (char*)(declaration + 1);
    for (int i = 0; i < number; ++i, end += strlen(end) + 1)
        memcpy(end, names[i], strlen(names[i]));
    free_memory(tensor->core->declaration);
    tensor->core->declaration = declaration;
    return TENGINE_OK;
}

int set_ir_tensor_dim_names(struct tensor* tensor, const char* const names[], int number)
{
    return declare(tensor, tensor->dims, tensor->shape_set ? tensor->dim_num : -1, names, number);
}

int declare_ir_tensor_shape(struct tensor* tensor, const int dims[], const char* const names[],
                            int dim_num)
{
    return declare(tensor, dims, dim_num, names, dim_num);
}

int copy_ir_declaration(const struct tensor* from, struct tensor* to)
{
    if (!from->core->declaration) return TENGINE_OK;
    const char* last = get_ir_tensor_dim_name(from, MAX_SHAPE_DIM_NUM - 1);
    const char* begin = (const char*)from->core->declaration;
    const size_t bytes = (size_t)(last + strlen(last) + 1 - begin);
    ir_declaration_t* copy = alloc_memory(bytes);
    if (!copy)
        return tengine_error_set(TENGINE_ENOMEM,
                                 "tensor '%s': out of memory for names of dimensions", to->name);
    memcpy(copy, begin, bytes);
    free_memory(to->core->declaration);
    to->core->declaration = copy;
    return TENGINE_OK;
}

const char* get_ir_tensor_dim_name(const struct tensor* tensor, int dim)
{
    if (!tensor->core->declaration || dim < 0 || dim >= MAX_SHAPE_DIM_NUM) return "";
    const char* name = (const char*)(tensor->core->declaration + 1);
    for (int i = 0; i < dim; ++i)
        name += strlen(name) + 1;
    return name;
}

int set_ir_tensor_data_type(struct tensor* tensor, int data_type)
{
    if (get_data_type_size(data_type) == 0)
        return tengine_error_set(TENGINE_EDTYPE,
                                 "tensor '%s': invalid data type %d: expected 0 to %d",
                                 tensor->name, data_type, TENGINE_DT_COMPLEX128);
    const int elem_size = get_data_type_size(data_type);
    if (tensor->elem_num > MAX_TENSOR_BYTES / elem_size)
        return tengine_error_set(
            TENGINE_ERANGE,
            "tensor '%s': %lld elements of %s make more than " MAX_TENSOR_BYTES_TEXT " bytes",
            tensor->name, (long long)tensor->elem_num, get_data_type_name(data_type));
    tensor->data_type = (uint8_t)data_type;
    tensor->elem_size = (uint8_t)elem_size;
    return TENGINE_OK;
}

void forget_ir_tensor_type(struct tensor* tensor)
{
    tensor->data_type = TENGINE_DT_UNKNOWN;
    tensor->elem_size = 0;
}

void forget_ir_tensor_shape(struct tensor* tensor)
{
    tensor->shape_set = 0;
    tensor->dim_num = 0;
    tensor->elem_num = 0;
}

bool is_ir_tensor_shape_known(const struct tensor* tensor)
{
    if (!tensor->shape_set) return false;
    for (int i = 0; i < tensor->dim_num; ++i)
        if (tensor->dims[i] < 0) return false;
    return true;
}

size_t get_ir_tensor_bytes(const struct tensor* tensor)
{
    if (!is_ir_tensor_shape_known(tensor)) return 0;
    return count_packed_bytes(tensor->elem_num, get_data_type_bits(tensor->data_type));
}

int allocate_ir_tensor(struct tensor* tensor)
{
    const size_t bytes = get_ir_tensor_bytes(tensor);
    void* data = alloc_memory(bytes);
    if (!data)
        return tengine_error_set(TENGINE_ENOMEM, "tensor '%s': out of memory for %zu bytes",
                                 tensor->name, bytes);
    set_ir_tensor_data(tensor, data, true);
    return TENGINE_OK;
}

int set_ir_tensor_quantization_parameter(struct tensor* tensor, const float* scale,
                                         const int* zero_point, int number)
{
    if (!scale || !zero_point || number < 0)
        return tengine_error_set(TENGINE_EINVAL,
                                 "tensor '%s': quantisation needs scales and zero points, got %d",
                                 tensor->name, number);
    if (number <= 1) {
        release_quant_params(tensor);
        if (number == 1) {
            tensor->scale = scale[0];
            tensor->zero_point = zero_point[0];
        }
        tensor->quant_param_num = number;
        return TENGINE_OK;
    }
    float* scales = alloc_memory(sizeof(*scales) * (size_t)number);
    int* zero_points = alloc_memory(sizeof(*zero_points) * (size_t)number);
    if (!scales || !zero_points) {
        free_memory(scales);
        free_memory(zero_points);
        return tengine_error_set(TENGINE_ENOMEM, "tensor '%s': out of memory for %d scales",
                                 tensor->name, number);
    }
    memcpy(scales, scale, sizeof(*scales) * (size_t)number);
    memcpy(zero_points, zero_point, sizeof(*zero_points) * (size_t)number);
    release_quant_params(tensor);
    tensor->scale_list = scales;
    tensor->zp_list = zero_points;
    tensor->quant_param_num = number;
    return TENGINE_OK;
}

int get_ir_tensor_quantization_parameter(const struct tensor* tensor, float* scale, int* zero_point,
                                         int number)
{
    const int stored = tensor->quant_param_num;
    if (number < stored)
        return tengine_error_set(TENGINE_ERANGE,
                                 "tensor '%s': the arrays have room for %d scales, expected %d",
                                 tensor->name, number, stored);
    for (int i = 0; i < stored; ++i) {
        scale[i] = stored == 1 ? tensor->scale : tensor->scale_list[i];
        zero_point[i] = stored == 1 ? tensor->zero_point : tensor->zp_list[i];
    }
    return stored;
}

int add_ir_consumer(struct tensor* tensor, int node_index, int input)
{
    if (!push_ir_index_pair(&tensor->consumer, &tensor->core->consumer_input, tensor->consumer_num,
                            node_index, input))
        return tengine_error_set(TENGINE_ENOMEM, "tensor '%s': out of memory for a consumer",
                                 tensor->name);
    ++tensor->consumer_num;
    return TENGINE_OK;
}

int set_ir_tensor_consumer(struct tensor* tensor, int index)
{
    return add_ir_consumer(tensor, index, -1);
}

int get_ir_tensor_index_from_name(const struct graph* graph, const char* tensor_name)
{
    return find_ir_tensor_name(graph, tensor_name);
}
