// SPDX-License-Identifier: Apache-2.0
// The Add of a bias after a product by a constant matrix.
#pragma once

#include "tengine/ir.h"

namespace tengine {

// Whether `value` is null, or a constant list with a float for each of the columns.
bool is_product_bias(const tensor* value, int columns);

bool has_same_shape(const tensor& a, const tensor& b);

// The Add of a bias that is the only reader of `product`, null if there is none, or if it must stay
// in float. *out_bias is the bias.
node* find_product_sum(const graph& graph, const tensor& product, int columns, tensor** out_bias);

}  // namespace tengine
