// SPDX-License-Identifier: Apache-2.0
// The stand-in for the room calibration in a build without it (TENGINE_WITH_CALIBRATION).
#include "api/check.h"
#include "tengine/calibration.h"

static int fail_absent(const char* function)
{
    return api_result(tengine_error_set(
        TENGINE_ENOTSUP, "%s: this build cannot calibrate (CMake option TENGINE_WITH_CALIBRATION)",
        function));
}

tengine_calibration_t tengine_calibration_create(graph_t graph,
                                                 const struct tengine_calibration_options* options,
                                                 size_t size)
{
    (void)graph, (void)options, (void)size;
    fail_absent(__func__);
    return NULL;
}

int tengine_calibration_run(tengine_calibration_t calibration)
{
    (void)calibration;
    return fail_absent(__func__);
}

int tengine_calibration_choose(tengine_calibration_t calibration, graph_t placed,
                               const struct tengine_calibration_scales scales[], int number,
                               struct tengine_quantization_choice* out_choice, size_t size)
{
    (void)calibration, (void)placed, (void)scales, (void)number, (void)out_choice, (void)size;
    return fail_absent(__func__);
}

int tengine_calibration_search(tengine_calibration_t calibration, double max_drop)
{
    (void)calibration, (void)max_drop;
    return fail_absent(__func__);
}

int tengine_calibration_compare(tengine_calibration_t calibration, const int64_t labels[],
                                int64_t label_number)
{
    (void)calibration, (void)labels, (void)label_number;
    return fail_absent(__func__);
}

graph_t tengine_calibration_quantize(tengine_calibration_t calibration)
{
    (void)calibration;
    fail_absent(__func__);
    return NULL;
}

int tengine_calibration_destroy(tengine_calibration_t calibration)
{
    return calibration ? fail_absent(__func__) : 0;
}

int tengine_calibration_get_summary(tengine_calibration_t calibration,
                                    struct tengine_calibration_summary* out_summary, size_t size)
{
    (void)calibration, (void)out_summary, (void)size;
    return fail_absent(__func__);
}

int tengine_calibration_get_layer(tengine_calibration_t calibration, int index,
                                  struct tengine_calibrated_layer* out_layer, size_t size)
{
    (void)calibration, (void)index, (void)out_layer, (void)size;
    return fail_absent(__func__);
}

int tengine_calibration_get_node(tengine_calibration_t calibration, int index,
                                 struct tengine_calibrated_node* out_node, size_t size)
{
    (void)calibration, (void)index, (void)out_node, (void)size;
    return fail_absent(__func__);
}

int tengine_calibration_get_tensor(tengine_calibration_t calibration, int index,
                                   struct tengine_calibrated_tensor* out_tensor, size_t size)
{
    (void)calibration, (void)index, (void)out_tensor, (void)size;
    return fail_absent(__func__);
}

int tengine_calibration_get_output(tengine_calibration_t calibration, int index,
                                   struct tengine_calibrated_output* out_output, size_t size)
{
    (void)calibration, (void)index, (void)out_output, (void)size;
    return fail_absent(__func__);
}
