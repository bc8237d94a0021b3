// SPDX-License-Identifier: Apache-2.0
// TfIdfVectorizer (operator/onnx/tfidf_ops.c): searches every sequence for every n-gram of the
// pool.
#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/containers.hpp"
#include "device/cpu/kernel_table.h"
#include "device/cpu/parallel.h"
#include "device/cpu/reference/learning/texts.h"
#include "device/cpu/reference/vector/elementwise.h"
#include "device/cpu/shared/types.h"
#include "operator/onnx/tfidf_param.h"

namespace tengine::cpu {
namespace {

template <class T>
struct Sequence
{
    const T* values;
    int64_t length;
};

// Whether the sequence has the n-gram, with values `distance` apart, the first at `start`.
template <class T>
bool is_at(const Sequence<T>& sequence, const int64_t* ngram, int length, int64_t start,
           int64_t distance)
{
    for (int i = 0; i < length; ++i)
        if (sequence.values[start + i * distance] != ngram[i]) return false;
    return true;
}

template <class T>
int64_t count_ngram(const Sequence<T>& sequence, const int64_t* ngram, int length, int max_skip)
{
    // A single value has no distance, and would be found once per distance.
    const int64_t largest = length == 1 ? 1 : int64_t{max_skip} + 1;
    int64_t count = 0;
    for (int64_t distance = 1; distance <= largest; ++distance) {
        const int64_t last = sequence.length - 1 - (length - 1) * distance;
        if (last < 0) break;
        for (int64_t start = 0; start <= last; ++start)
            count += is_at(sequence, ngram, length, start, distance);
    }
    return count;
}

// Adds the value of the sequence for every n-gram to `out`.
template <class T>
void vectorize(const tfidf_param& param, const int64_t* pool, const Sequence<T>& sequence,
               float* out)
{
    const bool once = std::strcmp(param.mode, "IDF") == 0;
    const bool weighted = std::strcmp(param.mode, "TF") != 0 && param.weights.num > 0;
    int64_t ngram = 0;  // number of the n-gram in the pool
    int64_t position = 0;
    for (int length = 1; length <= param.max_gram_length; ++length) {
        for (; position < get_ngram_end(&param, length); position += length, ++ngram) {
            if (length < param.min_gram_length) continue;
            const int64_t* values = pool + position;
            int64_t count = count_ngram(sequence, values, length, param.max_skip_count);
            if (once) count = std::min<int64_t>(count, 1);
            const float weight = weighted ? param.weights.values[ngram] : 1.0f;
            out[param.ngram_indexes.values[ngram]] += static_cast<float>(count) * weight;
        }
    }
}

// Strings as numbers: the first index in the pool, -1 for strings that are not in it.
class Numbering
{
  public:
    explicit Numbering(const op_strings& pool)
    {
        for (int i = 0; i < pool.num; ++i)
            order_.push_back({pool.values[i], i});
        std::sort(order_.begin(), order_.end());
    }

    int64_t operator[](std::string_view text) const
    {
        const auto at = std::lower_bound(order_.begin(), order_.end(), Entry{text, -1});
        return at != order_.end() && at->first == text ? at->second : -1;
    }

  private:
    using Entry = std::pair<std::string_view, int64_t>;
    Vector<Entry> order_;
};

Vector<int64_t> number_texts(const Numbering& numbers, const char* const* texts, int64_t number)
{
    Vector<int64_t> values;
    for (int64_t i = 0; i < number; ++i)
        values.push_back(numbers[texts[i]]);
    return values;
}

void vectorize_rows(KernelContext& context, const int64_t* pool, const int64_t* data)
{
    const tensor* input = context.input(0);
    const tensor* output = context.output(0);
    const int64_t length = input->dims[input->dim_num - 1];
    const int64_t width = output->dims[output->dim_num - 1];
    for (int64_t row = 0; row < output->elem_num / width; ++row)
        vectorize<int64_t>(context.param<tfidf_param>(), pool, {data + row * length, length},
                           output->f32 + row * width);
}

int run_texts(KernelContext& context)
{
    const op_strings& pool = context.param<tfidf_param>().pool_strings;
    const tensor* input = context.input(0);
    const Numbering numbers(pool);
    const Vector<int64_t> grams = number_texts(numbers, pool.values, pool.num);
    const Vector<int64_t> values = number_texts(numbers, texts_of(input), input->elem_num);
    vectorize_rows(context, grams.data(), values.data());
    return TENGINE_OK;
}

bool accepts_tfidf(const node& node)
{
    return get_ir_node_input(&node, 0)->data_type == TENGINE_DT_STRING ||
           accepts_input<IndexTypes>(node);
}

int run_tfidf(KernelContext& context)
{
    const tensor* input = context.input(0);
    const tensor* output = context.output(0);
    if (output->elem_num == 0) return TENGINE_OK;
    const int64_t length = input->dims[input->dim_num - 1];
    const int64_t width = output->dims[output->dim_num - 1];
    std::memset(output->data, 0, get_ir_tensor_bytes(output));
    if (input->data_type == TENGINE_DT_STRING) return run_texts(context);
    return dispatch_type(IndexTypes{}, input->data_type, [&](auto type) {
        using T = typename decltype(type)::type;
        const T* data = static_cast<const T*>(input->data);
        parallel_for(context.pool, output->elem_num / width, 1,
                     [&](int64_t begin, int64_t end, int) {
                         for (int64_t row = begin; row < end; ++row)
                             vectorize<T>(context.param<tfidf_param>(),
                                          context.param<tfidf_param>().pool_int64s.values,
                                          {data + row * length, length}, output->f32 + row * width);
                     });
        return TENGINE_OK;
    });
}

constexpr Kernel tfidf_rows[] = {
    {"TfIdfVectorizer", "reference", accepts_tfidf, run_tfidf},
};

}  // namespace

extern const KernelTable tfidf_reference;
const KernelTable tfidf_reference = make_table<tfidf_rows>();

}  // namespace tengine::cpu
