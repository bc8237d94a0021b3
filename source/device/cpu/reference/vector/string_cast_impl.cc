// SPDX-License-Identifier: Apache-2.0
// Numbers as strings: with the fewest digits from which reading gives the same number, NaN, INF and
// -INF; and back: integers exactly, all others as doubles. The program's locale has no effect.
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>

#include "device/cpu/reference/learning/texts.h"
#include "device/cpu/reference/vector/arithmetic.h"
#include "device/cpu/reference/vector/string_cast.h"
#include "device/cpu/shared/types.h"

namespace tengine::cpu {
namespace {

constexpr size_t kMostDigits = 64;

template <class T>
int write_number(const KernelContext& context, int64_t index, T value)
{
    char digits[kMostDigits];
    if constexpr (is_float<T>) {
        const auto wide = static_cast<compute_t<T>>(value);
        if (std::isnan(wide)) return write_text(context, index, "NaN");
        if (std::isinf(wide)) return write_text(context, index, wide < 0 ? "-INF" : "INF");
        const auto end = std::to_chars(digits, digits + kMostDigits, wide);
        return write_text(context, index, {digits, static_cast<size_t>(end.ptr - digits)});
    } else {
        const auto end = std::to_chars(digits, digits + kMostDigits, value);
        return write_text(context, index, {digits, static_cast<size_t>(end.ptr - digits)});
    }
}

int write_numbers(const KernelContext& context)
{
    const tensor* input = context.input(0);
    if (input->data_type == TENGINE_DT_BOOL) {
        for (int64_t i = 0; i < input->elem_num; ++i)
            TENGINE_RETURN_IF_ERROR(write_text(context, i, input->u8[i] ? "1" : "0"));
        return TENGINE_OK;
    }
    return dispatch_type(NumberTypes{}, input->data_type, [&](auto type) -> int {
        using T = typename decltype(type)::type;
        for (int64_t i = 0; i < input->elem_num; ++i)
            TENGINE_RETURN_IF_ERROR(
                write_number(context, i, static_cast<const T*>(input->data)[i]));
        return TENGINE_OK;
    });
}

// INF, +INF, -INF and NaN in any case are numbers as well. False: the string is not a number.
template <class T>
bool parse(std::string_view text, T* out_value)
{
    if (!text.empty() && text[0] == '+') {
        text.remove_prefix(1);
        if (!text.empty() && text[0] == '-') return false;
    }
    const auto end = std::from_chars(text.data(), text.data() + text.size(), *out_value);
    return end.ec == std::errc() && end.ptr == text.data() + text.size() && !text.empty();
}

// A number out of the range of a double becomes infinite or 0.
bool parse_double(const char* text, double* out_value)
{
    std::string_view rest = text;
    if (parse(rest, out_value)) return true;
    double sign = 1;
    if (!rest.empty() && (rest[0] == '+' || rest[0] == '-')) {
        sign = rest[0] == '-' ? -1 : 1;
        rest.remove_prefix(1);
    }
    if (rest.empty() || !std::isdigit(static_cast<unsigned char>(rest[0]))) return false;
    const auto end = std::from_chars(rest.data(), rest.data() + rest.size(), *out_value);
    if (end.ec != std::errc::result_out_of_range || end.ptr != rest.data() + rest.size())
        return false;
    const size_t exponent = rest.find_first_of("eE");
    const bool is_tiny = exponent != std::string_view::npos && rest[exponent + 1] == '-';
    *out_value = sign * (is_tiny ? 0.0 : HUGE_VAL);
    return true;
}

int fail_text(const KernelContext& context, int64_t index, const char* text)
{
    return fail_node(context.node, TENGINE_EINVAL, "element %lld is \"%.60s\", expected %s",
                     static_cast<long long>(index), text,
                     get_data_type_name(context.output(0)->data_type));
}

template <class T>
bool read_number(const char* text, T* out_value)
{
    double real = 0;
    if constexpr (is_half<T> || std::is_same_v<T, float>) {
        // The value is rounded once from the string to float; fp16 and bf16 are rounded once more.
        float single = 0;
        if (parse(text, &single)) {
            *out_value = T(single);
            return true;
        }
    } else if constexpr (std::is_integral_v<T>) {
        if (parse(text, out_value)) return true;
        if (!parse_double(text, &real)) return false;
        constexpr double kLeast = static_cast<double>(std::numeric_limits<T>::min());
        constexpr double kBeyond = 2.0 * static_cast<double>(std::numeric_limits<T>::max() / 2 + 1);
        if (!(real > kLeast - 1 && real < kBeyond)) return false;
        *out_value = static_cast<T>(real);
        return true;
    }
    if (!parse_double(text, &real)) return false;
    if constexpr (!std::is_integral_v<T>) *out_value = static_cast<T>(real);
    return true;
}

int read_numbers(const KernelContext& context)
{
    const char* const* texts = texts_of(context.input(0));
    const tensor* output = context.output(0);
    if (output->data_type == TENGINE_DT_BOOL) {
        for (int64_t i = 0; i < output->elem_num; ++i) {
            double value = 0;
            if (!parse_double(texts[i], &value)) return fail_text(context, i, texts[i]);
            output->u8[i] = value != 0;
        }
        return TENGINE_OK;
    }
    return dispatch_type(NumberTypes{}, output->data_type, [&](auto type) -> int {
        using T = typename decltype(type)::type;
        for (int64_t i = 0; i < output->elem_num; ++i)
            if (!read_number(texts[i], static_cast<T*>(output->data) + i))
                return fail_text(context, i, texts[i]);
        return TENGINE_OK;
    });
}

}  // namespace

int cast_strings(const KernelContext& context)
{
    const tensor* input = context.input(0);
    const bool from_text = input->data_type == TENGINE_DT_STRING;
    if (from_text && context.output(0)->data_type == TENGINE_DT_STRING)
        return write_texts(context, texts_of(input), input->elem_num);
    return from_text ? read_numbers(context) : write_numbers(context);
}

}  // namespace tengine::cpu
