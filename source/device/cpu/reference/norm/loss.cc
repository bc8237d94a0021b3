// SPDX-License-Identifier: Apache-2.0
// Reference kernels of NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss
// (operator/onnx/loss_ops.c). Scores are taken as [N, C, D], targets as [N, D].
#include <algorithm>
#include <cmath>
#include <cstring>

#include "device/cpu/kernel_table.h"
#include "device/cpu/reference/vector/elementwise.h"
#include "operator/onnx/loss_param.h"

namespace tengine::cpu {
namespace {

using TargetTypes = IndexTypes;

// The position of the classes of one element.
template <class T>
struct Scores
{
    const T* data;
    int64_t classes;
    int64_t inner;

    int64_t offset_of(int64_t position) const
    {
        return position / inner * classes * inner + position % inner;
    }
    double at(int64_t position, int64_t index) const
    {
        return static_cast<double>(data[offset_of(position) + index * inner]);
    }
};

template <class T>
Scores<T> get_scores(const KernelContext& context)
{
    const tensor* input = context.input(0);
    return {static_cast<const T*>(input->data), input->dims[1],
            multiply_dims(input, 2, input->dim_num)};
}

// Returns the logarithm of the sum of exponentials of all classes, from which log probabilities are
// computed.
template <class T>
double log_sum_exp(const Scores<T>& scores, int64_t position)
{
    double largest = scores.at(position, 0);
    for (int64_t c = 1; c < scores.classes; ++c) {
        largest = std::max(largest, scores.at(position, c));
    }
    double sum = 0;
    for (int64_t c = 0; c < scores.classes; ++c) {
        sum += std::exp(scores.at(position, c) - largest);
    }
    return largest + std::log(sum);
}

template <class Target>
int check_targets(const KernelContext& context, int64_t classes)
{
    const tensor* target = context.input(1);
    const int ignored = context.param<loss_param>().ignore_index;
    for (int64_t i = 0; i < target->elem_num; ++i) {
        const int64_t value = static_cast<const Target*>(target->data)[i];
        if ((value >= 0 && value < classes) || value == ignored) continue;
        return fail_node(context.node, TENGINE_ERANGE,
                         "target %lld is out of range: expected one of %lld classes, from 0",
                         static_cast<long long>(value), static_cast<long long>(classes));
    }
    return TENGINE_OK;
}

// Computes the loss of each position: -weight * log probability, 0 if the target is ignored.
// `relative`: log probabilities are scores minus their log_sum_exp().
template <class T, class Target, bool relative>
void compute_loss(const KernelContext& context, const Scores<T>& scores)
{
    const auto& param = context.param<loss_param>();
    const Target* targets = static_cast<const Target*>(context.input(1)->data);
    const tensor* weight = context.input(2);
    T* output = static_cast<T*>(context.output(0)->data);
    const bool each = std::strcmp(param.reduction, "none") == 0;
    double sum = 0;
    double weights = 0;
    for (int64_t i = 0; i < context.input(1)->elem_num; ++i) {
        double loss = 0;
        if (targets[i] != param.ignore_index) {
            const T* factors = weight ? static_cast<const T*>(weight->data) : nullptr;
            const double factor = factors ? static_cast<double>(factors[targets[i]]) : 1;
            const double base = relative ? log_sum_exp(scores, i) : 0;
            loss = (base - scores.at(i, targets[i])) * factor;
            weights += factor;
        }
        if (each) output[i] = static_cast<T>(loss);
        sum += loss;
    }
    if (each) return;
    const bool mean = std::strcmp(param.reduction, "mean") == 0;
    *output = static_cast<T>(mean ? sum / weights : sum);
}

template <class T>
void write_log_probabilities(const KernelContext& context, const Scores<T>& scores)
{
    T* output = static_cast<T*>(context.output(1)->data);
    if (context.output(1)->elem_num == 0) return;
    for (int64_t i = 0; i < context.input(1)->elem_num; ++i) {
        const double base = log_sum_exp(scores, i);
        for (int64_t c = 0; c < scores.classes; ++c) {
            output[scores.offset_of(i) + c * scores.inner] = static_cast<T>(scores.at(i, c) - base);
        }
    }
}

template <bool relative>
int run_loss(KernelContext& context)
{
    return dispatch_type(FloatTypes{}, context.input(0)->data_type, [&](auto type) {
        using T = typename decltype(type)::type;
        const Scores<T> scores = get_scores<T>(context);
        return dispatch_type(TargetTypes{}, context.input(1)->data_type, [&](auto target) {
            using Target = typename decltype(target)::type;
            TENGINE_RETURN_IF_ERROR(check_targets<Target>(context, scores.classes));
            if (context.output(1)) write_log_probabilities(context, scores);
            if (context.output(0)) compute_loss<T, Target, relative>(context, scores);
            return static_cast<int>(TENGINE_OK);
        });
    });
}

bool accepts(const node& node)
{
    return accepts_input<FloatTypes, 0>(node) && accepts_input<TargetTypes, 1>(node);
}

constexpr Kernel loss_rows[] = {
    {"NegativeLogLikelihoodLoss", "reference", accepts, run_loss<false>},
    {"SoftmaxCrossEntropyLoss", "reference", accepts, run_loss<true>},
};

}  // namespace

extern const KernelTable loss_reference;
const KernelTable loss_reference = make_table<loss_rows>();

}  // namespace tengine::cpu
