// SPDX-License-Identifier: Apache-2.0
// Tensors: names, types, shapes, quantisation and the values of constants.
#include <cmath>

#include "base/maps.hpp"
#include "base/unique_names.hpp"
#include "graph/graph.h"
#include "serializer/tflite/numbers.h"
#include "serializer/tflite/states.h"
#include "serializer/tflite/values.h"

namespace tengine::tflite {
namespace {

class TensorReader
{
  public:
    explicit TensorReader(Reading& reading) : reading_(reading) {}

    int run();

  private:
    void name_by_signature(
        const flatbuffers::Vector<flatbuffers::Offset<file::NamedTensor>>* named);
    int add_names();
    void mark_bias(const file::Operator& record);
    void mark_quantize(const file::Operator& record);
    void mark_scratch(const file::Operator& record);
    int add_tensor(uint32_t index, const file::Tensor& record);
    int set_shape(struct tensor* tensor, const file::Tensor& record);
    int set_quantisation(struct tensor* tensor, const file::Tensor& record, bool is_plain);

    Reading& reading_;
    Names names_;
    Map<uint32_t, std::string_view> public_names_;
    Vector<char> is_bias_;
    Vector<char> is_of_quantize_;
    Vector<char> is_of_custom_;  // an input of a custom operator
};

int TensorReader::run()
{
    const file::Subgraph& subgraph = *reading_.subgraph;
    if (reading_.signature) {
        name_by_signature(reading_.signature->inputs());
        name_by_signature(reading_.signature->outputs());
    }
    TENGINE_RETURN_IF_ERROR(add_names());
    const uint32_t number = count(subgraph.tensors());
    reading_.is_written.resize(number, 0);
    is_bias_.resize(number, 0);
    is_of_quantize_.resize(number, 0);
    is_of_custom_.resize(number, 0);
    const auto mark = [&](const flatbuffers::Vector<int32_t>* list) {
        for (uint32_t i = 0; i < count(list); ++i)
            if (list->Get(i) >= 0 && static_cast<uint32_t>(list->Get(i)) < number)
                reading_.is_written[static_cast<size_t>(list->Get(i))] = 1;
    };
    mark(subgraph.inputs());
    for (uint32_t i = 0; i < count(subgraph.operators()); ++i) {
        mark(subgraph.operators()->Get(i)->outputs());
        mark_bias(*subgraph.operators()->Get(i));
        mark_quantize(*subgraph.operators()->Get(i));
        mark_scratch(*subgraph.operators()->Get(i));
    }
    TENGINE_RETURN_IF_ERROR(reading_.budget.charge(uint64_t{number} * sizeof(int32_t)));
    reading_.tensors.resize(number, -1);
    for (uint32_t i = 0; i < number; ++i)
        if (reading_.tensors[i] < 0 && !is_resource(*subgraph.tensors()->Get(i)))
            TENGINE_RETURN_IF_ERROR(add_tensor(i, *subgraph.tensors()->Get(i)));
    return TENGINE_OK;
}

// The biases of convolutions and FULLY_CONNECTED are their last operands.
void TensorReader::mark_bias(const file::Operator& record)
{
    const uint32_t inputs = count(record.inputs());
    const auto mark = [&](uint32_t place) {
        const int32_t index = inputs == place + 1 ? record.inputs()->Get(place) : -1;
        if (index >= 0 && static_cast<size_t>(index) < is_bias_.size())
            is_bias_[static_cast<size_t>(index)] = 1;
    };
    switch (find_code(reading_, record)) {
        case kConv2d:
        case kDepthwiseConv2d:
        case kFullyConnected:
            return mark(2);
        case kTransposeConv:
            return mark(3);
        default:
            return;
    }
}

// An operand or a result of QUANTIZE has a scale in int32, too.
void TensorReader::mark_quantize(const file::Operator& record)
{
    if (find_code(reading_, record) != kQuantize) return;
    for (const flatbuffers::Vector<int32_t>* side : {record.inputs(), record.outputs()}) {
        const int32_t index = count(side) == 1 ? side->Get(0) : -1;
        if (index >= 0 && static_cast<size_t>(index) < is_of_quantize_.size())
            is_of_quantize_[static_cast<size_t>(index)] = 1;
    }
}

// The inputs of a custom operator may be memory that it works in, which nothing writes: Arm's
// ethos-u has two of them.
void TensorReader::mark_scratch(const file::Operator& record)
{
    if (find_code(reading_, record) != kCustom) return;
    for (uint32_t i = 0; i < count(record.inputs()); ++i) {
        const int32_t index = record.inputs()->Get(i);
        if (index >= 0 && static_cast<size_t>(index) < is_of_custom_.size())
            is_of_custom_[static_cast<size_t>(index)] = 1;
    }
}

// The names of a signature are those that programs know.
void TensorReader::name_by_signature(
    const flatbuffers::Vector<flatbuffers::Offset<file::NamedTensor>>* named)
{
    for (uint32_t i = 0; i < count(named); ++i)
        public_names_.emplace(named->Get(i)->tensor(), text_of(named->Get(i)->name()));
}

int TensorReader::add_names()
{
    for (uint32_t i = 0; i < count(reading_.subgraph->tensors()); ++i) {
        const auto known = public_names_.find(i);
        const std::string_view name = known != public_names_.end() && !known->second.empty()
                                          ? known->second
                                          : text_of(reading_.subgraph->tensors()->Get(i)->name());
        TENGINE_RETURN_IF_ERROR(reading_.budget.charge(sizeof(struct tensor)));
        names_.add(name.substr(0, name.find('\0')));
    }
    return TENGINE_OK;
}

int TensorReader::add_tensor(uint32_t index, const file::Tensor& record)
{
    const String name = reading_.prefix + names_.choose(index, "tensor");
    TENGINE_RETURN_IF_ERROR(reading_.budget.charge(name.size() + 1));
    const ValueForm form =
        choose_form(record, reading_.is_written[index] != 0, is_bias_[index] != 0);
    if (form.data_type == TENGINE_DT_UNKNOWN)
        return tengine_error_set(TENGINE_EDTYPE,
                                 "tensor %u, %s, has the type %d, which is not read", index,
                                 quote(name).c_str(), record.type());
    struct tensor* tensor = create_ir_tensor(reading_.graph, name.c_str(), form.data_type);
    if (!tensor) return last_error();
    reading_.tensors[index] = tensor->index;
    TENGINE_RETURN_IF_ERROR(set_shape(tensor, record));
    const bool is_plain = reading_.is_written[index] && !is_of_quantize_[index];
    TENGINE_RETURN_IF_ERROR(set_quantisation(tensor, record, is_plain));
    const uint8_t* bytes = nullptr;
    uint64_t size = 0;
    TENGINE_RETURN_IF_ERROR(find_values(reading_, tensor, record, &bytes, &size));
    if (reading_.is_written[index]) {
        if (size == 0) return TENGINE_OK;
        return tengine_error_set(TENGINE_EGRAPH,
                                 "%s has values, and is an input or written by an operator",
                                 label(tensor).c_str());
    }
    if (record.is_variable())
        return add_variable(reading_, tensor, size > 0 ? bytes : nullptr, size);
    if (size == 0 && tensor->elem_num > 0) {
        if (is_of_custom_[index]) return add_variable(reading_, tensor, nullptr, 0);
        // Converters leave such tensors behind, which nothing reads.
        return TENGINE_OK;
    }
    tensor->tensor_type = TENSOR_TYPE_CONST;
    return set_values(reading_, tensor, record, form, bytes, size);
}

int TensorReader::set_shape(struct tensor* tensor, const file::Tensor& record)
{
    const uint32_t rank = count(record.shape());
    if (rank > MAX_SHAPE_DIM_NUM)
        return tengine_error_set(TENGINE_ERANGE, "%s has %u dimensions, expected 0 to %d",
                                 label(tensor).c_str(), rank, MAX_SHAPE_DIM_NUM);
    int dims[MAX_SHAPE_DIM_NUM];
    for (uint32_t i = 0; i < rank; ++i) {
        dims[i] = record.shape()->Get(i);
        if (dims[i] < 0)
            return tengine_error_set(TENGINE_ERANGE, "%s: dimension %u is %d, expected at least 0",
                                     label(tensor).c_str(), i, dims[i]);
    }
    return set_ir_tensor_shape(tensor, dims, static_cast<int>(rank));
}

// `is_plain`: integers of 32 bits are numbers, else biases or those of QUANTIZE.
bool may_be_quantised(const struct tensor* tensor, bool is_plain)
{
    switch (tensor->data_type) {
        case TENGINE_DT_INT8:
        case TENGINE_DT_UINT8:
        case TENGINE_DT_INT16:
            return true;
        case TENGINE_DT_INT32:
            return !is_plain;
        default:
            return false;
    }
}

// Files of old converters have a scale of 0 for tensors that are not quantised, and scales for
// tensors of other types.
int TensorReader::set_quantisation(struct tensor* tensor, const file::Tensor& record, bool is_plain)
{
    const file::Quantization* quantization = record.quantization();
    const uint32_t number = quantization ? count(quantization->scale()) : 0;
    if (number == 0 || !may_be_quantised(tensor, is_plain)) return TENGINE_OK;
    if (number == 1 && quantization->scale()->Get(0) == 0) return TENGINE_OK;
    const uint32_t zero_points = count(quantization->zero_point());
    if (zero_points > 1 && zero_points != number)
        return tengine_error_set(TENGINE_EFORMAT, "%s has %u scales and %u zero points",
                                 label(tensor).c_str(), number, zero_points);
    TENGINE_RETURN_IF_ERROR(reading_.budget.charge(uint64_t{number} * 16));
    Vector<float> scales;
    Vector<int> points;
    for (uint32_t i = 0; i < number; ++i) {
        const float scale = quantization->scale()->Get(i);
        const int64_t point =
            zero_points == 0 ? 0 : quantization->zero_point()->Get(zero_points == 1 ? 0 : i);
        if (!std::isfinite(scale) || scale <= 0)
            return tengine_error_set(TENGINE_EFORMAT,
                                     "%s: scale %u is %g, expected a positive number",
                                     label(tensor).c_str(), i, static_cast<double>(scale));
        if (point < INT16_MIN || point > INT16_MAX)
            return tengine_error_set(TENGINE_ERANGE, "%s: zero point %u is %lld, out of range",
                                     label(tensor).c_str(), i, static_cast<long long>(point));
        scales.push_back(scale);
        points.push_back(static_cast<int>(point));
    }
    // A bias has one axis, whatever its axis says.
    const int axis = tensor->dim_num == 1 ? 0 : quantization->axis();
    const bool has_axis = axis >= 0 && axis < tensor->dim_num;
    if (number > 1 && (!has_axis || tensor->dims[axis] != static_cast<int>(number)))
        return tengine_error_set(
            TENGINE_EFORMAT, "%s has %u scales along axis %d, which has %d elements",
            label(tensor).c_str(), number, axis, has_axis ? tensor->dims[axis] : 0);
    tensor->quant_axis = number > 1 ? axis : 0;
    return set_ir_tensor_quantization_parameter(tensor, scales.data(), points.data(),
                                                static_cast<int>(number));
}

}  // namespace

struct tensor* find_tensor(const Reading& reading, int32_t index)
{
    const bool is_there = index >= 0 && static_cast<size_t>(index) < reading.tensors.size();
    return is_there
               ? get_ir_graph_tensor(reading.graph, reading.tensors[static_cast<size_t>(index)])
               : nullptr;
}

int add_tensors(Reading& reading)
{
    return TensorReader(reading).run();
}

}  // namespace tengine::tflite
