// SPDX-License-Identifier: Apache-2.0
// The operators of operator/onnx/random_ops.c, and Dropout. Numbers come from SplitMix64 (Steele,
// Lea, Flood: "Fast Splittable Pseudorandom Number Generators", 2014). A node with a seed gives the
// same numbers in every run.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/clock.h"
#include "device/cpu/kernel_table.h"
#include "device/cpu/shared/types.h"
#include "operator/onnx/random_param.h"
#include "operator/onnx/shape_param.h"

namespace tengine::cpu {
namespace {

class Generator
{
  public:
    explicit Generator(const KernelContext& context)
    {
        const float seed = context.param<random_param>().seed;
        state_ = std::isnan(seed) ? choose_seed(*context.node) : fp32_to_bits(seed);
    }
    explicit Generator(uint64_t seed) : state_(seed) {}
    // Seeds differ between runs by the time, and between nodes of one run by their index.
    static uint64_t choose_seed(const node& node)
    {
        return get_time_ns() + (static_cast<uint64_t>(node.index) << 48);
    }
    uint64_t next()
    {
        uint64_t z = state_ += 0x9e3779b97f4a7c15u;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
        z = (z ^ z >> 27) * 0x94d049bb133111ebu;
        return z ^ z >> 31;
    }
    // Returns a number in [0, 1); all 53 bits of the mantissa are random.
    double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
    // Returns a number with mean 0 and deviation 1, by the method of Box and Muller.
    double normal()
    {
        constexpr double kTwoPi = 6.283185307179586;
        const double radius = std::sqrt(-2 * std::log(1 - uniform()));
        return radius * std::cos(kTwoPi * uniform());
    }

  private:
    uint64_t state_;
};

// Fills output 0 with draw(generator).
template <class Draw>
int fill_output(const KernelContext& context, const Draw& draw)
{
    const tensor* output = context.output(0);
    Generator generator(context);
    return dispatch_type(FloatTypes{}, output->data_type, [&](auto type) {
        using T = typename decltype(type)::type;
        T* to = static_cast<T*>(output->data);
        for (int64_t i = 0; i < output->elem_num; ++i)
            to[i] = static_cast<T>(static_cast<compute_t<T>>(draw(generator)));
        return TENGINE_OK;
    });
}

int run_normal(KernelContext& context)
{
    const auto& param = context.param<random_param>();
    return fill_output(context, [&](Generator& generator) {
        return param.mean + param.scale * generator.normal();
    });
}

int run_uniform(KernelContext& context)
{
    const auto& param = context.param<random_param>();
    return fill_output(context, [&](Generator& generator) {
        return param.low + (static_cast<double>(param.high) - param.low) * generator.uniform();
    });
}

double read_float(const tensor* input, int64_t position)
{
    switch (input->data_type) {
        case TENGINE_DT_FP16:
            return static_cast<const Half*>(input->data)[position];
        case TENGINE_DT_BF16:
            return static_cast<const BFloat16*>(input->data)[position];
        case TENGINE_DT_FP64:
            return static_cast<const double*>(input->data)[position];
        default:
            return input->f32[position];
    }
}

int run_bernoulli(KernelContext& context)
{
    const tensor* input = context.input(0);
    const tensor* output = context.output(0);
    Generator generator(context);
    return dispatch_type(AllTypes{}, output->data_type, [&](auto type) {
        using T = typename decltype(type)::type;
        T* to = static_cast<T*>(output->data);
        for (int64_t i = 0; i < output->elem_num; ++i)
            to[i] = static_cast<T>(generator.uniform() < read_float(input, i) ? 1 : 0);
        return TENGINE_OK;
    });
}

// Computes into scratch the running sum of one batch's probabilities, not normalised. Inputs are
// logarithms; the largest is subtracted first so that none overflows.
void sum_probabilities(const tensor* input, int64_t batch, double* out_sums)
{
    const int64_t class_num = input->dims[1];
    const int64_t begin = batch * class_num;
    double greatest = read_float(input, begin);
    for (int64_t i = 1; i < class_num; ++i)
        greatest = std::max(greatest, read_float(input, begin + i));
    double sum = 0;
    for (int64_t i = 0; i < class_num; ++i) {
        sum += std::exp(read_float(input, begin + i) - greatest);
        out_sums[i] = sum;
    }
}

int run_multinomial(KernelContext& context)
{
    const tensor* input = context.input(0);
    const tensor* output = context.output(0);
    const int64_t class_num = input->dims[1];
    const int64_t sample_num = output->dims[1];
    double* const sums = static_cast<double*>(context.scratch);
    Generator generator(context);
    for (int64_t i = 0; i < output->elem_num; ++i) {
        if (i % sample_num == 0) sum_probabilities(input, i / sample_num, sums);
        const double threshold = generator.uniform() * sums[class_num - 1];
        const int64_t chosen = std::upper_bound(sums, sums + class_num, threshold) - sums;
        const int64_t value = std::min(chosen, class_num - 1);
        if (output->data_type == TENGINE_DT_INT32)
            output->i32[i] = static_cast<int32_t>(value);
        else
            output->i64[i] = value;
    }
    return TENGINE_OK;
}

int prepare_multinomial(KernelContext& context)
{
    context.scratch_size = static_cast<uint64_t>(context.input(0)->dims[1]) * sizeof(double);
    return TENGINE_OK;
}

// ---- Dropout ----

// Reads the share of elements that it drops: 0 except in training.
int read_dropped_share(const KernelContext& context, float* out_ratio)
{
    const tensor* training = context.input(2);
    *out_ratio = 0;
    if (!training || training->elem_num == 0 || !training->u8[0]) return TENGINE_OK;
    *out_ratio = 0.5f;
    int number = 0;
    TENGINE_RETURN_IF_ERROR(read_float_input(context.node, 1, out_ratio, 1, &number));
    if (*out_ratio >= 0 && *out_ratio < 1) return TENGINE_OK;
    return fail_node(context.node, TENGINE_ERANGE, "ratio is %g, expected 0 to below 1",
                     static_cast<double>(*out_ratio));
}

int keep_all(const KernelContext& context)
{
    const tensor* input = context.input(0);
    tensor* output = context.output(0);
    if (tensor* mask = context.output(1); mask && mask->elem_num > 0)
        std::memset(mask->data, true, get_ir_tensor_bytes(mask));
    if (output && output->data != input->data && output->elem_num > 0)
        std::memmove(output->data, input->data, get_ir_tensor_bytes(output));
    return TENGINE_OK;
}

// Kept elements are scaled, so that the mean does not change.
int run_dropout(KernelContext& context)
{
    float ratio;
    TENGINE_RETURN_IF_ERROR(read_dropped_share(context, &ratio));
    if (ratio == 0) return keep_all(context);
    const int seed = context.param<dropout_param>().seed;
    Generator generator(seed == DROPOUT_SEED_ABSENT ? Generator::choose_seed(*context.node)
                                                    : static_cast<uint64_t>(seed));
    const tensor* output = context.output(0);
    const tensor* mask = context.output(1);
    return dispatch_type(FloatTypes{}, context.input(0)->data_type, [&](auto type) {
        using T = typename decltype(type)::type;
        const T* from = static_cast<const T*>(context.input(0)->data);
        T* to = static_cast<T*>(output->data);
        const auto scale = static_cast<compute_t<T>>(1 / (1 - static_cast<double>(ratio)));
        for (int64_t i = 0; i < output->elem_num; ++i) {
            const bool is_kept = generator.uniform() >= static_cast<double>(ratio);
            to[i] = is_kept ? static_cast<T>(static_cast<compute_t<T>>(from[i]) * scale) : T(0.0f);
            if (mask) mask->u8[i] = is_kept;
        }
        return TENGINE_OK;
    });
}

constexpr Kernel random_rows[] = {
    {.op = "RandomNormal", .name = "reference", .run = run_normal},
    {.op = "RandomNormalLike", .name = "reference", .run = run_normal},
    {.op = "RandomUniform", .name = "reference", .run = run_uniform},
    {.op = "RandomUniformLike", .name = "reference", .run = run_uniform},
    {.op = "Bernoulli", .name = "reference", .run = run_bernoulli},
    {.op = "Multinomial",
     .name = "reference",
     .run = run_multinomial,
     .prepare = prepare_multinomial},
    {.op = "Dropout", .name = "reference", .run = run_dropout, .in_place_input = 0},
};

}  // namespace

extern const KernelTable random_reference;
const KernelTable random_reference = make_table<random_rows>();

}  // namespace tengine::cpu
