// SPDX-License-Identifier: Apache-2.0
// Products of fp32 with constant weights as products of bytes: the weights are quantised here, what
// they are multiplied with in each run (com.microsoft.DynamicQuantizeMatMul). All else stays as it
// is.
#pragma once

#include "optimizer/precision/rewriter.h"

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

    // Rewrites what the device takes; leaves gaps and disorder.
    int run();

  private:
    struct Product;

    bool find_product(node& node, Product* out_product) const;
    void find_sum(Product* product) const;
    bool make_weights(const Product& product, Vector<tensor*>* inputs);
    bool rewrite(const Product& product);

    Rewriter rewriter_;
    const int data_type_;
};

}  // namespace tengine
