// SPDX-License-Identifier: Apache-2.0
// The operators of operator/onnx/constant_ops.c: tensors made out of parameters.
#include <algorithm>
#include <cstring>

#include "device/cpu/kernel_table.h"
#include "device/cpu/reference/learning/texts.h"
#include "device/cpu/reference/vector/small_elements.h"
#include "device/cpu/shared/types.h"
#include "operator/onnx/shape_param.h"

namespace tengine::cpu {
namespace {

int run_constant(KernelContext& context)
{
    op_tensor value;
    int64_t scalar;
    TENGINE_RETURN_IF_ERROR(read_constant(context.node, &value, &scalar));
    if (value.data_type == TENGINE_DT_STRING)
        return write_texts(context, static_cast<const char* const*>(value.data),
                           context.output(0)->elem_num);
    if (value.size > 0) std::memcpy(context.output(0)->data, value.data, value.size);
    return TENGINE_OK;
}

// Fills bytes with packed elements that are all equal; the last byte may have fewer.
void fill_packed(const op_tensor& value, const tensor* output)
{
    const int bits = get_data_type_bits(output->data_type);
    const int in_byte = 8 / bits;
    uint8_t codes[4] = {};
    unpack_bits(value.data, 0, 1, bits, codes);
    std::fill_n(codes, in_byte, codes[0]);
    uint8_t byte = 0;
    pack_bits(codes, 0, in_byte, bits, &byte);
    std::memset(output->data, byte, get_ir_tensor_bytes(output));
    const int64_t rest = output->elem_num % in_byte;
    if (rest > 0) pack_bits(codes, output->elem_num - rest, rest, bits, output->data);
}

int run_constant_of_shape(KernelContext& context)
{
    const op_tensor& value = context.param<constant_of_shape_param>().value;
    const tensor* output = context.output(0);
    if (is_packed(output)) {
        fill_packed(value, output);
        return TENGINE_OK;
    }
    return dispatch_size(output->elem_size, [&](auto type) {
        using T = typename decltype(type)::type;
        T element = 0;
        if (value.dim_num >= 0) std::memcpy(&element, value.data, sizeof(T));
        std::fill_n(static_cast<T*>(output->data), output->elem_num, element);
        return TENGINE_OK;
    });
}

int run_range(KernelContext& context)
{
    using Types = TypeList<float, Half, BFloat16, double, int16_t, int32_t, int64_t>;
    const tensor* output = context.output(0);
    return dispatch_type(Types{}, output->data_type, [&](auto type) {
        using T = typename decltype(type)::type;
        // Unsigned integers wrap; the last, unused value of a signed range would overflow.
        using Sum = std::conditional_t<std::is_integral_v<T>, uint64_t, compute_t<T>>;
        const Sum start = static_cast<Sum>(*static_cast<const T*>(context.input(0)->data));
        const Sum delta = static_cast<Sum>(*static_cast<const T*>(context.input(2)->data));
        T* to = static_cast<T*>(output->data);
        for (int64_t i = 0; i < output->elem_num; ++i)
            to[i] = static_cast<T>(start + static_cast<Sum>(i) * delta);
        return TENGINE_OK;
    });
}

int run_eye_like(KernelContext& context)
{
    const tensor* output = context.output(0);
    const int64_t k = context.param<eye_like_param>().k;
    const int64_t row_num = output->dims[0];
    const int64_t column_num = output->dims[1];
    if (output->elem_num == 0) return TENGINE_OK;
    std::memset(output->data, 0, get_ir_tensor_bytes(output));
    return dispatch_type(AllTypes{}, output->data_type, [&](auto type) {
        using T = typename decltype(type)::type;
        T* to = static_cast<T*>(output->data);
        for (int64_t row = std::max<int64_t>(0, -k); row < std::min(row_num, column_num - k); ++row)
            to[row * column_num + row + k] = static_cast<T>(1);
        return TENGINE_OK;
    });
}

constexpr Kernel constant_rows[] = {
    {"Constant", "reference", nullptr, run_constant},
    {"ConstantOfShape", "reference", nullptr, run_constant_of_shape},
    {"Range", "reference", nullptr, run_range},
    {"EyeLike", "reference", nullptr, run_eye_like},
};

}  // namespace

extern const KernelTable constant_reference;
const KernelTable constant_reference = make_table<constant_rows>();

}  // namespace tengine::cpu
