// SPDX-License-Identifier: Apache-2.0
#include "scheduler/bucket.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "graph/bucket.h"
#include "graph/graph.h"
#include "graph/option.h"
#include "operator/operator.h"
#include "scheduler/exchange.h"

// Answers that are kept; the oldest one is dropped first.
#define MOST_REQUESTS 64

// An input of the source graph as the program has it.
typedef struct own_input
{
    ir_frame_value_t shape;
    void* data;
} own_input_t;

struct ir_buckets
{
    int number;
    int input_num;
    int output_num;
    struct vector* shapes;    // ir_bucket_shape_t
    struct vector* requests;  // ir_request_t*, the newest last
    own_input_t* own;         // while the inputs have other shapes
    void** inputs;            // of the present request, see get_ir_padded_input()
    void** outputs;
    size_t bytes;
    const ir_request_t* present;
};

static int fail_memory(const struct graph* source)
{
    return tengine_error_set(TENGINE_ENOMEM, "graph '%s': out of memory for buckets", source->name);
}

static struct tensor* input_of(const struct graph* graph, int index)
{
    return graph->tensor_list[graph->input_tensors[index]];
}

static void copy_shape(const struct tensor* tensor, ir_frame_value_t* out_value)
{
    *out_value = (ir_frame_value_t){
        .data_type = tensor->data_type, .dim_num = tensor->dim_num, .shape_set = tensor->shape_set};
    memcpy(out_value->dims, tensor->dims, sizeof out_value->dims);
}

// ---- the list ----

static void free_request(void* item)
{
    ir_request_t* request = *(ir_request_t**)item;
    if (!request) return;
    release_vector(request->inputs);
    release_vector(request->shapes);
    free_memory(request->message);
    free_memory(request);
}

void free_ir_buckets(ir_buckets_t* buckets)
{
    if (!buckets) return;
    leave_ir_request(buckets);
    release_vector(buckets->shapes);
    release_vector(buckets->requests);
    free_memory(buckets->own);
    free_memory(buckets->inputs);
    free_memory(buckets->outputs);
    free_memory(buckets);
}

static ir_buckets_t* create_buckets(const struct graph* source)
{
    ir_buckets_t* made = alloc_memory(sizeof *made);
    if (!made) return NULL;
    const size_t input_num = (size_t)source->input_tensor_num;
    const size_t output_num = (size_t)source->output_tensor_num;
    *made = (ir_buckets_t){.number = count_ir_buckets(source),
                           .input_num = source->input_tensor_num,
                           .output_num = source->output_tensor_num,
                           .shapes = create_vector(sizeof(ir_bucket_shape_t), NULL),
                           .requests = create_vector(sizeof(ir_request_t*), free_request),
                           .own = alloc_memory(sizeof *made->own * (input_num + 1)),
                           .inputs = alloc_memory(sizeof(void*) * (input_num + 1)),
                           .outputs = alloc_memory(sizeof(void*) * (output_num + 1))};
    if (!made->shapes || !made->requests || !made->own || !made->inputs || !made->outputs) {
        free_ir_buckets(made);  // there is no request yet, whose buffers would be freed
        return NULL;
    }
    return made;
}

int read_ir_buckets(const struct graph* source, ir_buckets_t** out_buckets)
{
    *out_buckets = NULL;
    if (source->core->outer || count_ir_buckets(source) == 0 ||
        get_ir_context_number(source->attribute->context, "run.buckets") == 0)
        return TENGINE_OK;
    ir_buckets_t* made = create_buckets(source);
    if (!made) return fail_memory(source);
    const int status = list_ir_bucket_shapes(source, made->shapes);
    if (status == TENGINE_OK)
        *out_buckets = made;
    else
        free_ir_buckets(made);
    return status;
}

int count_ir_listed_buckets(const ir_buckets_t* buckets)
{
    return buckets->number;
}

// ---- fitting ----

// The shape of an input in a bucket; NULL: that of each request.
static const ir_bucket_shape_t* find_shape(const ir_buckets_t* buckets, int bucket, int input)
{
    for (int i = 0; i < get_vector_num(buckets->shapes); ++i) {
        const ir_bucket_shape_t* shape = get_vector_data(buckets->shapes, i);
        if (shape->bucket == bucket && shape->input == input) return shape;
    }
    return NULL;
}

static bool holds(const ir_bucket_shape_t* shape, const struct tensor* input)
{
    if (shape->dim_num != input->dim_num || !input->shape_set) return false;
    for (int i = 0; i < shape->dim_num; ++i)
        if (input->dims[i] < 1 || input->dims[i] > shape->dims[i]) return false;
    return true;
}

static bool holds_all(const ir_buckets_t* buckets, const struct graph* source, int bucket)
{
    for (int i = 0; i < buckets->input_num; ++i) {
        const ir_bucket_shape_t* shape = find_shape(buckets, bucket, i);
        if (shape && !holds(shape, input_of(source, i))) return false;
    }
    return true;
}

int find_ir_exact_bucket(const ir_buckets_t* buckets, const struct graph* source)
{
    for (int bucket = 0; bucket < count_ir_read_buckets(buckets); ++bucket) {
        bool is_same = true;
        for (int i = 0; i < buckets->input_num; ++i) {
            const ir_bucket_shape_t* shape = find_shape(buckets, bucket, i);
            const struct tensor* input = input_of(source, i);
            is_same =
                is_same &&
                (!shape || (holds(shape, input) &&
                            memcmp(shape->dims, input->dims, sizeof(int) * input->dim_num) == 0));
        }
        if (is_same) return bucket;
    }
    return -1;
}

// The elements of all inputs that the bucket names.
static double measure_bucket(const ir_buckets_t* buckets, int bucket)
{
    double sum = 0;
    for (int i = 0; i < get_vector_num(buckets->shapes); ++i) {
        const ir_bucket_shape_t* shape = get_vector_data(buckets->shapes, i);
        double product = shape->bucket == bucket;
        for (int k = 0; k < shape->dim_num; ++k)
            product *= shape->dims[k];
        sum += product;
    }
    return sum;
}

static void insert_bucket(const ir_buckets_t* buckets, int list[], int number, int bucket)
{
    const double size = measure_bucket(buckets, bucket);
    int place = number;
    for (; place > 0 && measure_bucket(buckets, list[place - 1]) > size; --place)
        list[place] = list[place - 1];
    list[place] = bucket;
}

int list_ir_fitting_buckets(const ir_buckets_t* buckets, const struct graph* source, int** out_list,
                            int* out_num)
{
    *out_num = 0;
    *out_list = alloc_memory(sizeof(int) * (size_t)buckets->number);
    if (!*out_list) return fail_memory(source);
    for (int i = 0; i < buckets->number; ++i)
        if (holds_all(buckets, source, i)) insert_bucket(buckets, *out_list, (*out_num)++, i);
    return TENGINE_OK;
}

// ---- answers ----

static bool has_inputs_of(const ir_request_t* request, const struct graph* source)
{
    for (int i = 0; i < get_vector_num(request->inputs); ++i) {
        const ir_request_shape_t* shape = get_vector_data(request->inputs, i);
        const struct tensor* input = input_of(source, i);
        if (!input->shape_set || input->dim_num != shape->value.dim_num ||
            input->data_type != shape->value.data_type ||
            memcmp(input->dims, shape->value.dims, sizeof(int) * input->dim_num) != 0)
            return false;
    }
    return true;
}

const ir_request_t* find_ir_request(const ir_buckets_t* buckets, const struct graph* source)
{
    for (int i = 0; i < get_vector_num(buckets->requests); ++i) {
        const ir_request_t* request = *(ir_request_t**)get_vector_data(buckets->requests, i);
        if (has_inputs_of(request, source)) return request;
    }
    return NULL;
}

static int add_shape(struct vector* shapes, int32_t source_index, const ir_frame_value_t* value)
{
    const ir_request_shape_t shape = {source_index, *value};
    return push_vector_data(shapes, &shape);
}

// The shapes that the execution graph gives the tensors of its source.
static int list_shapes(const struct graph* source, const struct graph* request,
                       struct vector* shapes)
{
    const struct vector* settled = request->core->settled_shapes;
    ir_frame_value_t value;
    for (int i = 0; i < get_vector_num(settled); ++i) {
        const ir_settled_shape_t* shape = get_vector_data(settled, i);
        copy_shape(source->tensor_list[shape->source_index], &value);
        value.shape_set = 1;
        value.dim_num = (uint8_t)shape->dim_num;
        memcpy(value.dims, shape->dims, sizeof value.dims);
        if (add_shape(shapes, shape->source_index, &value) < 0) return fail_memory(source);
    }
    for (int i = 0; i < request->tensor_num; ++i) {
        const struct tensor* tensor = request->tensor_list[i];
        copy_shape(tensor, &value);
        if (tensor->core->source_index >= 0 &&
            add_shape(shapes, tensor->core->source_index, &value) < 0)
            return fail_memory(source);
    }
    return TENGINE_OK;
}

static int fill_request(ir_request_t* made, const struct graph* source, const struct graph* request,
                        const char* message)
{
    const size_t bytes = strlen(message) + 1;
    made->message = alloc_memory(bytes);
    made->inputs = create_vector(sizeof(ir_request_shape_t), NULL);
    made->shapes = create_vector(sizeof(ir_request_shape_t), NULL);
    if (!made->message || !made->inputs || !made->shapes) return fail_memory(source);
    memcpy(made->message, message, bytes);
    for (int i = 0; i < source->input_tensor_num; ++i) {
        ir_frame_value_t value;
        copy_shape(input_of(source, i), &value);
        if (add_shape(made->inputs, source->input_tensors[i], &value) < 0)
            return fail_memory(source);
    }
    return made->bucket < 0 ? TENGINE_OK : list_shapes(source, request, made->shapes);
}

int add_ir_request(ir_buckets_t* buckets, const struct graph* source, const struct graph* request,
                   int bucket, const char* message)
{
    ir_request_t* made = alloc_memory(sizeof *made);
    if (!made) return fail_memory(source);
    *made = (ir_request_t){.bucket = bucket};
    const int status = fill_request(made, source, request, message);
    if (status < 0 || push_vector_data(buckets->requests, &made) < 0) {
        free_request(&made);
        return status < 0 ? status : fail_memory(source);
    }
    if (get_vector_num(buckets->requests) > MOST_REQUESTS)
        remove_vector_via_index(buckets->requests, 0);
    return TENGINE_OK;
}

// ---- shapes of the source graph ----

int take_ir_bucket_shapes(ir_buckets_t* buckets, struct graph* source, int bucket)
{
    for (int i = 0; i < buckets->input_num; ++i) {
        struct tensor* input = input_of(source, i);
        copy_shape(input, &buckets->own[i].shape);
        buckets->own[i].data = input->data;
    }
    for (int i = 0; i < buckets->input_num; ++i) {
        const ir_bucket_shape_t* shape = find_shape(buckets, bucket, i);
        struct tensor* input = input_of(source, i);
        const int status =
            !shape ? TENGINE_OK : set_ir_tensor_shape(input, shape->dims, shape->dim_num);
        if (status < 0) {
            return_ir_own_shapes(buckets, source);
            return status;
        }
        if (shape) input->data = NULL;
    }
    return TENGINE_OK;
}

void return_ir_own_shapes(const ir_buckets_t* buckets, struct graph* source)
{
    for (int i = 0; i < buckets->input_num; ++i) {
        struct tensor* input = input_of(source, i);
        const ir_frame_value_t* shape = &buckets->own[i].shape;
        input->data = buckets->own[i].data;
        if (!shape->shape_set) continue;
        const int status = set_ir_tensor_shape(input, shape->dims, shape->dim_num);
        (void)status;  // it is one that the tensor had
    }
}

// ---- descriptions ----

static void write_shape(const int dims[], int dim_num, char out_text[], size_t capacity)
{
    size_t used = 0;
    out_text[0] = '\0';
    for (int i = 0; i < dim_num && used < capacity; ++i)
        used += (size_t)snprintf(out_text + used, capacity - used, i == 0 ? "%d" : "x%d", dims[i]);
}

void describe_ir_padding(const ir_buckets_t* buckets, const struct graph* source, int bucket,
                         char out_text[], size_t capacity)
{
    size_t used = 0;
    out_text[0] = '\0';
    for (int i = 0; i < buckets->input_num && used < capacity; ++i) {
        const ir_bucket_shape_t* shape = find_shape(buckets, bucket, i);
        const struct tensor* input = input_of(source, i);
        char own[128], larger[128];
        if (!shape || memcmp(shape->dims, input->dims, sizeof(int) * input->dim_num) == 0) continue;
        write_shape(input->dims, input->dim_num, own, sizeof own);
        write_shape(shape->dims, shape->dim_num, larger, sizeof larger);
        used += (size_t)snprintf(out_text + used, capacity - used,
                                 "%sinput '%.100s' of %s is padded to %s", used > 0 ? ", " : "",
                                 input->name, own, larger);
    }
}

static bool is_held(const ir_buckets_t* buckets, int index, const struct tensor* input)
{
    for (int bucket = 0; bucket < buckets->number; ++bucket) {
        const ir_bucket_shape_t* shape = find_shape(buckets, bucket, index);
        if (!shape || holds(shape, input)) return true;
    }
    return false;
}

void describe_ir_misfit(const ir_buckets_t* buckets, const struct graph* source, char out_text[],
                        size_t capacity)
{
    char own[128];
    for (int i = 0; i < buckets->input_num; ++i) {
        const struct tensor* input = input_of(source, i);
        if (is_held(buckets, i, input)) continue;
        write_shape(input->dims, input->dim_num, own, sizeof own);
        snprintf(out_text, capacity, "no bucket holds input '%.100s' of %s", input->name, own);
        return;
    }
    snprintf(out_text, capacity, "no bucket holds all inputs");
}

const char* explain_ir_bucket(const ir_buckets_t* buckets, const struct graph* source,
                              int* out_bucket)
{
    *out_bucket = -1;
    if (!buckets) return "";
    const ir_request_t* request = find_ir_request(buckets, source);
    *out_bucket = request ? request->bucket : find_ir_exact_bucket(buckets, source);
    return request ? request->message : "";
}

static bool can_be_copied(const struct tensor* tensor)
{
    return tensor->data_type != TENGINE_DT_STRING && get_data_type_bits(tensor->data_type) >= 8 &&
           is_ir_tensor_shape_known(tensor);
}

static bool reads_value_shape(const struct node* node)
{
    const struct value_shape* rule = node->op.method->value_shape;
    const struct tensor* value = rule ? get_ir_node_input(node, rule->input) : NULL;
    return value && value->tensor_type != TENSOR_TYPE_CONST;
}

const char* find_ir_padding_obstacle(const struct graph* bucket, const struct graph* request)
{
    for (int i = 0; i < request->node_num; ++i) {
        if (request->node_list[i]->core->custom_kernel)
            return "a node has a kernel of the program's";
        if (reads_value_shape(request->node_list[i])) return "a shape depends on data";
    }
    for (int i = 0; i < request->input_tensor_num; ++i)
        if (!has_same_ir_shape(input_of(bucket, i), input_of(request, i)) &&
            !can_be_copied(input_of(request, i)))
            return "an input that is padded has strings, or elements that share bytes";
    for (int i = 0; i < request->output_tensor_num; ++i) {
        const struct tensor* larger = bucket->tensor_list[bucket->output_tensors[i]];
        const struct tensor* own = request->tensor_list[request->output_tensors[i]];
        if (!is_ir_tensor_shape_known(larger) ||
            (!has_same_ir_shape(larger, own) && !can_be_copied(own)))
            return "an output has strings, elements that share bytes, or a shape that depends on "
                   "data";
    }
    return NULL;
}

// ---- the present request ----

static int allocate_buffer(ir_buckets_t* buckets, const struct graph* source, size_t bytes,
                           void** out_buffer)
{
    *out_buffer = alloc_memory(bytes);
    if (!*out_buffer) return fail_memory(source);
    buckets->bytes += bytes;
    return TENGINE_OK;
}

int hold_ir_request_memory(ir_buckets_t* buckets, const struct graph* source)
{
    const struct graph* execution = source->core->execution;
    for (int i = 0; i < buckets->input_num; ++i)
        if (!has_same_ir_shape(input_of(execution, i), input_of(source, i)))
            TENGINE_RETURN_IF_ERROR(allocate_buffer(
                buckets, source, get_ir_tensor_bytes(input_of(execution, i)), &buckets->inputs[i]));
    for (int i = 0; i < buckets->output_num; ++i) {
        const struct tensor* larger = execution->tensor_list[execution->output_tensors[i]];
        const struct tensor* own = source->tensor_list[source->output_tensors[i]];
        if (!has_same_ir_shape(larger, own))
            TENGINE_RETURN_IF_ERROR(
                allocate_buffer(buckets, source, get_ir_tensor_bytes(own), &buckets->outputs[i]));
    }
    return TENGINE_OK;
}

void enter_ir_request(ir_buckets_t* buckets, const ir_request_t* request)
{
    buckets->present = request;
}

void leave_ir_request(ir_buckets_t* buckets)
{
    if (!buckets || !buckets->present) return;
    for (int i = 0; i < buckets->input_num; ++i) {
        free_memory(buckets->inputs[i]);
        buckets->inputs[i] = NULL;
    }
    for (int i = 0; i < buckets->output_num; ++i) {
        free_memory(buckets->outputs[i]);
        buckets->outputs[i] = NULL;
    }
    buckets->bytes = 0;
    buckets->present = NULL;
}

const ir_request_t* find_ir_present_request(const ir_buckets_t* buckets)
{
    return buckets->present;
}

size_t measure_ir_request_bytes(const ir_buckets_t* buckets)
{
    return buckets->bytes;
}

void* find_ir_padded_input(const ir_buckets_t* buckets, int index)
{
    return buckets->inputs[index];
}

void* find_ir_cut_output(const ir_buckets_t* buckets, int index)
{
    return buckets->outputs[index];
}

// ---- copies ----

static size_t measure_row(const struct tensor* tensor, int axis)
{
    size_t bytes = tensor->elem_size;
    for (int i = axis; i < tensor->dim_num; ++i)
        bytes *= (size_t)tensor->dims[i];
    return bytes;
}

// Copies the elements of the smaller tensor, one way or the other.
static void copy_corner(const struct tensor* larger, char* whole, const struct tensor* smaller,
                        char* part, bool is_cut)
{
    int axis = smaller->dim_num - 1;  // the last one that differs, with all that follow
    while (axis > 0 && larger->dims[axis] == smaller->dims[axis])
        --axis;
    if (smaller->elem_num == 0) return;
    const size_t row = measure_row(smaller, axis < 0 ? 0 : axis);
    int index[MAX_SHAPE_DIM_NUM] = {0};
    for (;;) {
        size_t place = 0;
        for (int i = 0; i < axis; ++i)
            place = place * (size_t)larger->dims[i] + (size_t)index[i];
        char* at = whole + place * measure_row(larger, axis < 0 ? 0 : axis);
        memcpy(is_cut ? part : at, is_cut ? at : part, row);
        part += row;
        int outer = axis - 1;
        for (; outer >= 0 && ++index[outer] == smaller->dims[outer]; --outer)
            index[outer] = 0;
        if (outer < 0) return;
    }
}

void pad_ir_input(const struct tensor* given, const struct tensor* larger, void* out_data)
{
    const bool has_bytes =
        given->data_type == TENGINE_DT_INT8 || given->data_type == TENGINE_DT_UINT8;
    const int filler = has_bytes && given->quant_param_num == 1 ? given->zero_point : 0;
    memset(out_data, filler, get_ir_tensor_bytes(larger));
    copy_corner(larger, out_data, given, given->data, false);
}

void cut_ir_output(const struct tensor* larger, const void* data, const struct tensor* wanted,
                   void* out_data)
{
    copy_corner(larger, (char*)data, wanted, out_data, true);
}
