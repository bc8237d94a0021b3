// SPDX-License-Identifier: Apache-2.0
// Products of fp32 tensors with constant weights as int8 products. The weights are quantised here,
// the other operand in each run: row by row (tengine.RowQuantizeMatMul, RowQuantizeLSTM), or as a
// whole if a device takes only that (com.microsoft.DynamicQuantizeMatMul). Other nodes do not
// change.
#pragma once

#include "optimizer/graph/rewriter.h"

namespace tengine {

class Hybrid
{
  public:
    // `data_type`: TENGINE_DT_INT8, of the weights.
    Hybrid(struct graph& graph, const struct device* device, const Candidates& candidates,
           int data_type)
        : rewriter_(graph, device, candidates), data_type_(data_type)
    {
    }

    // Rewrites the products that the device takes; leaves gaps and disorder.
    int run();

  private:
    struct Product;
    struct Form;
    struct Matrix
    {
        tensor *bytes = nullptr, *scales = nullptr;
    };

    bool find_product(node& node, Product* out_product) const;
    Matrix make_matrix(const tensor& weight, int axis, const Vector<int>& dims,
                       const Vector<int>& scale_dims);
    bool rewrite(const Product& product, const Form& form);
    void rewrite_product(node& node);
    bool rewrite_lstm(node& lstm);

    Rewriter rewriter_;
    const int data_type_;
};

}  // namespace tengine
