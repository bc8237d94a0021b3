// SPDX-License-Identifier: Apache-2.0
// Reference kernel of GroupQueryAttention (operator/onnx/group_query_ops.c). Sums are in double.
#include "device/cpu/shared/group_query.h"

#include <cmath>

#include "device/cpu/kernel_table.h"
#include "device/cpu/shared/grain.h"

namespace tengine::cpu {
namespace {

// Rotates a head of a query or a key by the angles of its position. May be in place.
template <class T>
void turn_head(const KernelContext& context, const GroupQuery& query, int64_t position,
               const T* from, T* to)
{
    using C = compute_t<T>;
    const RotaryPairs<T> pairs(context, query, position);
    if (from != to) std::memcpy(to, from, sizeof(T) * static_cast<size_t>(query.depth));
    for (int64_t i = 0; i < pairs.number; ++i) {
        T &first = to[i * pairs.step], &second = to[i * pairs.step + pairs.apart];
        const C a = first, b = second;
        first = static_cast<T>(a * pairs.cosines[i] - b * pairs.sines[i]);
        second = static_cast<T>(a * pairs.sines[i] + b * pairs.cosines[i]);
    }
}

float scale_of(const GroupQuery& query)
{
    return query.scale != 0 ? query.scale : 1 / std::sqrt(static_cast<float>(query.depth));
}

// A worker's scratch: a rotated query, then the scores of its keys.
template <class T>
struct Row
{
    const KernelContext& context;
    const GroupQuery& query;
    T* turned;
    double* scores;
    int64_t b, head, token;

    int64_t first() const { return query.first_key(b, token); }
    int64_t end() const { return query.end_key(b, token); }
    int64_t key_head() const { return head / (query.heads / query.key_heads); }
};

template <class T>
void score_keys(const Row<T>& row)
{
    const GroupQuery& query = row.query;
    const T* keys = static_cast<const T*>(row.context.output(GROUP_QUERY_PRESENT_KEY)->data);
    const T* bias = bias_row<T>(row.context, query, row.b, row.head, row.token);
    const T* tokens = static_cast<const T*>(row.context.input(GROUP_QUERY_QUERY)->data);
    turn_head(row.context, query, query.position(row.b, row.token),
              tokens + query.query_at(row.b, row.token, row.head), row.turned);
    for (int64_t key = row.first(); key < row.end(); ++key) {
        const T* elements = keys + query.present_at(row.b, row.key_head(), key);
        double sum = 0;
        for (int64_t i = 0; i < query.depth; ++i)
            sum += static_cast<double>(row.turned[i]) * static_cast<double>(elements[i]);
        double score = sum * scale_of(query);
        if (query.softcap > 0) score = query.softcap * std::tanh(score / query.softcap);
        row.scores[key] = score + (bias ? static_cast<double>(bias[key]) : 0);
    }
}

// Replaces scores by their softmax. The share of a sink is left out.
template <class T>
void normalize(const Row<T>& row)
{
    const tensor* sink = row.context.input(GROUP_QUERY_SINK);
    const bool has_sink = sink || row.query.smooth;
    const double rest = sink ? static_cast<double>(static_cast<const T*>(sink->data)[row.head]) : 0;
    double* const begin = row.scores + row.first();
    double* const end = row.scores + row.end();
    double largest = *std::max_element(begin, end);
    if (has_sink) largest = std::max(largest, rest);
    double sum = has_sink ? std::exp(rest - largest) : 0;
    for (double* score = begin; score < end; ++score) {
        *score = std::exp(*score - largest);
        sum += *score;
    }
    for (double* score = begin; score < end; ++score)
        *score /= sum;
}

// Stores the scores; those of keys that the query does not see are 0.
template <class T>
void write_scores(const Row<T>& row)
{
    tensor* scores = row.context.output(GROUP_QUERY_SCORES);
    if (!scores) return;
    const GroupQuery& query = row.query;
    const int64_t place = (row.b * query.heads + row.head) * query.tokens + row.token;
    T* to = static_cast<T*>(scores->data) + place * query.total;
    for (int64_t key = 0; key < query.total; ++key)
        to[key] = static_cast<T>(key >= row.first() && key < row.end() ? row.scores[key] : 0);
}

template <class T>
void sum_values(const Row<T>& row)
{
    const GroupQuery& query = row.query;
    const T* values = static_cast<const T*>(row.context.output(GROUP_QUERY_PRESENT_VALUE)->data);
    T* result = static_cast<T*>(row.context.output(GROUP_QUERY_RESULT)->data);
    for (int64_t i = 0; i < query.depth; ++i) {
        double sum = 0;
        for (int64_t key = row.first(); key < row.end(); ++key)
            sum += row.scores[key] *
                   static_cast<double>(values[query.present_at(row.b, row.key_head(), key) + i]);
        result[query.result_at(row.b, row.token, row.head) + i] = static_cast<T>(sum);
    }
}

template <class T>
void attend(const Row<T>& row)
{
    const int output = row.context.template param<group_query_param>().qk_output;
    score_keys(row);
    if (output == 1) write_scores(row);
    normalize(row);
    if (output == 2) write_scores(row);
    sum_values(row);
}

template <class T>
void attend_all(const KernelContext& context, const GroupQuery& query)
{
    const auto turn = [&](int64_t position, const T* from, T* to) {
        turn_head(context, query, position, from, to);
    };
    fill_cache<T>(context, query, true, turn);
    fill_cache<T>(context, query, false, turn);
    const int64_t work = query.total * query.depth;
    const auto attend_some = [&](int64_t begin, int64_t end, int worker) {
        auto* memory = static_cast<double*>(context.scratch) + worker * (query.depth + query.rows);
        for (int64_t item = begin; item < end; ++item)
            attend(Row<T>{context, query, reinterpret_cast<T*>(memory), memory + query.depth,
                          item / query.tokens / query.heads, item / query.tokens % query.heads,
                          item % query.tokens});
    };
    parallel_for(context.pool, query.batch * query.heads * query.tokens, grain_for(work),
                 attend_some);
}

int prepare(KernelContext& context)
{
    const int64_t depth = get_group_query_depth(context.node);
    const auto numbers =
        static_cast<uint64_t>(depth + context.output(GROUP_QUERY_PRESENT_KEY)->dims[2]);
    context.scratch_size =
        sizeof(double) * numbers * static_cast<uint64_t>(get_thread_pool_size(context.pool));
    return TENGINE_OK;
}

int run(KernelContext& context)
{
    GroupQuery query;
    TENGINE_RETURN_IF_ERROR(read_group_query(context, &query));
    return dispatch_type(FloatTypes{}, context.input(GROUP_QUERY_QUERY)->data_type, [&](auto type) {
        attend_all<typename decltype(type)::type>(context, query);
        return TENGINE_OK;
    });
}

constexpr Kernel group_query_rows[] = {
    {"com.microsoft.GroupQueryAttention", "reference", nullptr, run, prepare},
};

}  // namespace

extern const KernelTable group_query_reference;
const KernelTable group_query_reference = make_table<group_query_rows>();

}  // namespace tengine::cpu
