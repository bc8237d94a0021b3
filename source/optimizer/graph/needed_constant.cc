// SPDX-License-Identifier: Apache-2.0
#include "base/containers.hpp"
#include "base/guard.hpp"
#include "graph/graph.h"
#include "optimizer/graph/extent.h"
#include "optimizer/optimizer.h"

namespace tengine {
namespace {

int list_needed_constants(const graph& source, vector_t& constants)
{
    for (const int32_t index : find_extent(source).tensors)
        if (source.tensor_list[index]->tensor_type == TENSOR_TYPE_CONST &&
            push_vector_data(&constants, &index) < 0)
            return tengine_error_set(TENGINE_ENOMEM, "graph '%s': out of memory while preparing it",
                                     source.name);
    return TENGINE_OK;
}

}  // namespace
}  // namespace tengine

int list_ir_needed_constants(const struct graph* source, struct vector* constants)
{
    return tengine::guarded([&] { return tengine::list_needed_constants(*source, *constants); },
                            "graph '%s': out of memory while preparing it", source->name);
}
