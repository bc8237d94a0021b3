// SPDX-License-Identifier: Apache-2.0
// The surveys of devices (allocator.survey): data that they found in an execution graph and stored
// with it.
#include <stdatomic.h>

#include "base/alloc.h"
#include "graph/graph.h"
#include "tengine/device.h"

// A survey of the execution graph, and of its parts that may outlive it.
typedef struct survey
{
    atomic_int use_num;
    const struct device* device;
    void* found;
    void (*release)(void* found);
} survey_t;

static void leave_survey(void* data)
{
    survey_t* survey = *(survey_t**)data;
    if (atomic_fetch_sub(&survey->use_num, 1) > 1) return;
    if (survey->release) survey->release(survey->found);
    free_memory(survey);
}

static survey_t* get_survey(const struct graph* graph, int index)
{
    return *(survey_t**)get_vector_data(graph->core->surveys, index);
}

static int find_survey(const struct graph* graph, const struct device* device)
{
    int index = get_vector_num(graph->core->surveys) - 1;
    while (index >= 0 && get_survey(graph, index)->device != device)
        --index;
    return index;
}

static int fail_memory(const struct device* device)
{
    return tengine_error_set(TENGINE_ENOMEM, "out of memory for what device '%s' found in a graph",
                             device->name);
}

static int push_survey(ir_graph_core_t* core, survey_t* survey)
{
    if (!core->surveys) core->surveys = create_vector(sizeof survey, leave_survey);
    if (core->surveys && push_vector_data(core->surveys, &survey) == 0) return TENGINE_OK;
    return fail_memory(survey->device);
}

int set_ir_device_survey(const struct graph* graph, const struct device* device, void* found,
                         void (*release)(void* found))
{
    const int earlier = find_survey(graph, device);
    survey_t* survey = alloc_memory(sizeof *survey);
    if (!survey) return fail_memory(device);
    atomic_init(&survey->use_num, 1);
    survey->device = device;
    survey->found = found;
    survey->release = release;
    const int status = push_survey(graph->core, survey);
    if (status < 0)
        free_memory(survey);
    else if (earlier >= 0)
        remove_vector_via_index(graph->core->surveys, earlier);
    return status;
}

int share_ir_survey(struct graph* part, const struct graph* whole, const struct device* device)
{
    const int index = find_survey(whole, device);
    if (index < 0) return TENGINE_OK;
    survey_t* survey = get_survey(whole, index);
    TENGINE_RETURN_IF_ERROR(push_survey(part->core, survey));
    atomic_fetch_add(&survey->use_num, 1);
    return TENGINE_OK;
}

void* get_ir_device_survey(const struct graph* graph, const struct device* device)
{
    const struct graph* whole = graph->core->whole ? graph->core->whole : graph;
    const int index = find_survey(whole, device);
    return index < 0 ? NULL : get_survey(whole, index)->found;
}
