// SPDX-License-Identifier: Apache-2.0
// Converts fp32 nodes to a narrower float type, with casts between them and others.
#pragma once

#include "base/maps.hpp"
#include "optimizer/graph/rewriter.h"
#include "optimizer/precision/wide_values.h"

namespace tengine {

class Converter
{
  public:
    // `data_type`: TENGINE_DT_FP16 or TENGINE_DT_BF16.
    Converter(struct graph& graph, const struct device* device, const Candidates& candidates,
              int data_type);

    // Converts the nodes that the device takes; leaves gaps and disorder.
    int run();

  private:
    bool convert(node& node);
    tensor* narrow(tensor* value);
    tensor* narrow_constant(const tensor& value);
    tensor* find_copy(const tensor& value) const;
    tensor* find_narrow(const tensor& value) const;
    void remember_copies(const node& origin, const node& made);
    bool widen_outputs(node& origin, node& made);
    String name_of(const tensor& value) const;

    Rewriter rewriter_;
    const int data_type_;
    WideValues wide_;
    // Narrow copies of constants, by the index of the original and by that of the model's tensor.
    // The latter map also has copies of earlier conversions for other devices.
    UnorderedMap<int32_t, tensor*> copies_;
    UnorderedMap<int32_t, tensor*> model_copies_;
};

}  // namespace tengine
