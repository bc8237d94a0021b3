// SPDX-License-Identifier: Apache-2.0
// C API: a float graph as a quantised one.
#include "tengine/quantize.h"

#include "api/check.h"
#include "api/graph.h"
#include "api/model_file.h"
#include "optimizer/optimizer.h"

static int check_quantization(const struct tengine_quantization* how, const char* function)
{
    TENGINE_RETURN_IF_ERROR(check_pointer(how, function, "how"));
    if (!how->dynamic && !how->get_range)
        return tengine_error_set(TENGINE_EINVAL, "%s: get_range is NULL", function);
    if (how->dynamic &&
        (how->get_range || how->take_tensor || how->unsigned_activations || how->per_channel))
        return tengine_error_set(TENGINE_EINVAL,
                                 "%s: dynamic is set, and so is %s: ranges are found in each run, "
                                 "as uint8, and weights have a scale for each column",
                                 function,
                                 how->get_range              ? "get_range"
                                 : how->take_tensor          ? "take_tensor"
                                 : how->unsigned_activations ? "unsigned_activations"
                                                             : "per_channel");
    if (how->per_channel < TENGINE_PER_TENSOR || how->per_channel > 1)
        return tengine_error_set(TENGINE_EINVAL,
                                 "%s: per_channel is %d: expected 0, 1 or TENGINE_PER_TENSOR",
                                 function, how->per_channel);
    if (how->keep_float_number < 0)
        return tengine_error_set(TENGINE_EINVAL, "%s: keep_float_number is %d: expected 0 or more",
                                 function, how->keep_float_number);
    for (int i = 0; i < how->keep_float_number; ++i)
        TENGINE_RETURN_IF_ERROR(check_name(!how->keep_float ? NULL : how->keep_float[i], function,
                                           "a pattern of keep_float"));
    return TENGINE_OK;
}

graph_t tengine_graph_quantize(graph_t graph, const struct tengine_quantization* how)
{
    const api_graph_t* target = find_graph(graph, __func__);
    struct graph* made = NULL;
    if (!target || check_quantization(how, __func__) < 0 || check_idle(target, __func__) < 0 ||
        check_model_files(target->graph) < 0 ||
        create_quantized_graph(target->graph, how, &made) < 0)
        return api_pointer(NULL);
    return api_pointer(give_graph(made, target));
}
