// SPDX-License-Identifier: Apache-2.0
// SparseTensorProto to dense values: elements that are not listed are 0. tensor.h reads its values
// and indices.
#pragma once

#include "serializer/onnx/tensor.h"

namespace tengine {

class SparseReader
{
  public:
    // The dense tensors of a model have at most this many bytes, since a few bytes of a file can
    // encode any number of zeros.
    static constexpr size_t kMostBytes = size_t{256} << 20;

    // All but `owner`, which names the tensor in messages, must outlive the reader. `*left`: bytes
    // that the other tensors of the model leave, from which describe() subtracts those of this one.
    SparseReader(const ::onnx::SparseTensorProto& proto, const std::string& owner,
                 ExternalData* external, size_t* left);

    // Checks type and shape, and that there is an index for each value; TENGINE_ELIMIT.
    TENGINE_MUST_USE int describe();

    // The following are valid after describe().
    int data_type() const { return values_.data_type(); }
    int dim_num() const { return dim_num_; }
    const int* dims() const { return dims_; }

    // Writes all elements. TENGINE_EFORMAT for an index that is out of range or not greater than
    // the one before it.
    TENGINE_MUST_USE int read(const struct graph& graph, void* out_values);

  private:
    TENGINE_MUST_USE int measure();
    TENGINE_MUST_USE int find_place(const int64_t* index, int64_t* out_place) const;

    const ::onnx::SparseTensorProto& proto_;
    std::string owner_;
    TensorReader values_;
    TensorReader indices_;
    size_t& left_;
    int dim_num_ = 0;
    int dims_[MAX_SHAPE_DIM_NUM] = {};
    size_t bytes_ = 0;     // all elements
    int64_t number_ = 0;   // number of values
    int index_width_ = 0;  // 1: positions in the flattened tensor, or one for each dimension
};

}  // namespace tengine
