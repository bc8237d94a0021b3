// SPDX-License-Identifier: Apache-2.0
// The nodes and tensors that qdq_graph.cc adds to the graph of a quantised model: pairs, and
// quantised constants that a DequantizeLinear reads. After the first failure functions do nothing
// and return null.
#pragma once

#include "optimizer/graph/namer.h"
#include "optimizer/precision/weights.h"

namespace tengine {

class QdqBuilder
{
  public:
    // `opset`: of the new nodes.
    QdqBuilder(graph& target, int opset) : target_(target), opset_(opset) {}

    graph& target() const { return target_; }
    Namer& tensor_names() { return tensor_names_; }
    Namer& node_names() { return node_names_; }

    int status() const { return status_; }
    void fail(int status)
    {
        if (status < 0 && status_ == TENGINE_OK) status_ = status;
    }

    // A new tensor with this name.
    tensor* add_tensor(const String& name, int data_type);

    void connect(node& made, const Vector<tensor*>& inputs, tensor* output);

    // A new node of ONNX's with this name; null inputs are left out.
    node* add_node(const char* op, const String& name, const Vector<tensor*>& inputs,
                   const Vector<tensor*>& outputs);

    tensor* add_constant(const String& name, int data_type, const Vector<int>& dims,
                         const void* bytes);

    // A QuantizeLinear that reads `source` and a DequantizeLinear that writes `result`, or a new
    // tensor if that is null. Returns that tensor. `name`: of the quantised tensor, as below.
    tensor* add_pair(const String& name, const Quantization& by, tensor* source, tensor* result);

    // Constants in int8 or uint8, or in int32 for a bias; the results are float. Weights and biases
    // have the zero point 0; without an axis, -1, they have one scale, a scalar.
    tensor* add_constant_operand(const String& name, const Quantization& by, const tensor& value);
    tensor* add_weight(const String& name, const WeightBytes& quantized, int axis,
                       const tensor& weight);
    tensor* add_bias(const String& name, const Vector<float>& scales, int axis, const tensor& bias);

  private:
    tensor* add_scale(const String& name, const Quantization& by);
    tensor* add_zero_point(const String& name, const Quantization& by);
    tensor* add_linear(const char* op, const String& name, int axis, const Vector<tensor*>& inputs,
                       tensor* output);
    tensor* dequantize(const String& name, int axis, const Vector<tensor*>& inputs);
    tensor* dequantize_symmetric(const String& name, tensor* stored, const Vector<float>& scales,
                                 int axis);

    graph& target_;
    const int opset_;
    int status_ = TENGINE_OK;
    Namer tensor_names_;
    Namer node_names_;
};

}  // namespace tengine
