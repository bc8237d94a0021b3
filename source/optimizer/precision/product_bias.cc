// SPDX-License-Identifier: Apache-2.0
#include "optimizer/precision/product_bias.h"

#include <algorithm>

#include "graph/graph.h"
#include "optimizer/pass.h"

namespace tengine {

bool is_product_bias(const tensor* value, int columns)
{
    return !value ||
           (value->tensor_type == TENSOR_TYPE_CONST && value->data_type == TENGINE_DT_FP32 &&
            value->dim_num == 1 && value->elem_num == columns);
}

bool has_same_shape(const tensor& a, const tensor& b)
{
    return a.shape_set && b.shape_set && a.dim_num == b.dim_num &&
           std::equal(a.dims, a.dims + a.dim_num, b.dims);
}

node* find_product_sum(const graph& graph, const tensor& product, int columns, tensor** out_bias)
{
    node* reader = find_only_reader(graph, product);
    if (!is_op(reader, "Add") || reader->core->keep_float) return nullptr;
    tensor* bias = get_ir_node_input(reader, get_ir_node_input(reader, 0) == &product ? 1 : 0);
    if (bias == &product || !bias || !is_product_bias(bias, columns) ||
        !has_same_shape(product, *get_ir_node_output(reader, 0)))
        return nullptr;
    *out_bias = bias;
    return reader;
}

}  // namespace tengine
