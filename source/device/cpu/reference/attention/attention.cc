// SPDX-License-Identifier: Apache-2.0
// Reference kernel of Attention (operator/onnx/attention_ops.c). Everything is computed in double,
// for all types of tensors.
#include <algorithm>
#include <cmath>
#include <limits>

#include "device/cpu/kernel_table.h"
#include "device/cpu/reference/norm/float_rows.h"
#include "device/cpu/shared/attention_problem.h"
#include "device/cpu/shared/grain.h"

namespace tengine::cpu {
namespace {

constexpr double kLowest = -std::numeric_limits<double>::infinity();

// Loads a mask of bool: the query sees elements that are true.
void load_bool(const void* from, int64_t first, int64_t count, double* to)
{
    const uint8_t* elements = static_cast<const uint8_t*>(from) + first;
    for (int64_t i = 0; i < count; ++i)
        to[i] = elements[i] != 0 ? 0 : kLowest;
}

int find_load_mask(const tensor* mask, LoadRow* out_load)
{
    if (!mask || mask->data_type != TENGINE_DT_BOOL)
        return find_load_row<NumberTypes>(mask, out_load);
    *out_load = load_bool;
    return TENGINE_OK;
}

struct Functions
{
    LoadRow load_query = nullptr, load_value = nullptr, load_mask = nullptr;
    StoreRow store = nullptr;
};

// A worker's scratch, in doubles.
struct Workspace
{
    double *query, *row, *result, *bias, *scores;

    Workspace(const AttentionProblem& problem, double* memory)
        : query(memory),
          row(query + problem.depth),
          result(row + std::max(problem.depth, problem.width)),
          bias(result + problem.width),
          scores(bias + problem.keys())
    {
    }
    static int64_t size(const AttentionProblem& problem)
    {
        return problem.depth + std::max(problem.depth, problem.width) + problem.width +
               2 * problem.keys();
    }
};

class Attend
{
  public:
    Attend(const KernelContext& context, const AttentionProblem& problem,
           const Functions& functions)
        : context_(context),
          problem_(problem),
          functions_(functions),
          keys_(context, problem, true),
          values_(context, problem, false)
    {
    }

    // Computes row `item` of the scores.
    void operator()(int64_t item, const Workspace& work) const
    {
        const int64_t token = item % problem_.tokens;
        const int64_t head = item / problem_.tokens % problem_.heads;
        const int64_t b = item / problem_.tokens / problem_.heads;
        score(b, head, token, work);
        show(ATTENTION_RAW, item, work);
        cap(work);
        show(ATTENTION_CAPPED, item, work);
        const bool sees = mask(b, head, token, work);
        show(ATTENTION_MASKED, item, work);
        normalize(sees, work);
        show(ATTENTION_NORMALIZED, item, work);
        sum_values(b, head, work);
        functions_.store(work.result, problem_.query_row(b, head, token) * problem_.width,
                         problem_.width, context_.output(ATTENTION_RESULT)->data);
    }

  private:
    void score(int64_t b, int64_t head, int64_t token, const Workspace& work) const
    {
        functions_.load_query(context_.input(ATTENTION_QUERY)->data,
                              problem_.query_row(b, head, token) * problem_.depth, problem_.depth,
                              work.query);
        const float scale = problem_.scale != 0 ? problem_.scale
                                                : 1 / std::sqrt(static_cast<float>(problem_.depth));
        for (int64_t key = 0; key < problem_.keys(); ++key) {
            functions_.load_query(keys_.at(b, head / problem_.group(), key), 0, problem_.depth,
                                  work.row);
            double sum = 0;
            for (int64_t i = 0; i < problem_.depth; ++i)
                sum += work.query[i] * work.row[i];
            work.scores[key] = sum * scale;
        }
    }

    void cap(const Workspace& work) const
    {
        const double most = problem_.softcap;
        for (int64_t key = 0; most > 0 && key < problem_.keys(); ++key)
            work.scores[key] = most * std::tanh(work.scores[key] / most);
    }

    // Applies the mask; whether the query sees a key.
    bool mask(int64_t b, int64_t head, int64_t token, const Workspace& work) const
    {
        const tensor* mask = context_.input(ATTENTION_MASK);
        std::fill_n(work.bias, problem_.keys(), mask ? kLowest : 0);
        if (mask) {
            const MaskRows rows(*mask);
            functions_.load_mask(mask->data, rows.at(b, head, token), rows.columns(), work.bias);
        }
        const int64_t first = problem_.first_key(b, token), end = problem_.end_key(b, token);
        bool sees = false;
        for (int64_t key = 0; key < problem_.keys(); ++key) {
            const bool is_seen = key >= first && key < end && work.bias[key] != kLowest;
            work.scores[key] = is_seen ? work.scores[key] + work.bias[key] : kLowest;
            sees = sees || is_seen;
        }
        return sees;
    }

    void normalize(bool sees, const Workspace& work) const
    {
        double* const end = work.scores + problem_.keys();
        if (!sees) {
            std::fill(work.scores, end, 0);
            return;
        }
        const double largest = *std::max_element(work.scores, end);
        double sum = 0;
        for (double* score = work.scores; score < end; ++score) {
            *score = std::exp(*score - largest);
            sum += *score;
        }
        for (double* score = work.scores; score < end; ++score)
            *score /= sum;
    }

    void sum_values(int64_t b, int64_t head, const Workspace& work) const
    {
        std::fill_n(work.result, problem_.width, 0);
        for (int64_t key = 0; key < problem_.keys(); ++key) {
            const double weight = work.scores[key];
            if (weight == 0) continue;  // the value may be a NaN
            functions_.load_value(values_.at(b, head / problem_.group(), key), 0, problem_.width,
                                  work.row);
            for (int64_t i = 0; i < problem_.width; ++i)
                work.result[i] += weight * work.row[i];
        }
    }

    void show(int mode, int64_t item, const Workspace& work) const
    {
        tensor* scores = context_.output(ATTENTION_SCORES);
        if (scores && context_.param<attention_param>().qk_matmul_output_mode == mode)
            functions_.store(work.scores, item * problem_.keys(), problem_.keys(), scores->data);
    }

    const KernelContext& context_;
    const AttentionProblem& problem_;
    const Functions& functions_;
    const AttentionRows keys_, values_;
};

int prepare(KernelContext& context)
{
    AttentionProblem problem = {};
    TENGINE_RETURN_IF_ERROR(read_attention(context.node, &problem));
    context.scratch_size = sizeof(double) * static_cast<uint64_t>(Workspace::size(problem)) *
                           static_cast<uint64_t>(get_thread_pool_size(context.pool));
    return TENGINE_OK;
}

int run(KernelContext& context)
{
    AttentionProblem problem;
    Functions functions;
    TENGINE_RETURN_IF_ERROR(read_attention_problem(context, &problem));
    TENGINE_RETURN_IF_ERROR(find_load_row(context.input(ATTENTION_QUERY), &functions.load_query));
    TENGINE_RETURN_IF_ERROR(find_load_row(context.input(ATTENTION_VALUE), &functions.load_value));
    TENGINE_RETURN_IF_ERROR(find_load_mask(context.input(ATTENTION_MASK), &functions.load_mask));
    TENGINE_RETURN_IF_ERROR(find_store_row(context.output(ATTENTION_RESULT), &functions.store));
    fill_attention_present(context, problem);
    const Attend attend(context, problem, functions);
    const int64_t work = problem.keys() * (problem.depth + problem.width);
    parallel_for(context.pool, problem.batch * problem.heads * problem.tokens, grain_for(work),
                 [&](int64_t begin, int64_t end, int worker) {
                     const Workspace space(problem, static_cast<double*>(context.scratch) +
                                                        worker * Workspace::size(problem));
                     for (int64_t item = begin; item < end; ++item)
                         attend(item, space);
                 });
    return TENGINE_OK;
}

constexpr Kernel attention_rows[] = {
    {"Attention", "reference", nullptr, run, prepare},
};

}  // namespace

extern const KernelTable attention_reference;
const KernelTable attention_reference = make_table<attention_rows>();

}  // namespace tengine::cpu
