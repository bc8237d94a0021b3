// SPDX-License-Identifier: Apache-2.0
// The operators of operator/onnx/training_ops.c, in the tensors' own type; factors common to all
// elements are computed in double.
#include <cmath>
#include <cstring>

#include "device/cpu/kernel_table.h"
#include "device/cpu/shared/types.h"
#include "operator/onnx/training_param.h"

namespace tengine::cpu {
namespace {

constexpr int kFirstTensor = 2;

double read_rate(const KernelContext& context)
{
    const tensor* rate = context.input(0);
    return rate->data_type == TENGINE_DT_FP64 ? *static_cast<const double*>(rate->data)
                                              : *rate->f32;
}

// The values of one element, before and after the update. States that an operator lacks are 0.
template <class T>
struct WeightElement
{
    T x, gradient, first, second;
};

// Calls update(WeightElement&) for all elements; states begin with input 2 + 2n and output n.
template <class T, class Update>
void update_tensors(const KernelContext& context, int states, const Update& update)
{
    const int number = (context.input_num() - kFirstTensor) / (2 + states);
    const auto read = [&](int kind, int index) {
        return static_cast<const T*>(context.input(kFirstTensor + kind * number + index)->data);
    };
    const auto write = [&](int kind, int index) -> T* {
        const tensor* output = context.output(kind * number + index);
        return output ? static_cast<T*>(output->data) : nullptr;
    };
    for (int index = 0; index < number; ++index) {
        const int64_t count = context.input(kFirstTensor + index)->elem_num;
        const T* second = states > 1 ? read(3, index) : nullptr;
        T* const outputs[] = {write(0, index), write(1, index),
                              states > 1 ? write(2, index) : nullptr};
        for (int64_t i = 0; i < count; ++i) {
            WeightElement<T> element = {read(0, index)[i], read(1, index)[i], read(2, index)[i],
                                        second ? second[i] : T{0}};
            update(element);
            const T values[] = {element.x, element.first, element.second};
            for (int kind = 0; kind < 3; ++kind)
                if (outputs[kind]) outputs[kind][i] = values[kind];
        }
    }
}

// Fails for tensors that are neither float32 nor float64, which infer_shape refuses.
template <class Body>
int dispatch(const KernelContext& context, const Body& body)
{
    return dispatch_type(TypeList<float, double>{}, context.input(kFirstTensor)->data_type,
                         [&](auto type) {
                             body(type);
                             return TENGINE_OK;
                         });
}

int run_adagrad(KernelContext& context)
{
    const auto& param = context.param<training_param>();
    const auto steps = static_cast<double>(*context.input(1)->i64);
    const double rate = read_rate(context) / (1 + steps * double{param.decay_factor});
    return dispatch(context, [&](auto type) {
        using T = typename decltype(type)::type;
        update_tensors<T>(context, 1, [&](WeightElement<T>& e) {
            const T gradient = static_cast<T>(param.norm_coefficient) * e.x + e.gradient;
            e.first += gradient * gradient;
            e.x -= static_cast<T>(rate) * gradient /
                   (std::sqrt(e.first) + static_cast<T>(param.epsilon));
        });
    });
}

int run_adam(KernelContext& context)
{
    const auto& param = context.param<training_param>();
    const auto steps = static_cast<double>(*context.input(1)->i64);
    double rate = read_rate(context);
    if (steps > 0)
        rate *= std::sqrt(1 - std::pow(double{param.beta}, steps)) /
                (1 - std::pow(double{param.alpha}, steps));
    return dispatch(context, [&](auto type) {
        using T = typename decltype(type)::type;
        const T alpha = static_cast<T>(param.alpha), beta = static_cast<T>(param.beta);
        update_tensors<T>(context, 2, [&](WeightElement<T>& e) {
            const T gradient = static_cast<T>(param.norm_coefficient) * e.x + e.gradient;
            e.first = alpha * e.first + (1 - alpha) * gradient;
            e.second = beta * e.second + (1 - beta) * gradient * gradient;
            e.x -= static_cast<T>(rate) * e.first /
                   (std::sqrt(e.second) + static_cast<T>(param.epsilon));
            e.x *= 1 - static_cast<T>(param.norm_coefficient_post);
        });
    });
}

int run_momentum(KernelContext& context)
{
    const auto& param = context.param<training_param>();
    const bool is_nesterov = std::strcmp(param.mode, "nesterov") == 0;
    const float beta = *context.input(1)->i64 > 0 ? param.beta : 1;
    const double rate = read_rate(context);
    return dispatch(context, [&](auto type) {
        using T = typename decltype(type)::type;
        const T alpha = static_cast<T>(param.alpha);
        update_tensors<T>(context, 1, [&](WeightElement<T>& e) {
            const T gradient = static_cast<T>(param.norm_coefficient) * e.x + e.gradient;
            e.first = alpha * e.first + static_cast<T>(beta) * gradient;
            e.x -= static_cast<T>(rate) * (is_nesterov ? gradient + alpha * e.first : e.first);
        });
    });
}

constexpr Kernel training_rows[] = {
    {"ai.onnx.preview.training.Adagrad", "reference", nullptr, run_adagrad},
    {"ai.onnx.preview.training.Adam", "reference", nullptr, run_adam},
    {"ai.onnx.preview.training.Momentum", "reference", nullptr, run_momentum},
};

}  // namespace

extern const KernelTable training_reference;
const KernelTable training_reference = make_table<training_rows>();

}  // namespace tengine::cpu
