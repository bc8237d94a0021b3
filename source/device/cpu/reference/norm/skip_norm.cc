// SPDX-License-Identifier: Apache-2.0
// Reference kernels of operator/onnx/skip_norm_ops.c. Statistics are computed in double, from sums
// that are not rounded to the type of the tensors.
#include <cmath>

#include "device/cpu/kernel_table.h"
#include "device/cpu/parallel.h"
#include "device/cpu/shared/grain.h"
#include "device/cpu/shared/types.h"
#include "operator/onnx/skip_norm_param.h"

namespace tengine::cpu {
namespace {

template <class T>
const T* values_of(const tensor* values)
{
    return values ? static_cast<const T*>(values->data) : nullptr;
}

// Returns the sum that is normalised: input + skip + bias.
template <class T>
class Sum
{
  public:
    Sum(const KernelContext& context, int bias_input, int64_t size)
        : size_(size),
          skip_num_(context.input(SKIP_NORM_SKIP)->elem_num),
          input_(values_of<T>(context.input(SKIP_NORM_INPUT))),
          skip_(values_of<T>(context.input(SKIP_NORM_SKIP))),
          bias_(values_of<T>(context.input(bias_input)))
    {
    }
    compute_t<T> at(int64_t position) const
    {
        const compute_t<T> sum = static_cast<compute_t<T>>(input_[position]) +
                                 static_cast<compute_t<T>>(skip_[position % skip_num_]);
        return bias_ ? sum + static_cast<compute_t<T>>(bias_[position % size_]) : sum;
    }

  private:
    int64_t size_, skip_num_;
    const T *input_, *skip_, *bias_;
};

// Returns the mean of function(s) over the row of `size` sums that begins at `first`.
template <class T, class Function>
double mean_of(const Sum<T>& sum, int64_t first, int64_t size, const Function& function)
{
    double total = 0;
    for (int64_t i = first; i < first + size; ++i)
        total += function(static_cast<double>(sum.at(i)));
    return total / static_cast<double>(size);
}

template <class T, bool kSimplified>
void normalize(const KernelContext& context)
{
    const tensor* input = context.input(SKIP_NORM_INPUT);
    const int64_t size = input->dims[input->dim_num - 1];
    const double epsilon = context.param<skip_norm_param>().epsilon;
    const Sum<T> sum(context, kSimplified ? SKIP_NORM_SIMPLIFIED_BIAS : SKIP_NORM_BIAS, size);
    const T* gamma = values_of<T>(context.input(SKIP_NORM_GAMMA));
    const T* beta = kSimplified ? nullptr : values_of<T>(context.input(SKIP_NORM_BETA));
    const tensor* means = context.output(SKIP_NORM_MEAN);
    const tensor* inverses = context.output(SKIP_NORM_INVERSE);
    const tensor* sums = context.output(SKIP_NORM_SUM);
    T* y = static_cast<T*>(context.output(SKIP_NORM_RESULT)->data);
    const auto normalize_rows = [&](int64_t begin, int64_t end, int) {
        for (int64_t row = begin; row < end; ++row) {
            const int64_t first = row * size;
            const double mean =
                kSimplified ? 0 : mean_of(sum, first, size, [](double s) { return s; });
            const double variance =
                mean_of(sum, first, size, [=](double s) { return (s - mean) * (s - mean); });
            const double inverse = 1 / std::sqrt(variance + epsilon);
            if (means) means->f32[row] = static_cast<float>(mean);
            if (inverses) inverses->f32[row] = static_cast<float>(inverse);
            for (int64_t i = 0; i < size; ++i) {
                const compute_t<T> s = sum.at(first + i);
                const auto normal = static_cast<compute_t<T>>((s - mean) * inverse);
                if (sums) static_cast<T*>(sums->data)[first + i] = static_cast<T>(s);
                y[first + i] = static_cast<T>(normal * gamma[i] + (beta ? beta[i] : T(0)));
            }
        }
    };
    if (input->elem_num == 0) return;
    parallel_for(context.pool, input->elem_num / size, grain_for(size), normalize_rows);
}

template <bool kSimplified>
int run(KernelContext& context)
{
    return dispatch_type(FloatTypes{}, context.input(SKIP_NORM_INPUT)->data_type, [&](auto type) {
        normalize<typename decltype(type)::type, kSimplified>(context);
        return TENGINE_OK;
    });
}

constexpr Kernel skip_norm_rows[] = {
    {.op = "com.microsoft.SkipLayerNormalization",
     .name = "reference",
     .run = run<false>,
     .in_place_input = 0},
    {.op = "com.microsoft.SkipSimplifiedLayerNormalization",
     .name = "reference",
     .run = run<true>,
     .in_place_input = 0},
};

}  // namespace

extern const KernelTable skip_norm_reference;
const KernelTable skip_norm_reference = make_table<skip_norm_rows>();

}  // namespace tengine::cpu
