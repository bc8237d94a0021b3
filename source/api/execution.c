// SPDX-License-Identifier: Apache-2.0
// C API, group Execution: prepare, run, wait, release, threads, events. The work is done in
// scheduler/scheduler.h.
#include "api/check.h"
#include "api/custom_kernel.h"
#include "api/model_file.h"
#include "base/cpu.h"
#include "graph/graph.h"
#include "graph/preparation.h"
#include "graph/run_state.h"
#include "optimizer/optimizer.h"
#include "scheduler/failure.h"
#include "scheduler/scheduler.h"
#include "tengine/inspect.h"
#include "tengine/log.h"
#include "tengine/run.h"

static int count_cores(uint64_t mask)
{
    int number = 0;
    for (; mask != 0; mask &= mask - 1)
        ++number;
    return number > 0 ? number : get_cpu_count();
}

// The program's request, limited to the number of the machine's threads.
static ir_run_options_t translate_options(const options_t* wanted)
{
    const bool cluster_known =
        wanted->cluster >= TENGINE_CLUSTER_ALL && wanted->cluster <= TENGINE_CLUSTER_LITTLE;
    const bool precision_known =
        wanted->precision >= TENGINE_MODE_FP32 && wanted->precision <= TENGINE_MODE_BF16;
    ir_run_options_t options = {
        .num_thread = wanted->num_thread,
        .cluster = cluster_known ? wanted->cluster : TENGINE_CLUSTER_BIG,
        .precision = precision_known ? wanted->precision : TENGINE_MODE_FP32,
    };
    const uint64_t cores = get_cluster_mask(options.cluster);
    const int core_num = count_cores(cores);
    if (options.num_thread <= 0 || options.num_thread > core_num) options.num_thread = core_num;
    options.affinity = (wanted->affinity & cores) != 0 ? wanted->affinity & cores : cores;
    // Threads that may use all cores need not be pinned.
    if (options.affinity == get_cluster_mask(TENGINE_CLUSTER_ALL)) options.affinity = 0;
    return options;
}

static bool is_read_input(const struct graph* execution, int tensor_index)
{
    const struct tensor* tensor = get_ir_graph_tensor(execution, tensor_index);
    return tensor->tensor_type == TENSOR_TYPE_INPUT &&
           (tensor->consumer_num > 0 || is_ir_graph_output(execution, tensor_index));
}

// The number of listed inputs that the execution graph reads; a list has each once.
static int count_listed_inputs(const struct graph* execution)
{
    int number = 0;
    for (int i = 0; i < execution->input_tensor_num; ++i)
        if (is_read_input(execution, execution->input_tensors[i])) ++number;
    return number;
}

static bool is_listed_input(const struct graph* graph, int tensor_index)
{
    for (int i = 0; i < graph->input_tensor_num; ++i)
        if (graph->input_tensors[i] == tensor_index) return true;
    return false;
}

// An input that the execution graph reads but that the program has not listed, so that it gets no
// data; NULL when there is none.
static const struct tensor* find_unlisted_input(const struct graph* execution)
{
    int number = 0;
    for (int i = 0; i < execution->tensor_num; ++i)
        if (is_read_input(execution, i)) ++number;
    if (number == count_listed_inputs(execution)) return NULL;
    for (int i = 0; i < execution->tensor_num; ++i)
        if (is_read_input(execution, i) && !is_listed_input(execution, i))
            return get_ir_graph_tensor(execution, i);
    return NULL;
}

static int check_inputs(struct graph* graph, const char* function)
{
    const struct tensor* unlisted = find_unlisted_input(graph->core->execution);
    if (!unlisted) return TENGINE_OK;
    const char* name = get_ir_graph_tensor(graph, unlisted->core->source_index)->name;
    postrun_ir_graph(graph);
    return tengine_error_set(
        TENGINE_EGRAPH,
        "%s: tensor '%s' is an input, but not an output of a node of set_graph_input_node",
        function, name);
}

// Drops preparations of files that have changed.
static int check_files(struct graph* graph)
{
    if (check_model_files(graph) == TENGINE_OK) return TENGINE_OK;
    ir_failure_t failure = {0};
    keep_ir_failure(&failure);
    (void)postrun_ir_graph(graph);
    return raise_ir_failure(&failure);
}

// prerun_ir_graph() or place_ir_graph().
typedef int (*prepare_t)(struct graph* graph, const ir_run_options_t* options);

// After a preparation, custom kernels that it does not use are finished, and after a failure all of
// them.
static int prepare_and_finish(const api_graph_t* owner, const char* function,
                              const ir_run_options_t* options, prepare_t prepare)
{
    struct graph* graph = owner->graph;
    ir_failure_t failure = {0};
    int status = prepare(graph, options);
    if (status == TENGINE_OK) status = check_inputs(graph, function);
    if (status == TENGINE_OK) status = check_files(graph);
    if (status < 0) keep_ir_failure(&failure);
    const int finished = finish_graph_kernels(owner);
    if (failure.code != 0) return raise_ir_failure(&failure);
    if (finished < 0) TLOG_WARNING("%s: %s", function, tengine_error_message());
    return TENGINE_OK;
}

static int prepare(api_graph_t* graph, const char* function, const options_t* wanted,
                   prepare_t prepare_graph)
{
    TENGINE_RETURN_IF_ERROR(check_idle(graph, function));
    graph->has_run = false;
    const ir_run_options_t options = translate_options(wanted);
    TENGINE_RETURN_IF_ERROR(prepare_and_finish(graph, function, &options, prepare_graph));
    graph->changed = false;
    return TENGINE_OK;
}

int prerun_graph(graph_t graph)
{
    api_graph_t* target = find_graph(graph, __func__);
    return !target ? api_failure()
                   : api_result(prepare(target, __func__, &target->thread, prerun_ir_graph));
}

int prerun_graph_multithread(graph_t graph, struct options opt)
{
    api_graph_t* target = find_graph(graph, __func__);
    return !target ? api_failure() : api_result(prepare(target, __func__, &opt, prerun_ir_graph));
}

int tengine_graph_place(graph_t graph, struct options opt)
{
    api_graph_t* target = find_graph(graph, __func__);
    return !target ? api_failure() : api_result(prepare(target, __func__, &opt, place_ir_graph));
}

int tengine_graph_cancel(graph_t graph)
{
    const api_graph_t* target = find_graph(graph, __func__);
    if (!target) return api_failure();
    if (cancel_ir_preparation(target->graph) || cancel_ir_runs(target->graph)) return 0;
    return api_result(tengine_error_set(
        TENGINE_ESTATE, "%s: the graph is neither being prepared nor running", __func__));
}

int tengine_graph_set_completion(graph_t graph, tengine_completion_t function, void* user_data)
{
    api_graph_t* target = find_graph(graph, __func__);
    if (!target || check_idle(target, __func__) < 0) return api_failure();
    target->graph->core->completion = (ir_completion_hook_t){function, user_data};
    return 0;
}

static void raise_event(const api_graph_t* graph, int event)
{
    const event_handler_t function = graph->hooks[event].function;
    if (function) function(graph->graph, event, graph->hooks[event].argument);
}

// `status` is that of the run; a hook must not change the message of its failure.
static void end_run(api_graph_t* graph, int status)
{
    graph->failure.code = 0;
    if (status < 0) {
        explain_ir_inputs(graph->graph, status);
        keep_ir_failure(&graph->failure);
    }
    raise_event(graph, status < 0 ? GRAPH_EXEC_ABORT : GRAPH_EXEC_DONE);
    if (status < 0) raise_ir_failure(&graph->failure);
}

static int check_runnable(const api_graph_t* graph, int block, const char* function)
{
    if (graph->running)
        return tengine_error_set(TENGINE_ESTATE, "%s: must not be called by a hook of the graph",
                                 function);
    if (!graph->graph->core->execution)
        return tengine_error_set(TENGINE_ESTATE, "%s: call prerun_graph first", function);
    if (graph->changed)
        return tengine_error_set(TENGINE_ESTATE,
                                 "%s: the graph was changed after prerun_graph; call it again",
                                 function);
    return check_ir_graph_run(graph->graph, block);
}

static int prepare_again(api_graph_t* graph, const char* function)
{
    const ir_run_options_t options = graph->graph->core->execution->core->run_options;
    return prepare_and_finish(graph, function, &options, prerun_ir_graph);
}

// Values of inputs may decide shapes (operator.h, value_shape). The graph is then prepared again
// before it runs.
static int follow_values(api_graph_t* graph, const char* function)
{
    const bool is_followed =
        graph->graph->status != GRAPH_STAT_READY || has_ir_execution_values(graph->graph);
    return is_followed ? TENGINE_OK : prepare_again(graph, function);
}

// Values that only the run computes may decide shapes, too. The run then fails, and is repeated
// once.
static int run_with_values(api_graph_t* graph, int block, const char* function)
{
    const int status = run_ir_graph(graph->graph, block);
    if (!await_ir_values(graph->graph, status)) return status;
    tengine_error_clear();
    TENGINE_RETURN_IF_ERROR(prepare_again(graph, function));
    return run_ir_graph(graph->graph, block);
}

// A run that is left in flight ends in wait_graph.
int run_graph(graph_t graph, int block)
{
    api_graph_t* target = find_graph(graph, __func__);
    if (!target || check_runnable(target, block, __func__) < 0 ||
        follow_values(target, __func__) < 0)
        return api_failure();
    target->running = true;
    target->has_run = true;
    raise_event(target, GRAPH_EXEC_START);
    int status = run_with_values(target, block, __func__);
    const bool has_ended = status < 0 || target->graph->status != GRAPH_STAT_RUNNING;
    // After a change of a mapped file, its results are invalid.
    if (status == TENGINE_OK && has_ended) status = check_model_files(target->graph);
    if (has_ended) end_run(target, status);
    if (has_ended && status >= 0 && !block) tell_ir_completion(target->graph, TENGINE_OK);
    target->running = false;
    return api_result(status);
}

static int wait_for_oldest(api_graph_t* graph, int try_wait)
{
    graph->running = true;
    int status = wait_ir_graph(graph->graph, try_wait);
    const int checked = status > 0 ? check_model_files(graph->graph) : TENGINE_OK;
    if (checked < 0) status = checked;
    if (status != 0) end_run(graph, status);
    graph->running = false;
    return api_result(status);
}

int wait_graph(graph_t graph, int try_wait)
{
    api_graph_t* target = find_graph(graph, __func__);
    if (!target) return api_failure();
    if (!target->has_run)
        return api_result(tengine_error_set(TENGINE_ESTATE,
                                            "%s: no run was started since prerun_graph", __func__));
    if (target->running) return 0;
    if (target->graph->status == GRAPH_STAT_RUNNING) return wait_for_oldest(target, try_wait);
    if (target->failure.code == 0) return 1;
    return api_result(tengine_error_set(target->failure.code, "%s: the last run failed: %s",
                                        __func__, target->failure.message));
}

int postrun_graph(graph_t graph)
{
    api_graph_t* target = find_graph(graph, __func__);
    if (!target || check_idle(target, __func__) < 0) return api_failure();
    target->has_run = false;
    ir_failure_t failure = {0};
    if (postrun_ir_graph(target->graph) < 0) keep_ir_failure(&failure);
    const int finished = finish_graph_kernels(target);
    return api_result(failure.code != 0 ? raise_ir_failure(&failure) : finished);
}

int get_graph_exec_status(graph_t graph)
{
    const api_graph_t* target = find_graph(graph, __func__);
    if (!target) return api_failure();
    return target->running ? GRAPH_STAT_RUNNING : target->graph->status;
}

int set_graph_event_hook(graph_t graph, int event, event_handler_t cb_func, void* cb_arg)
{
    api_graph_t* target = find_graph(graph, __func__);
    if (!target || check_idle(target, __func__) < 0) return api_failure();
    if (event < 0 || event >= GRAPH_EVENT_NUMBER)
        return api_result(tengine_error_set(TENGINE_EINVAL,
                                            "%s: invalid event %d: expected 0 to %d", __func__,
                                            event, GRAPH_EVENT_NUMBER - 1));
    target->hooks[event].function = cb_func;
    target->hooks[event].argument = cb_arg;
    return 0;
}

size_t get_cluster_affinity_mask(int cluster)
{
    return (size_t)get_cluster_mask(cluster);
}

int set_graph_thread(graph_t graph, int cluster, int threads)
{
    api_graph_t* target = find_graph(graph, __func__);
    if (!target || check_idle(target, __func__) < 0) return api_failure();
    if (cluster < TENGINE_CLUSTER_ALL || cluster > TENGINE_CLUSTER_LITTLE)
        return api_result(tengine_error_set(TENGINE_EINVAL,
                                            "%s: invalid cluster %d: expected %d to %d", __func__,
                                            cluster, TENGINE_CLUSTER_ALL, TENGINE_CLUSTER_LITTLE));
    target->thread.cluster = cluster;
    target->thread.num_thread = threads;
    return 0;
}

int set_graph_thread_mask(graph_t graph, size_t cpu_mask)
{
    api_graph_t* target = find_graph(graph, __func__);
    if (!target || check_idle(target, __func__) < 0) return api_failure();
    target->thread.affinity = cpu_mask;
    return 0;
}
