// SPDX-License-Identifier: Apache-2.0
#include "serializer/onnx/sparse.h"

#include <climits>
#include <cstring>
#include <vector>

#include "base/alloc.h"
#include "tengine/ir.h"

namespace tengine {

SparseReader::SparseReader(const ::onnx::SparseTensorProto& proto, const std::string& owner,
                           ExternalData* external, size_t* left)
    : proto_(proto),
      owner_(owner),
      values_(proto.values(), proto.values().raw_data(), owner + ": its values", external),
      indices_(proto.indices(), proto.indices().raw_data(), owner + ": its indices", external),
      left_(*left)
{
}

int SparseReader::describe()
{
    TENGINE_RETURN_IF_ERROR(values_.describe());
    if (values_.data_type() == TENGINE_DT_STRING || get_data_type_bits(values_.data_type()) < 8)
        return tengine_error_set(TENGINE_ENOTSUP, "%s: sparse tensors of %s are not supported",
                                 owner_.c_str(), get_data_type_name(values_.data_type()));
    TENGINE_RETURN_IF_ERROR(measure());
    if (values_.dim_num() != 1)
        return tengine_error_set(TENGINE_EFORMAT, "%s: its values have %d dimensions, expected 1",
                                 owner_.c_str(), values_.dim_num());
    number_ = values_.dims()[0];
    TENGINE_RETURN_IF_ERROR(indices_.describe());
    if (indices_.data_type() != TENGINE_DT_INT64)
        return tengine_error_set(TENGINE_EDTYPE, "%s: its indices are %s, expected int64",
                                 owner_.c_str(), get_data_type_name(indices_.data_type()));
    index_width_ = indices_.dim_num() == 1 ? 1 : dim_num_;
    const bool is_matrix = indices_.dim_num() == 2 && indices_.dims()[1] == dim_num_;
    if ((indices_.dim_num() == 1 || is_matrix) && indices_.dims()[0] == number_) return TENGINE_OK;
    return tengine_error_set(
        TENGINE_EFORMAT, "%s: %lld values need indices of shape [%lld] or [%lld,%d]",
        owner_.c_str(), static_cast<long long>(number_), static_cast<long long>(number_),
        static_cast<long long>(number_), dim_num_);
}

int SparseReader::measure()
{
    if (proto_.dims_size() > MAX_SHAPE_DIM_NUM)
        return tengine_error_set(TENGINE_ELIMIT, "%s: %d dimensions, expected at most %d",
                                 owner_.c_str(), proto_.dims_size(), MAX_SHAPE_DIM_NUM);
    dim_num_ = proto_.dims_size();
    bytes_ = static_cast<size_t>(get_data_type_size(values_.data_type()));
    for (int i = 0; i < dim_num_; ++i) {
        const int64_t dim = proto_.dims(i);
        if (dim < 0 || dim > INT_MAX)
            return tengine_error_set(TENGINE_EFORMAT, "%s: dimension %d is %lld, expected 0 to %d",
                                     owner_.c_str(), i, static_cast<long long>(dim), INT_MAX);
        dims_[i] = static_cast<int>(dim);
        if (!checked_multiply(bytes_, static_cast<size_t>(dim), &bytes_) || bytes_ > left_)
            return tengine_error_set(
                TENGINE_ELIMIT,
                "%s: the model's sparse tensors would have more than %zu bytes as dense ones",
                owner_.c_str(), kMostBytes);
    }
    left_ -= bytes_;
    return TENGINE_OK;
}

// The place of an element in the dense tensor.
int SparseReader::find_place(const int64_t* index, int64_t* out_place) const
{
    int64_t elements = 1;
    for (int i = 0; i < dim_num_; ++i)
        elements *= dims_[i];
    int64_t place = 0;
    for (int i = 0; i < index_width_; ++i) {
        const int64_t extent = index_width_ == 1 && indices_.dim_num() == 1 ? elements : dims_[i];
        if (index[i] < 0 || index[i] >= extent)
            return tengine_error_set(TENGINE_EFORMAT, "%s: index %lld, expected 0 to %lld",
                                     owner_.c_str(), static_cast<long long>(index[i]),
                                     static_cast<long long>(extent - 1));
        place = place * extent + index[i];
    }
    *out_place = place;
    return TENGINE_OK;
}

int SparseReader::read(const struct graph& graph, void* out_values)
{
    std::vector<char> values(values_.bytes());
    std::vector<int64_t> indices(indices_.bytes() / sizeof(int64_t));
    // The file is opened again, since the indices may lie in another file.
    TENGINE_RETURN_IF_ERROR(values_.describe());
    TENGINE_RETURN_IF_ERROR(values_.read(graph, values.data()));
    TENGINE_RETURN_IF_ERROR(indices_.describe());
    TENGINE_RETURN_IF_ERROR(indices_.read(graph, indices.data()));
    std::memset(out_values, 0, bytes_);
    const auto size = static_cast<size_t>(get_data_type_size(values_.data_type()));
    int64_t last = -1;
    for (int64_t i = 0; i < number_; ++i) {
        int64_t place = 0;
        TENGINE_RETURN_IF_ERROR(find_place(indices.data() + i * index_width_, &place));
        if (place <= last)
            return tengine_error_set(TENGINE_EFORMAT, "%s: its indices are not in ascending order",
                                     owner_.c_str());
        last = place;
        std::memcpy(static_cast<char*>(out_values) + static_cast<size_t>(place) * size,
                    values.data() + static_cast<size_t>(i) * size, size);
    }
    return TENGINE_OK;
}

}  // namespace tengine
