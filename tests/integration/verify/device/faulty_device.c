// SPDX-License-Identifier: Apache-2.0
// A device with an error that one plants: FAULTY computes Conv, Relu, Add and AveragePool in fp32,
// and QLinearConv in int8, with the default device, a part for each node, but one for a Conv and
// the AveragePool that follows it, and then does what its option "error" says. With "none" it does
// everything right. Each other word is an error of a kind that vendors' devices have had, and that
// one check of `tengine verify` is there to find.
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>

#include "tengine/plugin.h"

// X(name, what goes wrong)
#define ERROR_LIST(X)                                                          \
    X(none, "nothing")                                                         \
    X(scale, "results of Conv are larger by 0.1 %")                            \
    X(steps, "bytes of results of QLinearConv are two steps further")          \
    X(row, "rows of results of Conv are those above them")                     \
    X(odd_width, "the last column of Conv is left out where widths are odd")   \
    X(reshape, "Conv computes what the first shape had room for")              \
    X(drift, "every other run of Conv rounds differently")                     \
    X(layout, "the channels of AveragePool behind Conv come in another order") \
    X(race, "results of Conv go through memory that all graphs share")         \
    X(threads, "Conv of several threads leaves out the last row")              \
    X(allocate, "runs take memory from the heap and give it back")             \
    X(grow, "each preparation takes memory that is not given back")            \
    X(compile, "what inspect takes is refused by pre_run, without a message")  \
    X(async, "asynchronous runs after the first compute nothing")

enum planted_error
{
#define ERROR_ENUM(name, help) ERROR_##name,
    ERROR_LIST(ERROR_ENUM)
#undef ERROR_ENUM
};

static const char* const error_names[] = {
#define ERROR_NAME(name, help) #name,
    ERROR_LIST(ERROR_NAME)
#undef ERROR_NAME
};

#define ERROR_NUMBER ((int)(sizeof error_names / sizeof error_names[0]))

// A prepared part: the default device's work, and the error in it.
struct faulty_graph
{
    void* inner;
    int error;
    int64_t first_elements;  // of the result, in the first shape
    int runs;
};

// ---- which nodes ----

static int describe(struct device* device, struct vector* allowed_ops, struct vector* blocked_ops,
                    struct vector* precision)
{
    static const char* const names[] = {"Conv", "Relu", "Add", "QLinearConv", "AveragePool"};
    static const int types[] = {TENGINE_DT_FP32, TENGINE_DT_INT8};
    (void)device, (void)blocked_ops;
    TENGINE_RETURN_IF_ERROR(push_op_names(allowed_ops, names, 5));
    for (int i = 0; i < 2; ++i) {
        if (push_vector_data(precision, &types[i]) < 0)
            return tengine_error_set(TENGINE_ENOMEM, "FAULTY: out of memory for a list");
    }
    return TENGINE_OK;
}

static bool has_op(const struct node* node, const char* op)
{
    return strcmp(get_ir_node_op(node), op) == 0;
}

// The Conv whose result a AveragePool takes; NULL: none.
static const struct node* find_conv_before(const struct node* node)
{
    const struct tensor* input = get_ir_node_input(node, 0);
    if (!has_op(node, "AveragePool") || input->producer < 0) return NULL;
    const struct node* producer = get_ir_graph_node(node->graph, input->producer);
    return has_op(producer, "Conv") ? producer : NULL;
}

// A group for each node, so that each is a part, and its output is the part's result.
static int inspect(struct device* device, const struct node* node, ir_verdict_t* out_verdict)
{
    (void)device;
    if (node->dynamic_shape)
        refuse_ir_node(out_verdict, IR_REASON_SHAPE, "", "", "shapes must be known in pre_run");
    const struct node* conv = find_conv_before(node);
    out_verdict->group = (conv ? conv : node)->index + 1;
    return TENGINE_OK;
}

// ---- the errors ----

static struct tensor* result_of(const struct subgraph* part, const char* op)
{
    const struct node* node = get_ir_graph_node(part->graph, part->node_list[0]);
    return strcmp(get_ir_node_op(node), op) == 0 ? get_ir_node_output(node, 0) : NULL;
}

static struct tensor* result_of_conv(const struct subgraph* part)
{
    return result_of(part, "Conv");
}

static int64_t width_of(const struct tensor* result)
{
    return result->dims[result->dim_num - 1];
}

static void spoil_scale(struct tensor* result)
{
    for (int64_t i = 0; i < result->elem_num; ++i)
        result->f32[i] *= 1.001f;
}

// The bytes go round at the end.
static void spoil_steps(const struct subgraph* part)
{
    struct tensor* result = result_of(part, "QLinearConv");
    for (int64_t i = 0; result && i < result->elem_num; ++i)
        result->u8[i] = (uint8_t)(result->u8[i] + 2);
}

// The first channel is the last.
static void spoil_layout(const struct subgraph* part)
{
    if (part->node_num < 2) return;
    struct tensor* result =
        get_ir_node_output(get_ir_graph_node(part->graph, part->node_list[1]), 0);
    const int64_t plane = result->elem_num / result->dims[0] / result->dims[1];
    float* last = result->f32 + (result->dims[1] - 1) * plane;
    for (int64_t i = 0; result->data_type == TENGINE_DT_FP32 && i < plane; ++i) {
        const float value = result->f32[i];
        result->f32[i] = last[i];
        last[i] = value;
    }
}

static void spoil_row(struct tensor* result)
{
    const int64_t width = width_of(result);
    const int64_t height = result->dim_num > 3 ? result->dims[result->dim_num - 2] : 1;
    for (int64_t i = result->elem_num - 1; i >= width; --i) {
        if (i / width % height != 0) result->f32[i] = result->f32[i - width];
    }
}

static void spoil_odd_width(struct tensor* result)
{
    const int64_t width = width_of(result);
    if (width % 2 == 0) return;
    for (int64_t i = width - 1; i < result->elem_num; i += width)
        result->f32[i] = 0;
}

static void spoil_after(struct tensor* result, int64_t elements)
{
    for (int64_t i = elements; i < result->elem_num; ++i)
        result->f32[i] = 0;
}

// One unit in the last place, no more than kernels differ by.
static void spoil_drift(struct tensor* result)
{
    for (int64_t i = 0; i < result->elem_num; ++i) {
        uint32_t bits;
        memcpy(&bits, &result->f32[i], sizeof bits);
        bits ^= 1;
        memcpy(&result->f32[i], &bits, sizeof bits);
    }
}

// Atomic, so that only the order of whole elements goes wrong.
static void spoil_race(struct tensor* result)
{
    enum
    {
        ROOM = 4096
    };
    static _Atomic float shared[ROOM];
    const struct timespec moment = {0, 100000};
    const int64_t number = result->elem_num < ROOM ? result->elem_num : ROOM;
    for (int64_t i = 0; i < number; ++i)
        shared[i] = result->f32[i];
    thrd_sleep(&moment, NULL);
    for (int64_t i = 0; i < number; ++i)
        result->f32[i] = shared[i];
}

static void spoil(const struct subgraph* part, const struct faulty_graph* compiled)
{
    struct tensor* result = result_of_conv(part);
    if (compiled->error == ERROR_steps) spoil_steps(part);
    if (compiled->error == ERROR_layout) spoil_layout(part);
    if (!result || result->elem_num == 0) return;
    switch (compiled->error) {
        case ERROR_scale:
            spoil_scale(result);
            break;
        case ERROR_row:
            spoil_row(result);
            break;
        case ERROR_odd_width:
            spoil_odd_width(result);
            break;
        case ERROR_reshape:
            spoil_after(result, compiled->first_elements);
            break;
        case ERROR_drift:
            if (compiled->runs % 2 == 0) spoil_drift(result);
            break;
        case ERROR_race:
            spoil_race(result);
            break;
        case ERROR_threads:
            if (part->graph->run_options->num_thread > 1)
                spoil_after(result, result->elem_num - width_of(result));
            break;
        default:
            break;
    }
}

// ---- from a part to its results ----

static int error_of(struct device* device, const struct graph* graph)
{
    const char* name = get_ir_device_option(graph, device, "error");
    for (int i = 0; name && i < ERROR_NUMBER; ++i) {
        if (strcmp(name, error_names[i]) == 0) return i;
    }
    return ERROR_none;
}

// Calls an entry of the default device, which sees its own device_graph.
static int call_host(int (*entry)(struct device*, struct subgraph*), struct subgraph* part)
{
    struct faulty_graph* const compiled = part->device_graph;
    part->device_graph = compiled->inner;
    const int status = entry(find_default_device(), part);
    part->device_graph = compiled;
    return status;
}

// Memory that nothing frees stays reachable: it is not lost, it grows.
static int grow(void)
{
    struct link
    {
        struct link* next;
        char bytes[65536];
    };
    static _Atomic(struct link*) first;
    struct link* added = malloc(sizeof *added);
    if (!added) return tengine_error_set(TENGINE_ENOMEM, "FAULTY: out of memory");
    memset(added->bytes, 1, sizeof added->bytes);
    added->next = atomic_exchange(&first, added);
    return TENGINE_OK;
}

static int pre_run(struct device* device, struct subgraph* part, void* options)
{
    struct device* host = find_default_device();
    struct faulty_graph* compiled = part->device_graph;
    const struct tensor* result = result_of_conv(part);
    (void)options;
    if (!compiled) {
        compiled = calloc(1, sizeof *compiled);
        if (!compiled) return tengine_error_set(TENGINE_ENOMEM, "FAULTY: out of memory for a part");
        compiled->error = error_of(device, part->graph);
        compiled->first_elements = result ? result->elem_num : 0;
    }
    part->device_graph = compiled->inner;
    const int status = host->interface->pre_run(host, part, NULL);
    compiled->inner = part->device_graph;
    part->device_graph = compiled;
    if (status != TENGINE_OK) return status;
    if (compiled->error == ERROR_compile && result) return TENGINE_EDEVICE;
    return compiled->error == ERROR_grow ? grow() : TENGINE_OK;
}

static int run(struct device* device, struct subgraph* part)
{
    struct faulty_graph* const compiled = part->device_graph;
    (void)device;
    // Volatile: a compiler may leave out memory that is not used.
    void* volatile scratch = compiled->error == ERROR_allocate ? malloc(1024) : NULL;
    const int status = call_host(find_default_device()->interface->run, part);
    ++compiled->runs;
    if (status == TENGINE_OK) spoil(part, compiled);
    free(scratch);
    return status;
}

// A run that it starts is done when it returns.
static int async_run(struct device* device, struct subgraph* part)
{
    struct faulty_graph* const compiled = part->device_graph;
    if (compiled->error != ERROR_async || compiled->runs == 0) return run(device, part);
    return TENGINE_OK;
}

static int async_wait(struct device* device, struct subgraph* part, int try_wait)
{
    (void)device, (void)part, (void)try_wait;
    return 1;
}

static int post_run(struct device* device, struct subgraph* part)
{
    (void)device;
    return part->device_graph ? call_host(find_default_device()->interface->post_run, part)
                              : TENGINE_OK;
}

static int release_graph(struct device* device, void* device_graph)
{
    struct device* host = find_default_device();
    struct faulty_graph* const compiled = device_graph;
    (void)device;
    const int status = compiled && compiled->inner
                           ? host->interface->release_graph(host, compiled->inner)
                           : TENGINE_OK;
    free(compiled);
    return status;
}

// ---- the device ----

static int check_option(struct device* device, const char* key, const char* value)
{
    (void)device;
    if (strcmp(key, "error") != 0)
        return tengine_error_set(TENGINE_ENOENT, "FAULTY has no option '%s', only 'error'", key);
    for (int i = 0; i < ERROR_NUMBER; ++i) {
        if (strcmp(value, error_names[i]) == 0) return TENGINE_OK;
    }
    return tengine_error_set(TENGINE_EINVAL, "FAULTY plants no error '%s'", value);
}

static const ir_device_option_t* option(struct device* device, int index)
{
#define ERROR_HELP(name, help) #name ": " help ". "
    static const ir_device_option_t options[] = {{"error", "none", ERROR_LIST(ERROR_HELP)}};
    (void)device;
    return index == 0 ? options : NULL;
}

static int do_nothing(struct device* device)
{
    (void)device;
    return TENGINE_OK;
}

static struct interface interface = {
    .init = do_nothing,
    .pre_run = pre_run,
    .run = run,
    .post_run = post_run,
    .async_run = async_run,
    .async_wait = async_wait,
    .release_graph = release_graph,
    .release_device = do_nothing,
    .check_option = check_option,
    .option = option,
};

static struct allocator allocator = {
    .describe = describe,
    .inspect = inspect,
};

static struct device faulty_device = {
    .name = "FAULTY",
    .interface = &interface,
    .allocator = &allocator,
};

static int register_faulty(void)
{
    return register_device(&faulty_device);
}

static int unregister_faulty(void)
{
    return unregister_device(&faulty_device);
}

TENGINE_PLUGIN("faulty", "1.0", register_faulty, unregister_faulty);
