// SPDX-License-Identifier: Apache-2.0
// The results of TensorFlow Lite's operators as files declare them.
#include <string_view>

#include "graph/graph.h"
#include "optimizer/pass.h"

namespace tengine {

int leave_source(const graph& body, graph& copy)
{
    for (int i = 0; i < copy.tensor_num; ++i) {
        struct tensor& tensor = *copy.tensor_list[i];
        const node* writer = get_ir_graph_node(&copy, tensor.producer);
        const struct tensor* declared = get_ir_graph_tensor(&body, tensor.core->source_index);
        if (!writer || !declared || std::string_view(get_ir_node_domain(writer)) != "tflite")
            continue;
        tensor.data_type = declared->data_type;
        tensor.elem_size = declared->elem_size;
        if (!declared->shape_set) continue;
        TENGINE_RETURN_IF_ERROR(set_ir_tensor_shape(&tensor, declared->dims, declared->dim_num));
    }
    copy.core->source = nullptr;
    return TENGINE_OK;
}

}  // namespace tengine
