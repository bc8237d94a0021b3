// SPDX-License-Identifier: Apache-2.0
// Elements of 2 and 4 bits and floats of 4 and 8 bits (TYPES_SMALL of operator/type_set.h), as
// numbers for kernels that compute with them, and as bytes for those that move them. Minimal builds
// have no operator that accepts them.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>

#include "base/minimal.h"
#include "base/packed_bits.h"
#include "base/small_float.h"
#include "device/cpu/kernel_context.h"
#include "device/cpu/reference/vector/arithmetic.h"
#include "operator/type_set.h"
#include "tengine/ir.h"

namespace tengine::cpu {

constexpr uint32_t kSmallTypes = IS_MINIMAL ? 0 : TYPES_SMALL;

inline bool is_small(int data_type)
{
    return data_type < 32 && (kSmallTypes >> data_type & 1u) != 0;
}

inline bool is_signed_small(int data_type)
{
    return data_type == TENGINE_DT_INT4 || data_type == TENGINE_DT_INT2;
}

// The elements of a tensor as numbers; not to be used for other types.
class SmallReader
{
  public:
    explicit SmallReader(const tensor* source)
        : data_(source->data), bits_(get_data_type_bits(source->data_type))
    {
        if (!is_small(source->data_type)) return;
        const small_float_t* format = find_small_float(source->data_type);
        const bool is_signed = is_signed_small(source->data_type);
        for (int code = 0; code < 1 << bits_; ++code) {
            const auto byte = static_cast<uint8_t>(code);
            values_[byte] = format      ? small_float_to_double(format, byte)
                            : is_signed ? extend_sign(byte, bits_)
                                        : code;
        }
    }

    double operator[](int64_t index) const
    {
        uint8_t code;
        unpack_bits(data_, index, 1, bits_, &code);
        return values_[code];
    }

  private:
    const void* data_;
    int bits_;
    std::array<double, 256> values_ = {};
};

// Converts numbers to elements of such a type. Floats are rounded and saturate as small_float.h
// says; integers are truncated and keep their low bits, as in Cast.
class SmallWriter
{
  public:
    SmallWriter(int data_type, bool saturate, power_rounding rounding = POWER_UP)
        : format_(find_small_float(data_type)),
          bits_(get_data_type_bits(data_type)),
          saturate_(saturate),
          rounding_(rounding)
    {
    }

    template <class T>
    uint8_t encode(T value) const
    {
        if constexpr (std::is_integral_v<T>) {
            if (!format_) return static_cast<uint8_t>(value & ((1 << bits_) - 1));
            return encode(widen(value));
        } else {
            if (!format_) return encode(from_double<int64_t>(value));
            return format_->kind == SMALL_FLOAT_POWER
                       ? double_to_power(value, saturate_, rounding_)
                       : double_to_small_float(format_, value, saturate_);
        }
    }

    // `begin` must be the first element of a byte.
    void store(const uint8_t* codes, int64_t begin, int64_t number, void* target) const
    {
        pack_bits(codes, begin, number, bits_, target);
    }

  private:
    // Rounds a number that double cannot represent to one that is rounded in the same way later:
    // the bits beyond those that decide become one sticky bit.
    template <class T>
    static double widen(T value)
    {
        constexpr uint64_t kBeyond = (1 << 11) - 1;
        const bool is_negative = value < 0;
        uint64_t magnitude =
            is_negative ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
        if (magnitude >> 53 != 0)
            magnitude = (magnitude & ~kBeyond) | ((magnitude & kBeyond) != 0 ? kBeyond + 1 : 0);
        const auto widened = static_cast<double>(magnitude);
        return is_negative ? -widened : widened;
    }

    const small_float_t* format_;
    int bits_;
    bool saturate_;
    power_rounding rounding_;
};

// ---- kernels that move elements ----

inline bool is_packed(const tensor* value)
{
    return value && is_small(value->data_type) && get_data_type_bits(value->data_type) < 8;
}

// Kernel::prepare of run_unpacked(): requests memory for those tensors with a byte for each
// element.
inline int prepare_unpacked(KernelContext& context)
{
    uint64_t bytes = 0;
    for (int i = 0; i < context.input_num(); ++i)
        if (is_packed(context.input(i))) bytes += static_cast<uint64_t>(context.input(i)->elem_num);
    if (is_packed(context.output(0))) bytes += static_cast<uint64_t>(context.output(0)->elem_num);
    context.scratch_size = bytes;
    return TENGINE_OK;
}

// The tensors of a node with one output and up to four inputs, as a kernel for whole bytes sees
// them.
class Unpacked
{
  public:
    explicit Unpacked(const KernelContext& context)
        : context_(context), room_(static_cast<uint8_t*>(context.scratch))
    {
        for (int i = 0; i < context.input_num(); ++i) {
            const tensor* input = context.input(i);
            inputs_[i] = show(input, &copies_[i]);
            if (is_packed(input))
                unpack_bits(input->data, 0, input->elem_num, get_data_type_bits(input->data_type),
                            inputs_[i]->u8);
        }
        output_ = show(context.output(0), &copies_[kMostInputs]);
    }

    KernelContext shown() const
    {
        KernelContext shown = context_;
        shown.inputs = inputs_;
        shown.outputs = &output_;
        shown.tensor_num[0] = context_.input_num();
        shown.tensor_num[1] = 1;
        return shown;
    }

    void pack_output() const
    {
        const tensor* output = context_.output(0);
        if (is_packed(output))
            pack_bits(output_->u8, 0, output->elem_num, get_data_type_bits(output->data_type),
                      output->data);
    }

  private:
    static constexpr int kMostInputs = 4;

    tensor* show(const tensor* value, tensor* out_copy)
    {
        if (!value) return nullptr;
        *out_copy = *value;
        if (is_packed(value)) {
            out_copy->data_type = TENGINE_DT_UINT8;
            out_copy->data = room_;
            room_ += value->elem_num;
        }
        return out_copy;
    }

    const KernelContext& context_;
    uint8_t* room_;
    tensor copies_[kMostInputs + 1];
    tensor* inputs_[kMostInputs] = {};
    tensor* output_ = nullptr;
};

// Runs a kernel that moves elements without reading their values, for elements of any size: `kRun`
// supports whole bytes only.
template <int (*kRun)(KernelContext& context)>
int run_unpacked(KernelContext& context)
{
    bool has_packed = is_packed(context.output(0));
    for (int i = 0; i < context.input_num(); ++i)
        has_packed = has_packed || is_packed(context.input(i));
    if (!has_packed) return kRun(context);
    const Unpacked unpacked(context);
    KernelContext shown = unpacked.shown();
    TENGINE_RETURN_IF_ERROR(kRun(shown));
    unpacked.pack_output();
    return TENGINE_OK;
}

}  // namespace tengine::cpu
