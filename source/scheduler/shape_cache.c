// SPDX-License-Identifier: Apache-2.0
#include "scheduler/shape_cache.h"

#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "graph/context.h"
#include "graph/graph.h"
#include "graph/graph_pool.h"
#include "graph/option.h"
#include "graph/shared_model.h"
#include "operator/custom/custom_kernel.h"
#include "operator/custom/op.h"
#include "optimizer/optimizer.h"
#include "scheduler/bucket.h"
#include "scheduler/exchange.h"
#include "scheduler/failure.h"
#include "scheduler/prepare.h"
#include "scheduler/scheduler.h"
#include "scheduler/session.h"
#include "scheduler/value_shape.h"

typedef struct shape_cache
{
    ir_terms_t terms;
    int32_t* outputs;  // the source's tensors that are outputs under these terms
    int output_num;
    struct vector* constants;  // int32_t: the source's constants that these preparations need
    struct vector* kept;       // struct graph*, the most recently used last
    ir_buckets_t* buckets;     // NULL: none
    struct graph*
        spare;  // a preparation that has ended, whose objects devices may use again; or NULL
    ir_lanes_t lanes;
} shape_cache_t;

static shape_cache_t* cache_of(const struct graph* source)
{
    return source->core->shape_cache;
}

static int count_kept(const struct graph* source)
{
    return !cache_of(source) ? 0 : get_vector_num(cache_of(source)->kept);
}

static struct graph* get_kept(const struct graph* source, int index)
{
    return *(struct graph**)get_vector_data(cache_of(source)->kept, index);
}

struct graph* get_ir_execution(const struct graph* source, int index)
{
    struct graph* present = source->core->execution;
    if (!present || index == 0) return present;
    return index <= count_kept(source) ? get_kept(source, index - 1) : NULL;
}

ir_lanes_t* get_ir_lanes(const struct graph* source)
{
    return !cache_of(source) ? NULL : &cache_of(source)->lanes;
}

struct ir_buckets* find_ir_buckets(const struct graph* source)
{
    return !cache_of(source) ? NULL : cache_of(source)->buckets;
}

struct graph* get_ir_spare(const struct graph* source)
{
    return !cache_of(source) ? NULL : cache_of(source)->spare;
}

// ---- terms ----

// FNV-1a by words of 8 bytes: it detects changes, but does not protect against forged values.
static uint64_t hash_bytes(uint64_t hash, const void* data, size_t bytes)
{
    const char* cursor = data;
    for (; bytes > 0;) {
        uint64_t word = 0;
        const size_t step = bytes < sizeof word ? bytes : sizeof word;
        memcpy(&word, cursor, step);
        hash = (hash ^ word) * 0x100000001b3u;
        hash ^= hash >> 29;
        cursor += step;
        bytes -= step;
    }
    return hash;
}

// Hashes the constants that the kept preparations need.
static uint64_t hash_lent_constants(const struct graph* source)
{
    uint64_t hash = 0xcbf29ce484222325u;
    const struct vector* constants = cache_of(source) ? cache_of(source)->constants : NULL;
    for (int i = 0; constants && i < get_vector_num(constants); ++i) {
        const int32_t index = *(const int32_t*)get_vector_data(constants, i);
        const struct tensor* tensor = source->tensor_list[index];
        if (tensor->core->lent && tensor->data)
            hash = hash_bytes(hash, tensor->data, get_ir_tensor_bytes(tensor));
    }
    return hash;
}

int read_ir_terms(const struct graph* source, const ir_run_options_t* options,
                  ir_terms_t* out_terms)
{
    const struct context* context = source->attribute->context;
    *out_terms = (ir_terms_t){
        .options = *options,
        .context = context,
        .context_revision = !context ? 0 : context->revision,
        .graph_revision = source->core->revision,
        .custom_op_revision = get_custom_op_revision(),
        .constants = hash_lent_constants(source),
        .process = getpid(),
    };
    TENGINE_RETURN_IF_ERROR(choose_ir_scheduler(source, &out_terms->scheduler));
    out_terms->options.concurrent = out_terms->scheduler->concurrent;
    if (get_ir_context_number(context, "run.profile") != 0) out_terms->options.profile = 1;
    return TENGINE_OK;
}

static bool are_same_options(const ir_run_options_t* a, const ir_run_options_t* b)
{
    return a->num_thread == b->num_thread && a->cluster == b->cluster &&
           a->precision == b->precision && a->affinity == b->affinity && a->profile == b->profile &&
           a->concurrent == b->concurrent;
}

static bool are_same_terms(const ir_terms_t* a, const ir_terms_t* b)
{
    return are_same_options(&a->options, &b->options) && a->scheduler == b->scheduler &&
           a->context == b->context && a->context_revision == b->context_revision &&
           a->graph_revision == b->graph_revision &&
           a->custom_op_revision == b->custom_op_revision && a->constants == b->constants &&
           a->process == b->process;
}

// ---- kept preparations ----

// A limit on memory covers everything that the graph holds.
static bool is_memory_limited(const struct graph* source)
{
    return get_ir_context_number(source->attribute->context, "memory.limit_mb") > 0;
}

static int get_capacity(const struct graph* source)
{
    if (is_memory_limited(source)) return 0;
    return (int)get_ir_context_number(source->attribute->context, "run.shape_cache") +
           count_ir_read_buckets(get_ir_buckets(source));
}

// A kernel that set_custom_kernel puts on a node is prepared for one shape at a time. Registered
// operators prepare themselves again for another shape.
static bool has_kernels_for_one_shape(const struct graph* source)
{
    const struct graph* execution = source->core->execution;
    for (int i = 0; i < execution->node_num; ++i) {
        const int32_t index = execution->node_list[i]->core->source_index;
        if (index >= 0 && has_kernel_for_one_shape(source->node_list[index])) return true;
    }
    return false;
}

// A device that failed is tried again in the next preparation.
static bool has_failed_devices(const struct graph* execution)
{
    for (int i = 0; i < execution->node_num; ++i) {
        const ir_node_core_t* core = execution->node_list[i]->core;
        for (int k = 0; k < core->refusal_num; ++k) {
            const int code = core->refusal_list[k].verdict.code;
            if (code == IR_REASON_COMPILE || code == IR_REASON_RUN || code == IR_REASON_DEVICE)
                return true;
        }
    }
    return false;
}

// Whether the last run ended well, or there was none, or it was cancelled.
static bool is_ready(const struct graph* source)
{
    return source->status == GRAPH_STAT_READY ||
           (source->status == GRAPH_STAT_ERROR &&
            get_ir_session(source->core->execution)->cancelled);
}

// Whether the present preparation could be used again.
static bool is_sound(const struct graph* source)
{
    return source->core->execution && is_ready(source) && !has_kernels_for_one_shape(source) &&
           !has_failed_devices(source->core->execution);
}

static struct graph* remove_kept(struct graph* source, int index)
{
    struct graph* execution = get_kept(source, index);
    remove_vector_via_index(cache_of(source)->kept, index);
    return execution;
}

void drop_ir_spare(struct graph* source)
{
    if (!cache_of(source)) return;
    destroy_ir_graph(cache_of(source)->spare);
    cache_of(source)->spare = NULL;
}

// Ends a sound preparation, except for objects that devices can use again in the next one.
static int make_spare(struct graph* source, struct graph* execution)
{
    drop_ir_spare(source);
    if (is_memory_limited(source)) return close_ir_execution(execution);
    return retire_ir_execution(execution, &cache_of(source)->spare);
}

int drop_ir_kept_executions(struct graph* source, int* out_num)
{
    ir_failure_t first_failure = {0};
    *out_num = count_kept(source) + (get_ir_spare(source) != NULL);
    drop_ir_spare(source);
    while (count_kept(source) > 0)
        if (close_ir_execution(remove_kept(source, 0)) < 0 && first_failure.code == 0)
            keep_ir_failure(&first_failure);
    return first_failure.code == 0 ? TENGINE_OK : raise_ir_failure(&first_failure);
}

static void free_cache(shape_cache_t* cache)
{
    if (!cache) return;
    release_ir_lanes(&cache->lanes);
    if (!IS_MINIMAL) free_ir_buckets(cache->buckets);
    release_vector(cache->kept);
    release_vector(cache->constants);
    free_memory(cache->outputs);
    free_memory(cache);
}

// Takes the present preparation; the source graph is then not prepared.
static struct graph* take_present(struct graph* source)
{
    struct graph* present = source->core->execution;
    if (cache_of(source))
        withdraw_ir_outputs(source, cache_of(source)->outputs, cache_of(source)->output_num);
    if (get_ir_buckets(source)) leave_ir_request(get_ir_buckets(source));
    source->core->execution = NULL;
    if (present) source->status = GRAPH_STAT_DONE;
    return present;
}

static int keep_present(struct graph* source)
{
    struct graph* present = take_present(source);
    if (push_vector_data(cache_of(source)->kept, &present) == 0) return TENGINE_OK;
    return close_ir_execution(present);
}

static int close_present(struct graph* source)
{
    struct graph* present = take_present(source);
    return !present ? TENGINE_OK : close_ir_execution(present);
}

int close_ir_executions(struct graph* source)
{
    ir_failure_t failure = {0};
    int number;
    if (close_present(source) < 0) keep_ir_failure(&failure);
    if (drop_ir_kept_executions(source, &number) < 0 && failure.code == 0)
        keep_ir_failure(&failure);
    free_cache(cache_of(source));
    source->core->shape_cache = NULL;
    return failure.code == 0 ? TENGINE_OK : raise_ir_failure(&failure);
}

// ---- packs ----

// The packs of the kept preparations depend on these. Threads' places and names of schedulers do
// not matter to them.
static ir_pack_terms_t find_pack_terms(const ir_terms_t* terms)
{
    return (ir_pack_terms_t){{terms->options.num_thread, terms->options.precision,
                              (int64_t)(uintptr_t)terms->context, (int64_t)terms->context_revision,
                              (int64_t)terms->custom_op_revision, (int64_t)terms->process}};
}

// Whether the kept preparations need constants that the program may write to without a call.
static bool needs_lent_constants(const struct graph* source)
{
    const struct vector* constants = cache_of(source)->constants;
    for (int i = 0; i < get_vector_num(constants); ++i)
        if (source->tensor_list[*(const int32_t*)get_vector_data(constants, i)]->core->lent)
            return true;
    return false;
}

// Packs belong to one set of terms; other instances of the model may have them.
static int renew_pool(struct graph* source)
{
    if (source->core->outer) {
        join_graph_pool(source, source->core->outer);
        return TENGINE_OK;
    }
    struct graph_packs* packs = NULL;
    const ir_pack_terms_t terms = find_pack_terms(&cache_of(source)->terms);
    if (!needs_lent_constants(source))
        TENGINE_RETURN_IF_ERROR(find_ir_shared_packs(source, &terms, &packs));
    const int status = renew_graph_pool(source, packs);
    release_graph_packs(packs);
    return status;
}

int share_ir_executions(struct graph* source)
{
    const shape_cache_t* cache = cache_of(source);
    if (!cache || cache->terms.graph_revision != source->core->revision ||
        needs_lent_constants(source))
        return share_ir_model(source, NULL);
    const ir_pack_terms_t terms = find_pack_terms(&cache->terms);
    return share_ir_model(source, &terms);
}

static int create_cache(struct graph* source, const ir_terms_t* terms)
{
    const size_t output_bytes = sizeof(int32_t) * (size_t)source->output_tensor_num;
    shape_cache_t* cache = alloc_memory(sizeof *cache);
    if (cache) cache->kept = create_vector(sizeof(struct graph*), NULL);
    if (cache) cache->constants = create_vector(sizeof(int32_t), NULL);
    if (cache) cache->outputs = alloc_memory(output_bytes);
    if (!cache || !cache->kept || !cache->constants || !cache->outputs) {
        free_cache(cache);
        return tengine_error_set(TENGINE_ENOMEM, "out of memory while keeping preparations");
    }
    int listed = list_ir_needed_constants(source, cache->constants);
    if (!IS_MINIMAL && listed >= 0) listed = read_ir_buckets(source, &cache->buckets);
    if (listed < 0) {
        free_cache(cache);
        return listed;
    }
    cache->terms = *terms;
    cache->output_num = source->output_tensor_num;
    if (output_bytes > 0) memcpy(cache->outputs, source->output_tensors, output_bytes);
    source->core->shape_cache = cache;
    cache->terms.constants = hash_lent_constants(source);
    return renew_pool(source);
}

int leave_ir_execution(struct graph* source, const ir_terms_t* terms)
{
    const bool same = cache_of(source) && are_same_terms(&cache_of(source)->terms, terms);
    if (!same) {
        TENGINE_RETURN_IF_ERROR(close_ir_executions(source));
        return create_cache(source, terms);
    }
    if (!is_sound(source)) return close_present(source);
    return get_capacity(source) > 0 ? keep_present(source)
                                    : make_spare(source, take_present(source));
}

static bool has_shapes_of(const struct graph* execution, const struct graph* source)
{
    for (int i = 0; i < source->input_tensor_num; ++i) {
        const struct tensor* wanted = source->tensor_list[source->input_tensors[i]];
        const struct tensor* made = execution->tensor_list[execution->input_tensors[i]];
        if (!has_same_ir_shape(wanted, made) || wanted->data_type != made->data_type) return false;
    }
    return true;
}

bool has_ir_execution_values(const struct graph* source)
{
    return has_ir_value_shapes(source->core->execution, source);
}

bool is_ir_execution_current(const struct graph* source)
{
    const struct graph* execution = source->core->execution;
    return execution && source->status == GRAPH_STAT_READY && has_shapes_of(execution, source) &&
           has_ir_value_shapes(execution, source);
}

// The place of the kept preparation for the present input shapes, or -1.
static int find_kept(const struct graph* source)
{
    int i = count_kept(source) - 1;
    while (i >= 0 && (!has_shapes_of(get_kept(source, i), source) ||
                      !has_ir_value_shapes(get_kept(source, i), source)))
        --i;
    return i;
}

struct graph* find_ir_kept_execution(const struct graph* source)
{
    const int place = find_kept(source);
    return place < 0 ? NULL : get_kept(source, place);
}

bool resume_ir_execution(struct graph* source)
{
    const int place = find_kept(source);
    if (place < 0) return false;
    struct graph* execution = remove_kept(source, place);
    forget_ir_runs(execution);
    source->core->execution = execution;
    return true;
}

int limit_ir_executions(struct graph* source)
{
    const int capacity = get_capacity(source);
    while (count_kept(source) > capacity)
        TENGINE_RETURN_IF_ERROR(make_spare(source, remove_kept(source, 0)));
    return TENGINE_OK;
}
