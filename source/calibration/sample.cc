// SPDX-License-Identifier: Apache-2.0
#include "calibration/sample.h"

#include <algorithm>
#include <cstdint>

#include "base/guard.hpp"
#include "calibration/failure.h"
#include "calibration/graph_reader.h"
#include "tengine/inspect.h"

namespace tengine::calibration {
namespace {

// Strings are elements of 0 bits: samples cannot have them, as the graph says.
int bits_of(int data_type)
{
    return data_type >= TENGINE_DT_STRING ? 0 : tengine_data_type_get_bits(data_type);
}

constexpr uint64_t kMostBytes = PTRDIFF_MAX;  // of an object in memory

// Bytes of a dense tensor; 0 if a dimension is below 0. False: more than memory has.
bool count_bytes(int data_type, const int* dims, int dim_number, size_t* out_bytes)
{
    uint64_t elements = 1;
    *out_bytes = 0;
    for (int i = 0; i < dim_number; ++i) {
        if (dims[i] <= 0) return true;
        if (__builtin_mul_overflow(elements, static_cast<uint64_t>(dims[i]), &elements))
            return false;
    }
    uint64_t bits;
    if (__builtin_mul_overflow(elements, static_cast<uint64_t>(bits_of(data_type)), &bits))
        return false;
    const uint64_t bytes = bits / 8 + (bits % 8 > 0 ? 1 : 0);
    *out_bytes = static_cast<size_t>(bytes);
    return bytes <= kMostBytes;
}

}  // namespace

String shape_text(const int* dims, int dim_number)
{
    if (dim_number == 0) return "scalar";
    String text;
    for (int i = 0; i < dim_number; ++i)
        text += (i == 0 ? "" : "x") + (dims[i] < 0 ? String("?") : to_string(dims[i]));
    return text;
}

SampleSource::SampleSource(graph_t graph, const tengine_calibration_options& options)
    : user_(options.user), read_(options.read_sample), show_(options.show_progress)
{
    const Vector<tensor_t> tensors = list_inputs(graph);
    names_.reserve(tensors.size());
    for (tensor_t tensor : tensors) {
        tengine_sample_input input = {};
        input.name = names_.emplace_back(get_tensor_name(tensor)).c_str();
        input.data_type = get_tensor_data_type(tensor);
        input.dim_number = tengine_tensor_has_rank(tensor) == 1
                               ? get_tensor_shape(tensor, input.dims, MAX_SHAPE_DIM_NUM)
                               : -1;
        if (input.dim_number >= 0 &&
            !count_bytes(input.data_type, input.dims, input.dim_number, &input.size))
            input.size = 0;
        inputs_.push_back(input);
    }
}

int SampleSource::read(int64_t index, Sample* out_sample, bool* out_is_end) const
{
    *out_sample = inputs_;
    const int result = read_(user_, index, out_sample->data(), static_cast<int>(inputs_.size()));
    *out_is_end = result == 0;
    if (result < 0)
        return fail(TENGINE_ECANCELED, "sample %lld: read_sample returned %d",
                    static_cast<long long>(index), result);
    return result == 0 ? TENGINE_OK : check(index, *out_sample);
}

int SampleSource::read_again(int64_t index, Sample* out_sample) const
{
    bool is_end;
    TENGINE_RETURN_IF_ERROR(read(index, out_sample, &is_end));
    if (!is_end) return TENGINE_OK;
    return fail(TENGINE_ESTATE, "sample %lld: read_sample has none, but had in the first pass",
                static_cast<long long>(index));
}

int SampleSource::check(int64_t index, const Sample& sample) const
{
    for (size_t i = 0; i < sample.size(); ++i) {
        const tengine_sample_input& input = sample[i];
        Sentence subject;
        std::snprintf(subject.data(), subject.size(), "sample %lld: input '%.200s'",
                      static_cast<long long>(index), names_[i].c_str());
        if (input.data_type != inputs_[i].data_type)
            return fail(TENGINE_EINVAL, "%s is %s: expected %s", subject.data(),
                        tengine_data_type_get_name(input.data_type),
                        tengine_data_type_get_name(inputs_[i].data_type));
        if (input.dim_number < 0 || input.dim_number > MAX_SHAPE_DIM_NUM)
            return fail(TENGINE_ERANGE, "%s has %d dimensions: expected 0 to %d", subject.data(),
                        input.dim_number, MAX_SHAPE_DIM_NUM);
        const String shape = shape_text(input.dims, input.dim_number);
        if (std::any_of(input.dims, input.dims + input.dim_number, [](int dim) { return dim < 0; }))
            return fail(TENGINE_EINVAL, "%s has shape %s: read_sample must set all dimensions",
                        subject.data(), shape.c_str());
        size_t bytes;
        if (!count_bytes(input.data_type, input.dims, input.dim_number, &bytes))
            return fail(TENGINE_ERANGE, "%s has shape %s: expected at most %llu bytes",
                        subject.data(), shape.c_str(), static_cast<unsigned long long>(kMostBytes));
        if (input.size != bytes)
            return fail(TENGINE_EINVAL, "%s has %zu bytes: expected %zu for shape %s",
                        subject.data(), input.size, bytes, shape.c_str());
        if (!input.data && bytes > 0)
            return fail(TENGINE_EINVAL, "%s: data is NULL: expected %zu bytes", subject.data(),
                        bytes);
    }
    return TENGINE_OK;
}

int SampleSource::show_progress(int64_t done, int64_t total) const
{
    const int result = show_ ? show_(user_, done, total) : 0;
    if (result == 0) return TENGINE_OK;
    return fail(TENGINE_ECANCELED, "show_progress returned %d after %lld of %lld", result,
                static_cast<long long>(done), static_cast<long long>(total));
}

}  // namespace tengine::calibration
