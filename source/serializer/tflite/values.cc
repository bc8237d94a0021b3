// SPDX-License-Identifier: Apache-2.0
#include "serializer/tflite/values.h"

#include <cmath>
#include <cstring>

#include "base/half.h"
#include "graph/graph.h"
#include "graph/string_pool.h"
#include "operator/plain_data.h"
#include "serializer/tflite/numbers.h"

namespace tengine::tflite {
namespace {

// By the number of the type in files; resources and variants are not read.
constexpr int kTypes[] = {
    TENGINE_DT_FP32,      TENGINE_DT_FP16,
    TENGINE_DT_INT32,     TENGINE_DT_UINT8,
    TENGINE_DT_INT64,     IR_HAS_STRINGS ? TENGINE_DT_STRING : TENGINE_DT_UNKNOWN,
    TENGINE_DT_BOOL,      TENGINE_DT_INT16,
    TENGINE_DT_COMPLEX64, TENGINE_DT_INT8,
    TENGINE_DT_FP64,      TENGINE_DT_COMPLEX128,
    TENGINE_DT_UINT64,    TENGINE_DT_UNKNOWN,
    TENGINE_DT_UNKNOWN,   TENGINE_DT_UINT32,
    TENGINE_DT_UINT16,    TENGINE_DT_INT4,
    TENGINE_DT_BF16,      TENGINE_DT_INT2,
    TENGINE_DT_UINT4,     TENGINE_DT_FLOAT8E4M3FN,
    TENGINE_DT_FLOAT8E5M2};
constexpr int kTypeNumber = sizeof(kTypes) / sizeof(kTypes[0]);

bool is_small_integer(int type)
{
    return type == TENGINE_DT_INT4 || type == TENGINE_DT_INT2 || type == TENGINE_DT_UINT4;
}

bool is_blockwise(const file::Tensor& record)
{
    const file::Quantization* quantization = record.quantization();
    return quantization && quantization->details_type() == kBlockwise && quantization->details();
}

int fail_size(const struct tensor* tensor, uint64_t size, uint64_t expected)
{
    return tengine_error_set(TENGINE_EFORMAT,
                             "%s has %llu bytes of values, expected %llu by its shape and type",
                             label(tensor).c_str(), static_cast<unsigned long long>(size),
                             static_cast<unsigned long long>(expected));
}

// Element `index` of integers that lie densely, the first one in the lowest bits.
int read_integer(const uint8_t* bytes, int type, size_t index)
{
    if (type == TENGINE_DT_INT8) return static_cast<int8_t>(bytes[index]);
    if (type == TENGINE_DT_UINT8) return bytes[index];
    const unsigned bits = type == TENGINE_DT_INT2 ? 2 : 4;
    const size_t in_byte = 8 / bits;
    const unsigned raw = bytes[index / in_byte] >> (index % in_byte * bits) & ((1U << bits) - 1);
    const bool is_negative = type != TENGINE_DT_UINT4 && raw >> (bits - 1) != 0;
    return static_cast<int>(raw) - (is_negative ? 1 << bits : 0);
}

class ValueReader
{
  public:
    ValueReader(Reading& reading, struct tensor* tensor, const file::Tensor& record,
                const ValueForm& form)
        : reading_(reading),
          tensor_(tensor),
          record_(record),
          form_(form),
          number_(static_cast<size_t>(tensor->elem_num))
    {
    }

    int run(const uint8_t* bytes, uint64_t size);

  private:
    int keep(const uint8_t* bytes, uint64_t size);
    int allocate();
    void unpack(const uint8_t* bytes);
    int scale_bias(const uint8_t* bytes);
    int scale_blocks(const uint8_t* bytes);
    int find_block_values(int32_t index, size_t number, const file::Tensor** out_record,
                          const uint8_t** out_bytes) const;
    int read_texts(const uint8_t* bytes, uint64_t size);

    Reading& reading_;
    struct tensor* tensor_;
    const file::Tensor& record_;
    const ValueForm& form_;
    size_t number_;  // of elements
};

int ValueReader::run(const uint8_t* bytes, uint64_t size)
{
    if (form_.file_type == TENGINE_DT_STRING) return read_texts(bytes, size);
    if (record_.sparsity()) {
        if (form_.file_type == form_.data_type && !is_small_integer(form_.file_type))
            return expand_sparse(reading_, tensor_, *record_.sparsity(), bytes, size);
        return tengine_error_set(TENGINE_ENOTSUP, "%s is sparse and has elements of %s",
                                 label(tensor_).c_str(), get_data_type_name(form_.file_type));
    }
    const auto bits = static_cast<uint64_t>(get_data_type_bits(form_.file_type));
    const uint64_t expected = (bits * number_ + 7) / 8;
    if (size != expected) return fail_size(tensor_, size, expected);
    if (form_.file_type == form_.data_type) return keep(bytes, size);
    TENGINE_RETURN_IF_ERROR(allocate());
    if (number_ == 0) return TENGINE_OK;
    if (is_blockwise(record_)) return scale_blocks(bytes);
    if (form_.file_type == TENGINE_DT_INT64) return scale_bias(bytes);
    unpack(bytes);
    return TENGINE_OK;
}

int ValueReader::allocate()
{
    TENGINE_RETURN_IF_ERROR(reading_.budget.charge(get_ir_tensor_bytes(tensor_)));
    return allocate_ir_tensor(tensor_);
}

int ValueReader::keep(const uint8_t* bytes, uint64_t size)
{
    auto* values = const_cast<uint8_t*>(bytes);
    const bool is_aligned = reinterpret_cast<uintptr_t>(values) % tensor_->elem_size == 0;
    if (size > 0 && is_aligned && is_plain_data(tensor_)) {
        set_ir_tensor_data(tensor_, values, false);
        return TENGINE_OK;
    }
    TENGINE_RETURN_IF_ERROR(allocate());
    if (size > 0) std::memcpy(tensor_->data, values, static_cast<size_t>(size));
    return TENGINE_OK;
}

void ValueReader::unpack(const uint8_t* bytes)
{
    auto* to = static_cast<uint8_t*>(tensor_->data);
    for (size_t i = 0; i < number_; ++i)
        to[i] = static_cast<uint8_t>(read_integer(bytes, form_.file_type, i));
}

// The zero point of a bias is 0.
int ValueReader::scale_bias(const uint8_t* bytes)
{
    const auto* scales = record_.quantization()->scale();
    if (scales->size() != 1 && scales->size() != number_)
        return tengine_error_set(TENGINE_EFORMAT, "%s has %u scales and %zu elements",
                                 label(tensor_).c_str(), scales->size(), number_);
    auto* to = static_cast<float*>(tensor_->data);
    for (size_t i = 0; i < number_; ++i) {
        int64_t value = 0;
        std::memcpy(&value, bytes + i * sizeof value, sizeof value);
        const auto place = static_cast<uint32_t>(scales->size() == 1 ? 0 : i);
        to[i] = static_cast<float>(static_cast<double>(value) *
                                   static_cast<double>(scales->Get(place)));
    }
    return TENGINE_OK;
}

// A tensor with a number for each block. *out_bytes stays NULL where there is none.
int ValueReader::find_block_values(int32_t index, size_t number, const file::Tensor** out_record,
                                   const uint8_t** out_bytes) const
{
    const auto* tensors = reading_.subgraph->tensors();
    if (index < 0 || static_cast<uint32_t>(index) >= count(tensors))
        return tengine_error_set(TENGINE_EFORMAT,
                                 "%s has its scales in tensor %d, the model has %u",
                                 label(tensor_).c_str(), index, count(tensors));
    *out_record = tensors->Get(static_cast<uint32_t>(index));
    const int8_t type = (*out_record)->type();
    const bool is_known = type >= 0 && type < kTypeNumber;
    const int data_type = is_known ? kTypes[type] : TENGINE_DT_UNKNOWN;
    const bool is_read = data_type == TENGINE_DT_FP32 || data_type == TENGINE_DT_FP16 ||
                         data_type == TENGINE_DT_INT32;
    uint64_t size = 0;
    TENGINE_RETURN_IF_ERROR(find_values(reading_, tensor_, **out_record, out_bytes, &size));
    if (is_read && size == number * static_cast<size_t>(get_data_type_bits(data_type)) / 8)
        return TENGINE_OK;
    return tengine_error_set(
        TENGINE_EFORMAT, "%s has %zu blocks, tensor %d has %llu bytes of type %d for them",
        label(tensor_).c_str(), number, index, static_cast<unsigned long long>(size), type);
}

float read_scale(const file::Tensor& record, const uint8_t* bytes, size_t index)
{
    if (kTypes[record.type()] == TENGINE_DT_FP16) {
        uint16_t half = 0;
        std::memcpy(&half, bytes + index * sizeof half, sizeof half);
        return fp16_to_fp32(half);
    }
    float scale = 0;
    std::memcpy(&scale, bytes + index * sizeof scale, sizeof scale);
    return scale;
}

// Blocks lie along the last axis. Zero points are tensor 0 where a file has none.
int ValueReader::scale_blocks(const uint8_t* bytes)
{
    const file::Details& details = *record_.quantization()->details();
    const int32_t block = details.block_size();
    const int last = tensor_->dim_num > 0 ? tensor_->dims[tensor_->dim_num - 1] : 1;
    if (block < 1 || last % block != 0)
        return tengine_error_set(TENGINE_EFORMAT,
                                 "%s has blocks of %d elements, its last axis has %d",
                                 label(tensor_).c_str(), block, last);
    const size_t blocks = number_ / static_cast<size_t>(block);
    const file::Tensor *scale_record = nullptr, *point_record = nullptr;
    const uint8_t *scales = nullptr, *points = nullptr;
    TENGINE_RETURN_IF_ERROR(find_block_values(details.scales(), blocks, &scale_record, &scales));
    if (details.zero_points() > 0)
        TENGINE_RETURN_IF_ERROR(
            find_block_values(details.zero_points(), blocks, &point_record, &points));
    const bool is_scale = kTypes[scale_record->type()] != TENGINE_DT_INT32;
    if (!is_scale || (point_record && kTypes[point_record->type()] != TENGINE_DT_INT32))
        return tengine_error_set(TENGINE_EFORMAT,
                                 "%s has blocks with scales of type %d, expected floats, and zero "
                                 "points of int32",
                                 label(tensor_).c_str(), scale_record->type());
    auto* to = static_cast<float*>(tensor_->data);
    for (size_t i = 0; i < number_; ++i) {
        const size_t place = i / static_cast<size_t>(block);
        int32_t point = 0;
        if (points) std::memcpy(&point, points + place * sizeof point, sizeof point);
        const float scale = read_scale(*scale_record, scales, place);
        to[i] =
            scale * static_cast<float>(int64_t{read_integer(bytes, form_.file_type, i)} - point);
    }
    return TENGINE_OK;
}

// The number of strings, where each begins and the last one ends, and their bytes.
int ValueReader::read_texts(const uint8_t* bytes, uint64_t size)
{
    const uint64_t head = (uint64_t{number_} + 2) * sizeof(int32_t);
    const auto read = [bytes](size_t index) {
        int32_t number = 0;
        std::memcpy(&number, bytes + index * sizeof number, sizeof number);
        return number;
    };
    if (size < head || read(0) < 0 || static_cast<size_t>(read(0)) != number_)
        return tengine_error_set(TENGINE_EFORMAT, "%s has %llu bytes, expected %zu strings",
                                 label(tensor_).c_str(), static_cast<unsigned long long>(size),
                                 number_);
    TENGINE_RETURN_IF_ERROR(allocate());
    auto** to = static_cast<const char**>(tensor_->data);
    for (size_t i = 0; i < number_; ++i) {
        const int32_t begin = read(i + 1), end = read(i + 2);
        if (begin < 0 || static_cast<uint64_t>(begin) < head || end < begin ||
            static_cast<uint64_t>(end) > size)
            return tengine_error_set(
                TENGINE_EFORMAT, "%s: string %zu lies from byte %d to %d of %llu",
                label(tensor_).c_str(), i, begin, end, static_cast<unsigned long long>(size));
        const auto* text = reinterpret_cast<const char*>(bytes) + begin;
        const auto length = static_cast<size_t>(end - begin);
        TENGINE_RETURN_IF_ERROR(
            check_ir_text(text, length, label(tensor_).c_str(), static_cast<int64_t>(i)));
        TENGINE_RETURN_IF_ERROR(reading_.budget.charge(length));
        TENGINE_RETURN_IF_ERROR(keep_ir_string(reading_.graph, text, length, &to[i]));
    }
    return TENGINE_OK;
}

}  // namespace

String label(const struct tensor* tensor)
{
    return print_text("tensor %d, %s,", tensor->index, quote(tensor->name).c_str());
}

int find_file_type(int data_type)
{
    for (int i = 0; i < kTypeNumber; ++i)
        if (kTypes[i] == data_type && data_type != TENGINE_DT_UNKNOWN) return i;
    return -1;
}

ValueForm choose_form(const file::Tensor& record, bool is_written, bool is_bias)
{
    const int number = record.type();
    const bool is_known = number >= 0 && number < kTypeNumber;
    const int type = is_known ? kTypes[number] : TENGINE_DT_UNKNOWN;
    const bool has_scale = record.quantization() && count(record.quantization()->scale()) > 0;
    const bool is_integer =
        is_small_integer(type) || type == TENGINE_DT_INT8 || type == TENGINE_DT_UINT8;
    if (is_written) return {type, type};
    if (is_integer && is_blockwise(record)) return {type, TENGINE_DT_FP32};
    if (is_small_integer(type) && has_scale)
        return {type, type == TENGINE_DT_UINT4 ? TENGINE_DT_UINT8 : TENGINE_DT_INT8};
    if (type == TENGINE_DT_INT64 && is_bias && has_scale) return {type, TENGINE_DT_FP32};
    return {type, type};
}

int find_values(const Reading& reading, const struct tensor* tensor, const file::Tensor& record,
                const uint8_t** out_bytes, uint64_t* out_size)
{
    const uint32_t buffers = count(reading.model->buffers());
    if (record.buffer() == 0) return TENGINE_OK;
    if (record.buffer() >= buffers)
        return tengine_error_set(TENGINE_EFORMAT, "%s has buffer %u, the model has %u",
                                 label(tensor).c_str(), record.buffer(), buffers);
    const file::Buffer* buffer = reading.model->buffers()->Get(record.buffer());
    if (buffer->offset() <= 1) {
        *out_size = count(buffer->data());
        *out_bytes = *out_size > 0 ? buffer->data()->data() : nullptr;
        return TENGINE_OK;
    }
    const uint64_t file_size = reading.image->size();
    if (buffer->offset() > file_size || buffer->size() > file_size - buffer->offset())
        return tengine_error_set(
            TENGINE_EFORMAT, "%s: buffer %u has %llu bytes from byte %llu on, the file %llu",
            label(tensor).c_str(), record.buffer(), static_cast<unsigned long long>(buffer->size()),
            static_cast<unsigned long long>(buffer->offset()),
            static_cast<unsigned long long>(file_size));
    *out_bytes = reinterpret_cast<const uint8_t*>(reading.image->bytes()) + buffer->offset();
    *out_size = buffer->size();
    return TENGINE_OK;
}

int set_values(Reading& reading, struct tensor* tensor, const file::Tensor& record,
               const ValueForm& form, const uint8_t* bytes, uint64_t size)
{
    return ValueReader(reading, tensor, record, form).run(bytes, size);
}

}  // namespace tengine::tflite
