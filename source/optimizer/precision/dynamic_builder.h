// SPDX-License-Identifier: Apache-2.0
// The nodes that qdq_graph.cc writes in place of a product whose left operand is quantised in each
// run: those that ONNX Runtime's quantize_dynamic writes, which ONNX Runtime and the pass
// dynamic_chain.cc merge.
#pragma once

#include <utility>

#include "base/maps.hpp"
#include "optimizer/precision/qdq_builder.h"

namespace tengine {

class DynamicBuilder
{
  public:
    explicit DynamicBuilder(QdqBuilder& builder) : builder_(builder) {}

    // Writes the nodes for `from`, a MatMul or plain Gemm by a constant matrix of finite values.
    // The tensors belong to the new graph; `bias` may be null. MatMulInteger gets the name of
    // `from`. Fails as the builder.
    void write(const node& from, tensor* x, tensor* bias, tensor* result);

  private:
    struct Bytes
    {
        tensor *bytes, *scale, *zero_point;
    };
    struct Matrix
    {
        tensor *bytes, *scales;
    };

    const Bytes& quantize(tensor* x);
    const Matrix& write_matrix(const tensor& weight, int axis);
    tensor* add_float(const String& name);
    void add(const char* op, const String& name, const Vector<tensor*>& inputs, tensor* output);

    QdqBuilder& builder_;
    Map<const tensor*, Bytes> bytes_;
    Map<std::pair<const tensor*, int>, Matrix> matrices_;  // by weight and axis of the columns
};

}  // namespace tengine
