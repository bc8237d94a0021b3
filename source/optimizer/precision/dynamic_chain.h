// SPDX-License-Identifier: Apache-2.0
// Merges products whose left operand is quantised in each run, in the nodes that quantisers write:
// a DynamicQuantizeLinear, a MatMulInteger by a constant matrix, a Cast, one or two Mul with the
// scales, and an Add of a bias. They become one node: com.microsoft.DynamicQuantizeMatMul or, if
// several products share the left operand, which is then quantised once, MatMulIntegerToFloat.
#pragma once

#include "optimizer/graph/rewriter.h"

namespace tengine {

class DynamicChains
{
  public:
    DynamicChains(struct graph& graph, const struct device* device, const Candidates& candidates)
        : rewriter_(graph, device, candidates), device_(device), candidates_(candidates)
    {
    }

    // Whether the graph has such products.
    static bool may_be_in(const struct graph& graph);

    // Rewrites the products that the device takes, unless a better device takes the MatMulInteger;
    // leaves gaps and disorder.
    int run();

  private:
    struct Chain;

    bool find_chain(node& product, Chain* out_chain) const;
    bool find_scales(const tensor& converted, Chain* chain) const;
    bool take_scale(tensor* factor, Chain* chain) const;
    bool is_for_a_better_device(const node& product) const;
    bool merge(const Chain& chain);

    Rewriter rewriter_;
    const struct device* device_;
    const Candidates& candidates_;
};

}  // namespace tengine
