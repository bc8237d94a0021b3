// SPDX-License-Identifier: Apache-2.0
// The operators of operator/onnx/ml_feature_ops.c.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/alloc.h"
#include "base/sort.h"
#include "device/cpu/kernel_table.h"
#include "device/cpu/reference/learning/texts.h"
#include "device/cpu/shared/types.h"
#include "operator/onnx/ml_feature_param.h"

namespace tengine::cpu {
namespace {

using FeatureTypes = TypeList<float, double, int64_t, int32_t>;

int feature_num(const tensor* rows)
{
    return rows->dims[rows->dim_num - 1];
}

// Calls body(elements) with the elements of `input` in their own type.
template <class Body>
int with_elements(const tensor* input, const Body& body)
{
    return dispatch_type(FeatureTypes{}, input->data_type, [&](auto type) {
        using T = typename decltype(type)::type;
        return body(static_cast<const T*>(input->data));
    });
}

float pick(const op_floats& list, int64_t feature, float otherwise)
{
    if (list.num == 0) return otherwise;
    return list.values[list.num == 1 ? 0 : feature];
}

int run_scaler(KernelContext& context)
{
    const auto& param = context.param<ml_scaler_param>();
    const tensor* output = context.output(0);
    return with_elements(context.input(0), [&](const auto* from) {
        const int features = feature_num(output);
        for (int64_t i = 0; i < output->elem_num; ++i)
            output->f32[i] = (static_cast<float>(from[i]) - pick(param.offset, i % features, 0)) *
                             pick(param.scale, i % features, 1);
        return TENGINE_OK;
    });
}

// MAX is the largest value, not the largest magnitude.
float norm_of(const float* row, int num, const char* norm)
{
    if (std::strcmp(norm, "MAX") == 0) return num > 0 ? *std::max_element(row, row + num) : 0;
    float sum = 0;
    const bool is_l1 = std::strcmp(norm, "L1") == 0;
    for (int i = 0; i < num; ++i)
        sum += is_l1 ? std::fabs(row[i]) : row[i] * row[i];
    return is_l1 ? sum : std::sqrt(sum);
}

int run_normalizer(KernelContext& context)
{
    const auto& param = context.param<ml_normalizer_param>();
    const tensor* output = context.output(0);
    return with_elements(context.input(0), [&](const auto* from) {
        const int features = feature_num(output);
        for (int64_t i = 0; i < output->elem_num; ++i)
            output->f32[i] = static_cast<float>(from[i]);
        for (int64_t i = 0; i < output->elem_num; i += features) {
            const float norm = norm_of(output->f32 + i, features, param.norm);
            for (int k = 0; norm != 0 && k < features; ++k)
                output->f32[i + k] /= norm;
        }
        return TENGINE_OK;
    });
}

int run_binarizer(KernelContext& context)
{
    const float threshold = context.param<ml_binarizer_param>().threshold;
    const tensor* output = context.output(0);
    return dispatch_type(FeatureTypes{}, output->data_type, [&](auto type) {
        using T = typename decltype(type)::type;
        const T* from = static_cast<const T*>(context.input(0)->data);
        T* to = static_cast<T*>(output->data);
        for (int64_t i = 0; i < output->elem_num; ++i)
            to[i] = static_cast<double>(from[i]) > double{threshold} ? T{1} : T{0};
        return TENGINE_OK;
    });
}

int run_imputer(KernelContext& context)
{
    const auto& param = context.param<ml_imputer_param>();
    const tensor* output = context.output(0);
    const int features = feature_num(output);
    return dispatch_type(FeatureTypes{}, output->data_type, [&](auto type) {
        using T = typename decltype(type)::type;
        const T* from = static_cast<const T*>(context.input(0)->data);
        T* to = static_cast<T*>(output->data);
        for (int64_t i = 0; i < output->elem_num; ++i) {
            const int64_t feature = i % features;
            if constexpr (std::is_floating_point_v<T>) {
                const auto replaced = static_cast<T>(param.replaced_value_float);
                const bool is_missing =
                    std::isnan(replaced) ? std::isnan(from[i]) : from[i] == replaced;
                to[i] = is_missing ? static_cast<T>(pick(param.imputed_value_floats, feature, 0))
                                   : from[i];
            } else {
                const op_ints& imputed = param.imputed_value_int64s;
                to[i] = from[i] == param.replaced_value_int64
                            ? static_cast<T>(imputed.values[imputed.num == 1 ? 0 : feature])
                            : from[i];
            }
        }
        return TENGINE_OK;
    });
}

int run_extractor(KernelContext& context)
{
    const tensor* input = context.input(0);
    const tensor* indices = context.input(1);
    const int64_t features = feature_num(input);
    for (int64_t i = 0; i < indices->elem_num; ++i)
        if (indices->i64[i] < 0 || indices->i64[i] >= features)
            return fail_node(context.node, TENGINE_ERANGE,
                             "index %lld is %lld, the input has %lld features",
                             static_cast<long long>(i), static_cast<long long>(indices->i64[i]),
                             static_cast<long long>(features));
    const auto size = static_cast<size_t>(input->elem_size);
    const auto* from = static_cast<const char*>(input->data);
    auto* to = static_cast<char*>(context.output(0)->data);
    const int64_t rows = features == 0 ? 0 : input->elem_num / features;
    for (int64_t row = 0; row < rows; ++row)
        for (int64_t i = 0; i < indices->elem_num; ++i, to += size)
            std::memcpy(to, from + static_cast<size_t>(row * features + indices->i64[i]) * size,
                        size);
    return TENGINE_OK;
}

int run_vectorizer(KernelContext& context)
{
    const tensor* output = context.output(0);
    const int64_t width = feature_num(output);
    int64_t column = 0;
    for (int index = 0; index < context.input_num(); ++index) {
        const tensor* input = context.input(index);
        const int64_t features =
            input->dim_num == 1 ? input->dims[0] : multiply_dims(input, 1, input->dim_num);
        TENGINE_RETURN_IF_ERROR(with_elements(input, [&](const auto* from) {
            for (int64_t i = 0; i < input->elem_num; ++i)
                output->f32[i / features * width + column + i % features] =
                    static_cast<float>(from[i]);
            return TENGINE_OK;
        }));
        column += features;
    }
    return TENGINE_OK;
}

// Floats are truncated; a value beyond int64 is in no category.
template <class T>
bool cut(T value, int64_t* out_value)
{
    if constexpr (std::is_floating_point_v<T>) {
        if (!(std::fabs(value) < T(9.2e18))) return false;
    }
    *out_value = static_cast<int64_t>(value);
    return true;
}

int run_one_hot_texts(KernelContext& context)
{
    const auto& param = context.param<ml_one_hot_param>();
    const tensor* input = context.input(0);
    const int number = param.cats_strings.num;
    std::fill_n(context.output(0)->f32, context.output(0)->elem_num, 0.0f);
    for (int64_t i = 0; i < input->elem_num; ++i) {
        const char* text = texts_of(input)[i];
        int place = 0;
        while (place < number && std::strcmp(text, param.cats_strings.values[place]) != 0)
            ++place;
        if (place < number)
            context.output(0)->f32[i * number + place] = 1;
        else if (!param.zeros)
            return fail_node(context.node, TENGINE_ERANGE,
                             "\"%.60s\" is in no category, and zeros is 0", text);
    }
    return TENGINE_OK;
}

int run_one_hot(KernelContext& context)
{
    if (context.input(0)->data_type == TENGINE_DT_STRING) return run_one_hot_texts(context);
    const auto& param = context.param<ml_one_hot_param>();
    const tensor* input = context.input(0);
    const tensor* output = context.output(0);
    const int64_t* const begin = param.cats_int64s.values;
    const int64_t number = param.cats_int64s.num;
    std::fill_n(output->f32, output->elem_num, 0.0f);
    return with_elements(input, [&](const auto* from) -> int {
        for (int64_t i = 0; i < input->elem_num; ++i) {
            int64_t value = 0;
            const bool is_whole = cut(from[i], &value);
            const int64_t place =
                is_whole ? std::find(begin, begin + number, value) - begin : number;
            if (place < number)
                output->f32[i * number + place] = 1;
            else if (!param.zeros)
                return fail_node(context.node, TENGINE_ERANGE,
                                 "%g is in no category, and zeros is 0",
                                 static_cast<double>(from[i]));
        }
        return TENGINE_OK;
    });
}

// ---- LabelEncoder ----

// A key and the index of its value, in sorted order. The last of duplicate keys counts.
struct LabelKey
{
    uint64_t bits;
    int64_t place;
};

// Equal strings are one pointer after the graph has interned them.
struct LabelKeys
{
    int64_t num;
    LabelKey keys[1];
};

int compare_keys(const void* left, const void* right)
{
    const auto& a = *static_cast<const LabelKey*>(left);
    const auto& b = *static_cast<const LabelKey*>(right);
    if (a.bits != b.bits) return a.bits < b.bits ? -1 : 1;
    return (a.place > b.place) - (a.place < b.place);
}

// Returns -1 if there is none.
int64_t find_label(const LabelKeys& list, uint64_t bits)
{
    const LabelKey* end = list.keys + list.num;
    const LabelKey* next = std::upper_bound(
        list.keys, end, bits, [](uint64_t value, const LabelKey& key) { return value < key.bits; });
    return next != list.keys && next[-1].bits == bits ? next[-1].place : -1;
}

// Maps equal keys to equal bits: -0 to 0, and all NaN to one. False: the key matches none.
template <class T>
bool get_key_bits(T key, bool nan_matches, uint64_t* out_bits)
{
    if constexpr (std::is_floating_point_v<T>) {
        if (std::isnan(key) && !nan_matches) return false;
        const double value = std::isnan(key) ? std::numeric_limits<double>::quiet_NaN()
                                             : static_cast<double>(key) + 0.0;
        std::memcpy(out_bits, &value, sizeof(value));
    } else {
        *out_bits = static_cast<uint64_t>(key);
    }
    return true;
}

bool nan_matches(const KernelContext& context)
{
    return context.node->op.version >= 4;
}

using LabelTypes = TypeList<float, double, int64_t>;

int add_text_keys(const KernelContext& context, const label_list& keys, LabelKeys* list)
{
    const auto* texts = static_cast<const char* const*>(keys.values);
    for (int64_t i = 0; i < keys.num; ++i, ++list->num) {
        const char* text = nullptr;
        TENGINE_RETURN_IF_ERROR(
            keep_ir_string(context.node->graph, texts[i], std::strlen(texts[i]), &text));
        list->keys[list->num] = {reinterpret_cast<uintptr_t>(text), i};
    }
    return TENGINE_OK;
}

int add_keys(const KernelContext& context, const label_list& keys, LabelKeys* list)
{
    if (keys.data_type == TENGINE_DT_STRING) return add_text_keys(context, keys, list);
    return dispatch_type(LabelTypes{}, keys.data_type, [&](auto type) {
        using T = typename decltype(type)::type;
        for (int64_t i = 0; i < keys.num; ++i) {
            LabelKey& key = list->keys[list->num];
            key.place = i;
            if (get_key_bits(static_cast<const T*>(keys.values)[i], nan_matches(context),
                             &key.bits))
                ++list->num;
        }
        return TENGINE_OK;
    });
}

// In the first opset the keys are its strings, for inputs of strings.
label_list get_keys(const KernelContext& context)
{
    const auto& param = context.param<ml_label_param>();
    if (context.node->op.version > 1) return get_label_keys(&param);
    return {TENGINE_DT_STRING, param.classes_strings.num, param.classes_strings.values};
}

int prepare_label_encoder(KernelContext& context)
{
    const label_list keys = get_keys(context);
    auto* list = static_cast<LabelKeys*>(
        alloc_memory64(sizeof(LabelKeys) + static_cast<uint64_t>(keys.num) * sizeof(LabelKey)));
    if (!list) return fail_node(context.node, TENGINE_ENOMEM, "out of memory for the keys");
    context.state = list;
    context.free_state = free_memory;
    const int status = add_keys(context, keys, list);
    sort_items(list->keys, static_cast<size_t>(list->num), sizeof(LabelKey), compare_keys);
    return status;
}

// Writes the default value, for elements that match no key.
void write_default(const ml_label_param& param, int data_type, void* to)
{
    if (param.default_tensor.dim_num >= 0) {
        std::memcpy(to, param.default_tensor.data, param.default_tensor.size);
    } else if (data_type == TENGINE_DT_INT64) {
        *static_cast<int64_t*>(to) = param.default_int64;
    } else if (data_type == TENGINE_DT_FP64) {
        *static_cast<double*>(to) = static_cast<double>(param.default_float);
    } else {
        *static_cast<float*>(to) = param.default_float;
    }
}

const char* get_default_text(const ml_label_param& param)
{
    return param.default_tensor.dim_num >= 0
               ? *static_cast<const char* const*>(param.default_tensor.data)
               : param.default_string;
}

// Writes the value of element `index`; its key is at `place`, or has none (-1).
int write_label(const KernelContext& context, int64_t index, int64_t place)
{
    const auto& param = context.param<ml_label_param>();
    const label_list values = get_label_values(&param);
    if (values.data_type == TENGINE_DT_STRING) {
        const auto* texts = static_cast<const char* const*>(values.values);
        return write_text(context, index, place < 0 ? get_default_text(param) : texts[place]);
    }
    const auto size = static_cast<size_t>(context.output(0)->elem_size);
    void* to = static_cast<char*>(context.output(0)->data) + static_cast<size_t>(index) * size;
    if (place < 0)
        write_default(param, values.data_type, to);
    else
        std::memcpy(to, static_cast<const char*>(values.values) + static_cast<size_t>(place) * size,
                    size);
    return TENGINE_OK;
}

// Maps a string to its index in the one list, or back.
int run_first_label_encoder(KernelContext& context)
{
    const auto& param = context.param<ml_label_param>();
    const auto& keys = *static_cast<const LabelKeys*>(context.state);
    const tensor* input = context.input(0);
    for (int64_t i = 0; i < input->elem_num; ++i) {
        if (input->data_type == TENGINE_DT_STRING) {
            const int64_t place = find_label(keys, reinterpret_cast<uintptr_t>(texts_of(input)[i]));
            context.output(0)->i64[i] = place < 0 ? param.default_int64 : place;
            continue;
        }
        const int64_t place = input->i64[i];
        const bool is_known = place >= 0 && place < param.classes_strings.num;
        TENGINE_RETURN_IF_ERROR(write_text(
            context, i, is_known ? param.classes_strings.values[place] : param.default_string));
    }
    return TENGINE_OK;
}

int run_label_encoder(KernelContext& context)
{
    if (context.node->op.version == 1) return run_first_label_encoder(context);
    const auto& keys = *static_cast<const LabelKeys*>(context.state);
    const tensor* input = context.input(0);
    if (input->data_type == TENGINE_DT_STRING) {
        for (int64_t i = 0; i < input->elem_num; ++i) {
            const auto bits = reinterpret_cast<uintptr_t>(texts_of(input)[i]);
            TENGINE_RETURN_IF_ERROR(write_label(context, i, find_label(keys, bits)));
        }
        return TENGINE_OK;
    }
    return dispatch_type(LabelTypes{}, input->data_type, [&](auto type) -> int {
        using T = typename decltype(type)::type;
        for (int64_t i = 0; i < input->elem_num; ++i) {
            uint64_t bits = 0;
            const bool has_bits =
                get_key_bits(static_cast<const T*>(input->data)[i], nan_matches(context), &bits);
            TENGINE_RETURN_IF_ERROR(
                write_label(context, i, has_bits ? find_label(keys, bits) : -1));
        }
        return TENGINE_OK;
    });
}

constexpr Kernel ml_feature_rows[] = {
    {"ai.onnx.ml.Scaler", "reference", nullptr, run_scaler},
    {"ai.onnx.ml.Normalizer", "reference", nullptr, run_normalizer},
    {"ai.onnx.ml.Binarizer", "reference", nullptr, run_binarizer},
    {"ai.onnx.ml.Imputer", "reference", nullptr, run_imputer},
    {"ai.onnx.ml.ArrayFeatureExtractor", "reference", nullptr, run_extractor},
    {"ai.onnx.ml.FeatureVectorizer", "reference", nullptr, run_vectorizer},
    {"ai.onnx.ml.OneHotEncoder", "reference", nullptr, run_one_hot},
    {"ai.onnx.ml.LabelEncoder", "reference", nullptr, run_label_encoder, prepare_label_encoder},
};

}  // namespace

extern const KernelTable ml_feature_reference;
const KernelTable ml_feature_reference = make_table<ml_feature_rows>();

}  // namespace tengine::cpu
