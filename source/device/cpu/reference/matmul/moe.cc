// SPDX-License-Identifier: Apache-2.0
// MoE (operator/onnx/moe_ops.c): token by token, expert by expert, in double.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "device/cpu/kernel_table.h"
#include "device/cpu/parallel.h"
#include "device/cpu/shared/grain.h"
#include "device/cpu/shared/types.h"
#include "operator/onnx/moe_param.h"

namespace tengine::cpu {
namespace {

// A worker's scratch, in doubles: weights of the experts, FC1's rows, the gate, the result.
struct Space
{
    double *weights, *rows, *gate, *result;

    static int64_t count(const moe_shape& shape)
    {
        return shape.experts + 3 * int64_t{shape.inner} + shape.hidden;
    }
    Space(const moe_shape& shape, double* memory)
        : weights(memory),
          rows(weights + shape.experts),
          gate(rows + 2 * int64_t{shape.inner}),
          result(gate + shape.inner)
    {
    }
};

double sigmoid(double x)
{
    return 1 / (1 + std::exp(-x));
}

// Gelu is the approximation with tanh, as in ONNX Runtime.
double activate(moe_activation activation, double x)
{
    switch (activation) {
        case MOE_RELU:
            return std::max(x, 0.0);
        case MOE_GELU:
            return 0.5 * x * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
        case MOE_SILU:
            return x * sigmoid(x);
        default:
            return x;
    }
}

double swiglu(const moe_param& param, double gate, double linear)
{
    const double limit = param.swiglu_limit;
    const double bounded = std::min(gate, limit);
    return bounded * sigmoid(param.activation_alpha * bounded) *
           (std::clamp(linear, -limit, limit) + param.activation_beta);
}

template <class T>
class Experts
{
  public:
    Experts(const KernelContext& context, const moe_shape& shape)
        : context_(context), shape_(shape), param_(context.param<moe_param>())
    {
    }

    void run(int64_t token, const Space& space) const
    {
        weigh(token, space.weights);
        const T* input = data(MOE_INPUT) + token * shape_.hidden;
        std::fill_n(space.result, shape_.hidden, 0.0);
        for (int expert = 0; expert < shape_.experts; ++expert)
            if (space.weights[expert] >= 0) pass(expert, input, space);
        T* output = static_cast<T*>(context_.output(0)->data) + token * shape_.hidden;
        std::transform(space.result, space.result + shape_.hidden, output,
                       [](double value) { return static_cast<T>(value); });
    }

  private:
    const T* data(int index) const
    {
        const tensor* input = context_.input(index);
        return input ? static_cast<const T*>(input->data) : nullptr;
    }

    // Computes the softmax over all experts, or over the chosen ones; -1 for those that are not
    // chosen. The first of equal weights are chosen.
    void weigh(int64_t token, double* weights) const
    {
        const T* scores = data(MOE_ROUTER) + token * shape_.experts;
        double largest = static_cast<double>(scores[0]), sum = 0;
        for (int i = 0; i < shape_.experts; ++i)
            largest = std::max(largest, static_cast<double>(scores[i]));
        for (int i = 0; i < shape_.experts; ++i) {
            int better = 0;
            for (int k = 0; k < shape_.experts; ++k)
                better += scores[k] > scores[i] || (scores[k] == scores[i] && k < i);
            const double weight = std::exp(static_cast<double>(scores[i]) - largest);
            const bool is_chosen = better < shape_.chosen;
            if (is_chosen || !param_.normalize_routing_weights) sum += weight;
            weights[i] = is_chosen ? weight : -1;
        }
        for (int i = 0; i < shape_.experts; ++i)
            if (weights[i] >= 0) weights[i] /= sum;
    }

    // Returns row `row` of an expert's matrix times `x`, plus the bias.
    template <class X>
    double product(int weights, int bias, int64_t row, int64_t columns, const X* x) const
    {
        const T* line = data(weights) + row * columns;
        double sum = data(bias) ? static_cast<double>(data(bias)[row]) : 0;
        for (int64_t i = 0; i < columns; ++i)
            sum += static_cast<double>(line[i]) * static_cast<double>(x[i]);
        return sum;
    }

    void pass(int expert, const T* input, const Space& space) const
    {
        const int64_t inner = shape_.inner, hidden = shape_.hidden;
        const bool is_fused = shape_.gate == MOE_GATE_BESIDE || shape_.gate == MOE_GATE_AFTER;
        const int64_t row_num = is_fused ? 2 * inner : inner;
        for (int64_t i = 0; i < row_num; ++i)
            space.rows[i] =
                product(MOE_FC1_WEIGHTS, MOE_FC1_BIAS, expert * row_num + i, hidden, input);
        for (int64_t i = 0; shape_.gate == MOE_GATE_FC3 && i < inner; ++i)
            space.gate[i] =
                product(MOE_FC3_WEIGHTS, MOE_FC3_BIAS, expert * inner + i, hidden, input);
        for (int64_t i = 0; i < inner; ++i)
            space.gate[i] = combine(i, space);
        for (int64_t i = 0; i < hidden; ++i)
            space.result[i] +=
                space.weights[expert] *
                product(MOE_FC2_WEIGHTS, MOE_FC2_BIAS, expert * hidden + i, inner, space.gate);
    }

    double combine(int64_t i, const Space& space) const
    {
        switch (shape_.gate) {
            case MOE_GATE_BESIDE:
                return swiglu(param_, space.rows[2 * i], space.rows[2 * i + 1]);
            case MOE_GATE_AFTER:
                return swiglu(param_, space.rows[i], space.rows[shape_.inner + i]);
            case MOE_GATE_FC3:
                return shape_.activation == MOE_SWIGLU
                           ? swiglu(param_, space.rows[i], space.gate[i])
                           : activate(shape_.activation, space.rows[i]) * space.gate[i];
            default:
                return activate(shape_.activation, space.rows[i]);
        }
    }

    const KernelContext& context_;
    const moe_shape& shape_;
    const moe_param& param_;
};

int prepare(KernelContext& context)
{
    moe_shape shape;
    resolve_moe_shape(context.node, &shape);
    context.scratch_size = sizeof(double) * static_cast<uint64_t>(Space::count(shape)) *
                           static_cast<uint64_t>(get_thread_pool_size(context.pool));
    return TENGINE_OK;
}

int run(KernelContext& context)
{
    moe_shape shape;
    resolve_moe_shape(context.node, &shape);
    const int64_t work = 3 * int64_t{shape.chosen} * shape.hidden * shape.inner;
    return dispatch_type(FloatTypes{}, context.input(0)->data_type, [&](auto type) {
        const Experts<typename decltype(type)::type> experts(context, shape);
        parallel_for(context.pool, shape.tokens, grain_for(work),
                     [&](int64_t begin, int64_t end, int worker) {
                         const Space space(shape, static_cast<double*>(context.scratch) +
                                                      worker * Space::count(shape));
                         for (int64_t token = begin; token < end; ++token)
                             experts.run(token, space);
                     });
        return TENGINE_OK;
    });
}

constexpr Kernel moe_rows[] = {
    {"com.microsoft.MoE", "reference", nullptr, run, prepare},
};

}  // namespace

extern const KernelTable moe_reference;
const KernelTable moe_reference = make_table<moe_rows>();

}  // namespace tengine::cpu
