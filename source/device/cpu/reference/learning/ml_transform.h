// SPDX-License-Identifier: Apache-2.0
// Rows of features, and post_transform of ai.onnx.ml: the transform of a row of scores.
#pragma once

#include <algorithm>
#include <cmath>

#include "device/cpu/kernel_context.h"
#include "operator/onnx/ml_tree_param.h"

namespace tengine::cpu {

inline int feature_num(const KernelContext& context)
{
    const tensor* input = context.input(0);
    return input->dims[input->dim_num - 1];
}

template <class T>
T ml_logistic(T value)
{
    return 1 / (1 + std::exp(-value));
}

// Returns sqrt(2) erfinv(2 value - 1), with Winitzki's approximation of erfinv ("A handy
// approximation for the error function and its inverse", 2008), a = 0.147, as in other runtimes.
template <class T>
T ml_probit(T value)
{
    constexpr T kPi = T(3.14159265358979323846), kA = T(0.147);
    const T x = 2 * value - 1;
    const T logarithm = std::log((1 - x) * (1 + x));
    const T half = 2 / (kPi * kA) + logarithm / 2;
    const T magnitude = std::sqrt(std::sqrt(half * half - logarithm / kA) - half);
    return std::sqrt(T(2)) * (x < 0 ? -magnitude : magnitude);
}

// SOFTMAX_ZERO excludes zeros: they are scaled by e^-max, not replaced by an exponential.
template <class T>
void ml_softmax(T* scores, int num, bool keeps_zeros)
{
    const T greatest = *std::max_element(scores, scores + num);
    T sum = 0;
    for (int i = 0; i < num; ++i) {
        const bool is_zero = keeps_zeros && std::fabs(scores[i]) <= T(1e-7);
        scores[i] = is_zero ? scores[i] * std::exp(-greatest) : std::exp(scores[i] - greatest);
        sum += scores[i];
    }
    for (int i = 0; i < num; ++i)
        scores[i] /= sum;
}

template <class T>
void apply_ml_transform(enum ml_transform transform, T* scores, int num)
{
    if (num == 0) return;
    switch (transform) {
        case ML_TRANSFORM_NONE:
            return;
        case ML_TRANSFORM_SOFTMAX:
        case ML_TRANSFORM_SOFTMAX_ZERO:
            return ml_softmax(scores, num, transform == ML_TRANSFORM_SOFTMAX_ZERO);
        case ML_TRANSFORM_LOGISTIC:
            std::transform(scores, scores + num, scores, ml_logistic<T>);
            return;
        case ML_TRANSFORM_PROBIT:
            std::transform(scores, scores + num, scores, ml_probit<T>);
            return;
    }
}

}  // namespace tengine::cpu
