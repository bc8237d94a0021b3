// SPDX-License-Identifier: Apache-2.0
// Strings that kernels make (graph/string_pool.h). Minimal builds have none.
#pragma once

#include <cstring>
#include <string_view>

#include "device/cpu/kernel_context.h"
#include "graph/string_pool.h"

namespace tengine::cpu {

inline const char* const* texts_of(const tensor* input)
{
    return static_cast<const char* const*>(input->data);
}

// Stores the graph's own copy of the string as element `index` of the output.
TENGINE_MUST_USE inline int write_text(const KernelContext& context, int64_t index,
                                       std::string_view text, int output = 0)
{
    auto** elements = static_cast<const char**>(context.output(output)->data);
    return intern_ir_string(context.node->graph, text.data(), text.size(), &elements[index]);
}

TENGINE_MUST_USE inline int write_texts(const KernelContext& context, const char* const* texts,
                                        int64_t number)
{
    for (int64_t i = 0; i < number; ++i)
        TENGINE_RETURN_IF_ERROR(write_text(context, i, texts[i]));
    return TENGINE_OK;
}

}  // namespace tengine::cpu
