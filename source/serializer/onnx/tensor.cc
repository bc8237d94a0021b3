// SPDX-License-Identifier: Apache-2.0
// The three sources of values: raw bytes, typed fields (small types widened to int32), files.
#include "serializer/onnx/tensor.h"

#include <algorithm>
#include <climits>
#include <cstdint>
#include <cstring>

#include "base/alloc.h"
#include "base/minimal.h"
#include "base/packed_bits.h"
#include "graph/complex.h"
#include "graph/string_pool.h"
#include "operator/onnx_type.h"
#include "tengine/ir.h"

namespace tengine {
namespace {

using ::onnx::TensorProto;

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "raw_data is little-endian");

template <typename T>
using List = const google::protobuf::RepeatedField<T>& (TensorProto::*)() const;

constexpr List<float> kFloats = &TensorProto::float_data;
constexpr List<double> kDoubles = &TensorProto::double_data;
constexpr List<int32_t> kInts = &TensorProto::int32_data;
constexpr List<int64_t> kLongs = &TensorProto::int64_data;
constexpr List<uint64_t> kUnsigned = &TensorProto::uint64_data;

template <auto list>
size_t count_values(const TensorProto& proto)
{
    return static_cast<size_t>((proto.*list)().size());
}

// Finds values that the type cannot hold: returns the position of the first, or the number of
// values.
template <auto list, typename Value>
size_t copy_values(const TensorProto& proto, void* out_values)
{
    auto* target = static_cast<Value*>(out_values);
    size_t index = 0;
    for (const auto value : (proto.*list)()) {
        const auto narrow = static_cast<Value>(value);
        if constexpr (std::is_integral_v<Value>) {
            if (static_cast<decltype(value)>(narrow) != value) break;
        }
        target[index++] = narrow;
    }
    return index;
}

size_t count_strings(const TensorProto& proto)
{
    return static_cast<size_t>(proto.string_data_size());
}

struct ElementType
{
    int onnx_type;
    int data_type;
    size_t (*count)(const TensorProto& proto);
    size_t (*copy)(const TensorProto& proto, void* out_values);
};

template <auto list, typename Value>
constexpr ElementType element_type(int onnx_type, int data_type)
{
    return {onnx_type, data_type, count_values<list>, copy_values<list, Value>};
}

constexpr ElementType kElementTypes[] = {
    element_type<kFloats, float>(TensorProto::FLOAT, TENGINE_DT_FP32),
    element_type<kInts, uint16_t>(TensorProto::FLOAT16, TENGINE_DT_FP16),
    element_type<kInts, uint16_t>(TensorProto::BFLOAT16, TENGINE_DT_BF16),
    element_type<kDoubles, double>(TensorProto::DOUBLE, TENGINE_DT_FP64),
    element_type<kInts, int8_t>(TensorProto::INT8, TENGINE_DT_INT8),
    element_type<kInts, int16_t>(TensorProto::INT16, TENGINE_DT_INT16),
    element_type<kInts, int32_t>(TensorProto::INT32, TENGINE_DT_INT32),
    element_type<kLongs, int64_t>(TensorProto::INT64, TENGINE_DT_INT64),
    element_type<kInts, uint8_t>(TensorProto::UINT8, TENGINE_DT_UINT8),
    element_type<kInts, uint16_t>(TensorProto::UINT16, TENGINE_DT_UINT16),
    element_type<kUnsigned, uint32_t>(TensorProto::UINT32, TENGINE_DT_UINT32),
    element_type<kUnsigned, uint64_t>(TensorProto::UINT64, TENGINE_DT_UINT64),
    element_type<kInts, uint8_t>(TensorProto::BOOL, TENGINE_DT_BOOL),
    {TensorProto::STRING, TENGINE_DT_STRING, count_strings, nullptr},
    // An element has two values.
    element_type<kFloats, float>(TensorProto::COMPLEX64, TENGINE_DT_COMPLEX64),
    element_type<kDoubles, double>(TensorProto::COMPLEX128, TENGINE_DT_COMPLEX128),
    // Numbers stand for the types, since the message class of an older ONNX lacks some names.
    // Elements of 4 or 2 bits share bytes.
    element_type<kInts, uint8_t>(17, TENGINE_DT_FLOAT8E4M3FN),
    element_type<kInts, uint8_t>(18, TENGINE_DT_FLOAT8E4M3FNUZ),
    element_type<kInts, uint8_t>(19, TENGINE_DT_FLOAT8E5M2),
    element_type<kInts, uint8_t>(20, TENGINE_DT_FLOAT8E5M2FNUZ),
    element_type<kInts, uint8_t>(21, TENGINE_DT_UINT4),
    element_type<kInts, uint8_t>(22, TENGINE_DT_INT4),
    element_type<kInts, uint8_t>(23, TENGINE_DT_FLOAT4E2M1),
    element_type<kInts, uint8_t>(24, TENGINE_DT_FLOAT8E8M0),
    element_type<kInts, uint8_t>(25, TENGINE_DT_UINT2),
    element_type<kInts, uint8_t>(26, TENGINE_DT_INT2),
};

const ElementType* find_element_type(int onnx_type)
{
    const auto* row = std::find_if(std::begin(kElementTypes), std::end(kElementTypes),
                                   [=](const auto& type) { return type.onnx_type == onnx_type; });
    return row == std::end(kElementTypes) ? nullptr : row;
}

// Elements of a few bits share bytes. The file's last byte may have any unused bits, which are 0
// here, so only whole bytes can be used in place.
bool fills_bytes(size_t elements, int data_type)
{
    return elements % 8 * static_cast<size_t>(get_data_type_bits(data_type)) % 8 == 0;
}

void clear_rest(size_t elements, int data_type, void* values)
{
    const int bits = get_data_type_bits(data_type);
    const size_t bytes = count_packed_bytes(static_cast<int64_t>(elements), bits);
    const auto used = elements % 8 * static_cast<size_t>(bits) % 8;
    if (used > 0) static_cast<uint8_t*>(values)[bytes - 1] &= (1u << used) - 1;
}

}  // namespace

int convert_element_type(int onnx_type, const std::string& owner, int* out_data_type)
{
    const ElementType* type = find_element_type(onnx_type);
    if (!type)
        return tengine_error_set(
            TENGINE_EDTYPE,
            "%s: element type %d (%s) is not supported: expected bool, string, "
            "an integer of 2 to 64 bits, a float of 4 to 64 bits, complex64 "
            "or complex128",
            owner.c_str(), onnx_type, get_onnx_type_name(onnx_type));
    *out_data_type = type->data_type;
    return TENGINE_OK;
}

int TensorReader::describe()
{
    TENGINE_RETURN_IF_ERROR(convert_element_type(proto_.data_type(), owner_, &data_type_));
    if (proto_.has_segment())
        return tengine_error_set(TENGINE_ENOTSUP, "%s: tensors in segments are not supported",
                                 owner_.c_str());
    TENGINE_RETURN_IF_ERROR(measure());
    if (data_type_ == TENGINE_DT_STRING) TENGINE_RETURN_IF_ERROR(check_strings());
    return check_source();
}

int TensorReader::measure()
{
    if (proto_.dims_size() > MAX_SHAPE_DIM_NUM)
        return tengine_error_set(TENGINE_ELIMIT, "%s: %d dimensions, expected at most %d",
                                 owner_.c_str(), proto_.dims_size(), MAX_SHAPE_DIM_NUM);
    elements_ = 1;
    for (int i = 0; i < proto_.dims_size(); ++i) {
        const int64_t dim = proto_.dims(i);
        if (dim < 0 || dim > INT_MAX)
            return tengine_error_set(TENGINE_EFORMAT, "%s: dimension %d is %lld, expected 0 to %d",
                                     owner_.c_str(), i, static_cast<long long>(dim), INT_MAX);
        dims_[i] = static_cast<int>(dim);
        if (!checked_multiply(elements_, static_cast<size_t>(dim), &elements_))
            return tengine_error_set(TENGINE_EFORMAT, "%s: the product of its dimensions overflows",
                                     owner_.c_str());
    }
    const auto size = static_cast<size_t>(get_data_type_size(data_type_));
    if (!checked_multiply(elements_, size, &bytes_))
        return tengine_error_set(TENGINE_EFORMAT, "%s: the product of its dimensions overflows",
                                 owner_.c_str());
    const int bits = get_data_type_bits(data_type_);
    if (bits < 8)
        bytes_ = elements_ / 8 * static_cast<size_t>(bits) +
                 count_packed_bytes(static_cast<int64_t>(elements_ % 8), bits);
    return TENGINE_OK;
}

int TensorReader::check_strings() const
{
    if (!IR_HAS_STRINGS)
        return tengine_error_set(TENGINE_EDTYPE, "%s: strings are not supported by a minimal build",
                                 owner_.c_str());
    if (proto_.data_location() == TensorProto::EXTERNAL || !raw_.empty())
        return tengine_error_set(TENGINE_EFORMAT,
                                 "%s: strings in raw or external data, expected string_data",
                                 owner_.c_str());
    int64_t index = 0;
    for (const std::string& text : proto_.string_data())
        TENGINE_RETURN_IF_ERROR(check_ir_text(text.data(), text.size(), owner_.c_str(), index++));
    return TENGINE_OK;
}

int TensorReader::check_source() const
{
    if (proto_.data_location() == TensorProto::EXTERNAL)
        return external_->open(proto_, bytes_, owner_);
    if (!raw_.empty()) {
        if (raw_.size() == bytes_) return TENGINE_OK;
        return tengine_error_set(TENGINE_EFORMAT,
                                 "%s: raw data of %zu bytes, expected %zu by its shape and type",
                                 owner_.c_str(), raw_.size(), bytes_);
    }
    const size_t count = find_element_type(proto_.data_type())->count(proto_);
    if (count == value_number()) return TENGINE_OK;
    return tengine_error_set(TENGINE_EFORMAT,
                             "%s: %zu values of type %s, expected %zu by its shape", owner_.c_str(),
                             count, get_onnx_type_name(proto_.data_type()), value_number());
}

size_t TensorReader::value_number() const
{
    if (is_ir_complex(data_type_)) return 2 * elements_;
    return get_data_type_bits(data_type_) < 8 ? bytes_ : elements_;
}

// Lists, and tensors of fewer bytes, are copied if they are not aligned, since passes read them.
// Minimal builds need no alignment (is_ir_tensor_aligned()).
bool TensorReader::takes_any_address() const
{
    constexpr size_t kFewestBytes = size_t{64} << 10;
    return !IS_MINIMAL && bytes_ >= kFewestBytes && proto_.dims_size() > 1;
}

char* TensorReader::view() const
{
    // A boolean of the file is true if it is not 0.
    if (bytes_ == 0 || data_type_ == TENGINE_DT_BOOL || data_type_ == TENGINE_DT_STRING ||
        !fills_bytes(elements_, data_type_))
        return nullptr;
    const size_t alignment =
        takes_any_address() ? 1 : static_cast<size_t>(get_data_type_size(data_type_));
    if (proto_.data_location() == TensorProto::EXTERNAL) return external_->view(alignment);
    if (!file_ || raw_.empty() || reinterpret_cast<uintptr_t>(raw_.data()) % alignment != 0)
        return nullptr;
    const auto begin = static_cast<size_t>(raw_.data() - file_->bytes.bytes);
    return file_->add_view(begin, begin + bytes_) ? file_->bytes.bytes + begin : nullptr;
}

int TensorReader::read_strings(const struct graph& graph, const char** out_strings) const
{
    for (const std::string& text : proto_.string_data())
        TENGINE_RETURN_IF_ERROR(keep_ir_string(&graph, text.data(), text.size(), out_strings++));
    return TENGINE_OK;
}

int TensorReader::read(const struct graph& graph, void* out_values) const
{
    if (data_type_ == TENGINE_DT_STRING)
        return read_strings(graph, static_cast<const char**>(out_values));
    if (proto_.data_location() == TensorProto::EXTERNAL) {
        TENGINE_RETURN_IF_ERROR(external_->read(out_values, bytes_, owner_));
    } else if (!raw_.empty() && file_) {
        copy_mapped_bytes(out_values, raw_.data(), raw_.size());
    } else if (!raw_.empty()) {
        memcpy(out_values, raw_.data(), raw_.size());
    } else {
        const size_t done = find_element_type(proto_.data_type())->copy(proto_, out_values);
        if (done != value_number())
            return tengine_error_set(TENGINE_EFORMAT, "%s: value %zu is out of range for %s",
                                     owner_.c_str(), done, get_onnx_type_name(proto_.data_type()));
    }
    if (data_type_ == TENGINE_DT_BOOL) {
        auto* values = static_cast<uint8_t*>(out_values);
        std::transform(values, values + bytes_, values,
                       [](uint8_t value) -> uint8_t { return value != 0; });
    }
    clear_rest(elements_, data_type_, out_values);
    return TENGINE_OK;
}

}  // namespace tengine
