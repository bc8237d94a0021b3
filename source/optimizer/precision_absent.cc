// SPDX-License-Identifier: Apache-2.0
// The stand-in for the folder precision/ in a build without it (TENGINE_WITH_PRECISIONS): runs are
// in fp32.
#include "optimizer/pass.h"
#include "tengine/device.h"
#include "tengine/error.h"

namespace tengine {
namespace {

int fail_absent()
{
    return tengine_error_set(TENGINE_ENOTSUP,
                             "this build runs graphs in fp32 only; others, and quantising, need "
                             "the CMake option TENGINE_WITH_PRECISIONS");
}

}  // namespace

// Nodes between DequantizeLinear and QuantizeLinear compute in float.
void take_model_precision(graph&) {}

int find_model_precision(const graph&)
{
    return TENGINE_MODE_FP32;
}

int find_rounding(const graph&, int inherited)
{
    return inherited;
}

int apply_precision_options(graph& graph)
{
    return graph.run_options->precision == TENGINE_MODE_FP32 ? TENGINE_OK : fail_absent();
}

int quantize_float_graph(graph&, const tengine_quantization&, graph**)
{
    return fail_absent();
}

int check_precision(graph&)
{
    return TENGINE_OK;
}

}  // namespace tengine

int apply_ir_precision(struct graph*, struct device*, int)
{
    return TENGINE_OK;
}

int quantize_ir_graph(struct graph*, struct device*, int)
{
    return tengine::fail_absent();
}

int convert_ir_graph(struct graph*, struct device*, int)
{
    return tengine::fail_absent();
}
