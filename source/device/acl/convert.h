// SPDX-License-Identifier: Apache-2.0
// Descriptions of tensors for ACL. Its first dimension is the innermost, so shapes are reversed,
// and a tensor N x C x H x W has ACL's layout NCHW.
#pragma once

#include "device/acl/acl_version.h"
#include "tengine/ir.h"

namespace tengine::acl {

using arm_compute::DataType;
using arm_compute::ITensor;
using arm_compute::ITensorInfo;
using arm_compute::QuantizationInfo;
using arm_compute::TensorInfo;
using arm_compute::TensorShape;

constexpr int kMaxRank = static_cast<int>(arm_compute::MAX_DIMS);

// UNKNOWN for a type that ACL does not have. int8, uint8 and bool are plain integers: ACL's
// quantised types are for operators with a scale.
DataType to_acl_type(int data_type);

// The shape of outermost-first dimensions, as graphs have them.
TensorShape to_acl_shape(std::initializer_list<int> dims);
TensorShape to_acl_shape(const int dims[], int number);

// A tensor of rank 0 becomes one element. The rank is kMaxRank at most.
TensorInfo to_acl_info(const tensor& tensor);
TensorInfo make_info(const TensorShape& shape, DataType type, const QuantizationInfo& scale = {});

// ACL's number of an axis that a graph counts from the outermost, 0 <= axis < rank.
inline unsigned to_acl_axis(int axis, int rank)
{
    return static_cast<unsigned>(rank - 1 - axis);
}

// Copies between dense memory and a tensor whose rows may have padding. Sizes are the tensor's.
void copy_in(const void* dense, ITensor* tensor);
void copy_out(const ITensor& tensor, void* dense);

}  // namespace tengine::acl
