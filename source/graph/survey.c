// SPDX-License-Identifier: Apache-2.0
// What devices found in an execution graph (allocator.survey) and keep with it.
#include "base/alloc.h"
#include "graph/core.h"
#include "tengine/device.h"

typedef struct survey
{
    const struct device* device;
    void* found;
    void (*release)(void* found);
} survey_t;

static void release_survey(void* data)
{
    const survey_t* survey = data;
    if (survey->release) survey->release(survey->found);
}

static int find_survey(const struct graph* graph, const struct device* device)
{
    int index = get_vector_num(graph->core->surveys) - 1;
    while (index >= 0 &&
           ((const survey_t*)get_vector_data(graph->core->surveys, index))->device != device)
        --index;
    return index;
}

int set_ir_device_survey(const struct graph* graph, const struct device* device, void* found,
                         void (*release)(void* found))
{
    struct ir_graph_core* core = graph->core;
    const survey_t survey = {device, found, release};
    const int earlier = find_survey(graph, device);
    if (!core->surveys) core->surveys = create_vector(sizeof survey, release_survey);
    if (!core->surveys || push_vector_data(core->surveys, &survey) < 0)
        return tengine_error_set(TENGINE_ENOMEM, "no memory for what device '%s' found in a graph",
                                 device->name);
    if (earlier >= 0) remove_vector_via_index(core->surveys, earlier);
    return TENGINE_OK;
}

void* get_ir_device_survey(const struct graph* graph, const struct device* device)
{
    const struct graph* whole = graph->core->whole ? graph->core->whole : graph;
    const int index = find_survey(whole, device);
    return index < 0 ? NULL
                     : ((const survey_t*)get_vector_data(whole->core->surveys, index))->found;
}
