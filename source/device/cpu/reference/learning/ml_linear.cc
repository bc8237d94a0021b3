// SPDX-License-Identifier: Apache-2.0
// The operators of operator/onnx/ml_linear_ops.c, in fp32.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "device/cpu/kernel_table.h"
#include "device/cpu/parallel.h"
#include "device/cpu/reference/learning/class_labels.h"
#include "device/cpu/reference/learning/ml_transform.h"
#include "device/cpu/shared/grain.h"
#include "device/cpu/shared/types.h"
#include "operator/onnx/ml_linear_param.h"

namespace tengine::cpu {
namespace {

using FeatureTypes = TypeList<float, double, int64_t, int32_t>;

// Calls finish(row number, features) for each row, on several workers for different rows. The
// features are at the beginning of the worker's scratch, which has `worker_bytes`; a row takes
// about `work` multiplications.
template <class Finish>
int for_each_row(const KernelContext& context, int64_t worker_bytes, int64_t work,
                 const Finish& finish)
{
    const tensor* input = context.input(0);
    const int features = feature_num(context);
    const int64_t rows = input->dim_num == 1 ? 1 : input->dims[0];
    return dispatch_type(FeatureTypes{}, input->data_type, [&](auto type) {
        using T = typename decltype(type)::type;
        const auto body = [&](int64_t begin, int64_t end, int worker) {
            auto* const row = reinterpret_cast<float*>(static_cast<char*>(context.scratch) +
                                                       worker * worker_bytes);
            for (int64_t i = begin; i < end; ++i) {
                const T* from = static_cast<const T*>(input->data) + i * features;
                std::transform(from, from + features, row,
                               [](T value) { return static_cast<float>(value); });
                finish(i, row);
            }
        };
        parallel_for(context.pool, rows, grain_for(work), body);
        return TENGINE_OK;
    });
}

void ask_for_scratch(KernelContext& context, int64_t worker_bytes)
{
    context.scratch_size = static_cast<uint64_t>(get_thread_pool_size(context.pool)) *
                           static_cast<uint64_t>(worker_bytes);
}

int64_t row_bytes(const KernelContext& context)
{
    return feature_num(context) * int64_t{sizeof(float)};
}

int prepare_row(KernelContext& context)
{
    ask_for_scratch(context, row_bytes(context));
    return TENGINE_OK;
}

float dot(const float* a, const float* b, int num)
{
    float sum = 0;
    for (int i = 0; i < num; ++i)
        sum += a[i] * b[i];
    return sum;
}

float linear_score(const ml_linear_param& param, int target, const float* row, int features)
{
    const float intercept = param.intercepts.num > 0 ? param.intercepts.values[target] : 0;
    const int64_t begin = int64_t{target} * features;
    return dot(row, param.coefficients.values + begin, features) + intercept;
}

int run_linear_regressor(KernelContext& context)
{
    const auto& param = context.param<ml_linear_param>();
    const int features = feature_num(context);
    const ml_transform transform = find_ml_transform(param.post_transform);
    const int64_t work = int64_t{features} * param.targets;
    return for_each_row(context, row_bytes(context), work, [&](int64_t row, const float* values) {
        float* to = context.output(0)->f32 + row * param.targets;
        for (int i = 0; i < param.targets; ++i)
            to[i] = linear_score(param, i, values, features);
        apply_ml_transform(transform, to, param.targets);
    });
}

int place_of_greatest(const float* scores, int num)
{
    return static_cast<int>(std::max_element(scores, scores + num) - scores);
}

// Judges one score for two labels: that of label 1, which LOGISTIC makes a probability; other
// transforms have no effect. Returns the label's index.
int judge_single(ml_transform transform, float score, float* out_scores)
{
    out_scores[1] = transform == ML_TRANSFORM_LOGISTIC ? ml_logistic(score) : score;
    out_scores[0] = 1 - out_scores[1];
    return score > 0 ? 1 : 0;
}

int run_linear_classifier(KernelContext& context)
{
    const auto& param = context.param<ml_linear_param>();
    const int features = feature_num(context);
    const int labels = get_linear_label_num(&param);
    const ClassLabels names(context, param.classlabels_ints, param.classlabels_strings);
    const bool is_single = labels == 2 && param.coefficients.num == features;
    const ml_transform transform = find_ml_transform(param.post_transform);
    const auto judge = [&](int64_t row, const float* values) {
        float* to = context.output(1)->f32 + row * labels;
        int label;
        if (is_single) {
            label = judge_single(transform, linear_score(param, 0, values, features), to);
        } else {
            for (int i = 0; i < labels; ++i)
                to[i] = linear_score(param, i, values, features);
            label = place_of_greatest(to, labels);
            apply_ml_transform(transform, to, labels);
        }
        names.put(row, label);
    };
    TENGINE_RETURN_IF_ERROR(
        for_each_row(context, row_bytes(context), param.coefficients.num, judge));
    return names.finish();
}

// ---- support vectors ----

// The kernel function of x and a vector, each of `num` numbers.
class VectorKernel
{
  public:
    VectorKernel(const ml_svm_param& param, int num) : num_(num)
    {
        if (param.kernel_params.num == 3) {
            gamma_ = param.kernel_params.values[0];
            coefficient_ = param.kernel_params.values[1];
            degree_ = param.kernel_params.values[2];
        }
        for (const auto& [name, kind] : {std::pair("RBF", Kind::kRbf),
                                         {"POLY", Kind::kPolynomial},
                                         {"SIGMOID", Kind::kSigmoid}})
            if (!std::strcmp(param.kernel_type, name)) kind_ = kind;
    }

    float operator()(const float* x, const float* vector) const
    {
        if (kind_ == Kind::kRbf) {
            float sum = 0;
            for (int i = 0; i < num_; ++i)
                sum += (x[i] - vector[i]) * (x[i] - vector[i]);
            return std::exp(-gamma_ * sum);
        }
        const float product = dot(x, vector, num_);
        if (kind_ == Kind::kPolynomial) return std::pow(gamma_ * product + coefficient_, degree_);
        if (kind_ == Kind::kSigmoid) return std::tanh(gamma_ * product + coefficient_);
        return product;
    }

    // Returns the multiplications for a value.
    int64_t work() const
    {
        constexpr int kFunction = 16;
        return num_ + (kind_ == Kind::kLinear ? 0 : kFunction);
    }

  private:
    enum class Kind
    {
        kLinear,
        kPolynomial,
        kRbf,
        kSigmoid,
    };
    Kind kind_ = Kind::kLinear;
    int num_;
    float gamma_ = 0, coefficient_ = 0, degree_ = 0;
};

int run_svm_regressor(KernelContext& context)
{
    const auto& param = context.param<ml_svm_param>();
    const int features = feature_num(context);
    const VectorKernel kernel(param, features);
    const int64_t work = kernel.work() * std::max<int64_t>(param.n_supports, 1);
    return for_each_row(context, row_bytes(context), work, [&](int64_t row, const float* values) {
        float sum = 0;
        for (int64_t i = 0; i < param.n_supports; ++i)
            sum += param.coefficients.values[i] *
                   kernel(values, param.support_vectors.values + i * features);
        if (param.n_supports == 0) sum = kernel(values, param.coefficients.values);
        sum += param.rho.values[0];
        if (param.one_class) sum = sum > 0 ? 1.0f : -1.0f;
        context.output(0)->f32[row] = sum;
    });
}

int64_t vector_num(const ml_svm_param& param)
{
    return param.coefficients.num / (get_svm_label_num(&param) - 1);
}

// A worker's scratch for the classifier: a row, the kernel of each vector, votes, and a score for
// each pair; then the memory of couple(). An even number of floats, so that the doubles are
// aligned.
struct SvmSpace
{
    float *kernels, *votes, *pairs;
    double* coupling;

    SvmSpace(const ml_svm_param& param, int features, void* memory)
        : kernels(static_cast<float*>(memory) + features),
          votes(kernels + vector_num(param)),
          pairs(votes + get_svm_label_num(&param)),
          coupling(
              reinterpret_cast<double*>(static_cast<float*>(memory) + float_num(param, features)))
    {
    }
    static int64_t float_num(const ml_svm_param& param, int features)
    {
        const int64_t num =
            features + vector_num(param) + get_svm_label_num(&param) + pair_num(param);
        return num + num % 2;
    }
    static int64_t pair_num(const ml_svm_param& param) { return std::max(2, param.rho.num); }
    static int64_t size(const ml_svm_param& param, int features)
    {
        const int64_t labels = param.prob_a.num > 0 ? get_svm_label_num(&param) : 0;
        return float_num(param, features) * int64_t{sizeof(float)} +
               (2 * labels * labels + 2 * labels) * int64_t{sizeof(double)};
    }
};

int prepare_svm_classifier(KernelContext& context)
{
    ask_for_scratch(context, SvmSpace::size(context.param<ml_svm_param>(), feature_num(context)));
    return TENGINE_OK;
}

// Returns the sum over the vectors of class `of`, with their coefficients against class `against`.
float sum_of_class(const ml_svm_param& param, const float* kernels, int of, int against)
{
    int64_t begin = 0;
    for (int i = 0; i < of; ++i)
        begin += param.vectors_per_class.values[i];
    const int64_t row = against > of ? against - 1 : against;
    const float* coefficients = param.coefficients.values + row * vector_num(param);
    float sum = 0;
    for (int64_t i = begin; i < begin + param.vectors_per_class.values[of]; ++i)
        sum += coefficients[i] * kernels[i];
    return sum;
}

// Each pair of classes votes for one of them; returns the index of the first with the most votes.
int judge_pairs(const ml_svm_param& param, const SvmSpace& space)
{
    const int labels = get_svm_label_num(&param);
    std::fill_n(space.votes, labels, 0.0f);
    int pair = 0;
    for (int i = 0; i < labels; ++i) {
        for (int j = i + 1; j < labels; ++j, ++pair) {
            const float score = param.rho.values[pair] + sum_of_class(param, space.kernels, i, j) +
                                sum_of_class(param, space.kernels, j, i);
            space.votes[score > 0 ? i : j] += 1;
            space.pairs[pair] = score;
        }
    }
    return place_of_greatest(space.votes, labels);
}

// Writes two scores for two classes, [-s, s]; a positive s means the first class.
void give_pair_scores(const float* pairs, int labels, int width, float* out_scores)
{
    std::copy_n(pairs, labels == 2 ? 1 : width, out_scores + (labels == 2));
    if (labels == 2) out_scores[0] = -out_scores[1];
}

// Computes the probabilities of k classes from those of pairs: r[i, j] is the probability of i
// given i or j. T.-F. Wu, C.-J. Lin, R. C. Weng, "Probability Estimates for Multi-class
// Classification by Pairwise Coupling", 2004, the second method, with the limits of LIBSVM. `q` has
// k x k elements, `qp` k.
void couple(const double* r, int k, double* q, double* qp, double* p)
{
    for (int i = 0; i < k; ++i) {
        p[i] = 1.0 / k;
        q[i * k + i] = 0;
        for (int j = 0; j < k; ++j) {
            if (j == i) continue;
            q[i * k + i] += r[j * k + i] * r[j * k + i];
            q[i * k + j] = -r[j * k + i] * r[i * k + j];
        }
    }
    for (int round = 0; round < std::max(100, k); ++round) {
        double product = 0, error = 0;
        for (int i = 0; i < k; ++i) {
            qp[i] = std::inner_product(p, p + k, q + int64_t{i} * k, 0.0);
            product += p[i] * qp[i];
        }
        for (int i = 0; i < k; ++i)
            error = std::max(error, std::fabs(qp[i] - product));
        if (error < 0.005 / k) return;
        for (int i = 0; i < k; ++i) {
            const double step = (product - qp[i]) / q[i * k + i];
            p[i] += step;
            product =
                (product + step * (step * q[i * k + i] + 2 * qp[i])) / ((1 + step) * (1 + step));
            for (int j = 0; j < k; ++j) {
                qp[j] = (qp[j] + step * q[i * k + j]) / (1 + step);
                p[j] /= 1 + step;
            }
        }
    }
}

void find_probabilities(const ml_svm_param& param, const float* pair_scores, double* space,
                        float* out_probabilities)
{
    constexpr double kLeast = 1e-7;
    const int labels = get_svm_label_num(&param);
    const int64_t square = int64_t{labels} * labels;
    double *r = space, *q = r + square, *qp = q + square, *p = qp + labels;
    int pair = 0;
    for (int i = 0; i < labels; ++i) {
        for (int j = i + 1; j < labels; ++j, ++pair) {
            const double power =
                double{pair_scores[pair]} * param.prob_a.values[pair] + param.prob_b.values[pair];
            const double first = std::clamp(1 / (1 + std::exp(power)), kLeast, 1 - kLeast);
            r[i * labels + j] = first;
            r[j * labels + i] = 1 - first;
        }
    }
    couple(r, labels, q, qp, p);
    std::transform(p, p + labels, out_probabilities,
                   [](double value) { return static_cast<float>(value); });
}

int judge_linear_svm(const ml_svm_param& param, const VectorKernel& kernel, const float* row,
                     int features, float* out_scores)
{
    const int labels = get_svm_label_num(&param);
    for (int i = 0; i < labels; ++i)
        out_scores[i] =
            param.rho.values[0] + kernel(row, param.coefficients.values + int64_t{i} * features);
    return place_of_greatest(out_scores, labels);
}

int judge_vectors(const ml_svm_param& param, const VectorKernel& kernel, const float* row,
                  int features, const SvmSpace& space)
{
    for (int64_t i = 0; i < vector_num(param); ++i)
        space.kernels[i] = kernel(row, param.support_vectors.values + i * features);
    return judge_pairs(param, space);
}

int run_svm_classifier(KernelContext& context)
{
    const auto& param = context.param<ml_svm_param>();
    const tensor* scores = context.output(1);
    const int features = feature_num(context);
    const int width = scores->dims[1];
    const ClassLabels names(context, param.classlabels_ints, param.classlabels_strings);
    const ml_transform transform = find_ml_transform(param.post_transform);
    const VectorKernel kernel(param, features);
    const auto judge = [&](int64_t row, float* values) {
        float* to = scores->f32 + row * width;
        int label;
        if (param.vectors_per_class.num == 0) {
            label = judge_linear_svm(param, kernel, values, features, to);
        } else {
            const SvmSpace space(param, features, values);
            label = judge_vectors(param, kernel, values, features, space);
            if (param.prob_a.num > 0)
                find_probabilities(param, space.pairs, space.coupling, to);
            else
                give_pair_scores(space.pairs, get_svm_label_num(&param), width, to);
        }
        apply_ml_transform(transform, to, width);
        names.put(row, label);
    };
    const int64_t vectors =
        param.vectors_per_class.num == 0 ? get_svm_label_num(&param) : vector_num(param);
    TENGINE_RETURN_IF_ERROR(
        for_each_row(context, SvmSpace::size(param, features), kernel.work() * vectors, judge));
    return names.finish();
}

constexpr Kernel ml_linear_rows[] = {
    {"ai.onnx.ml.LinearRegressor", "reference", nullptr, run_linear_regressor, prepare_row},
    {"ai.onnx.ml.LinearClassifier", "reference", nullptr, run_linear_classifier, prepare_row},
    {"ai.onnx.ml.SVMRegressor", "reference", nullptr, run_svm_regressor, prepare_row},
    {"ai.onnx.ml.SVMClassifier", "reference", nullptr, run_svm_classifier, prepare_svm_classifier},
};

}  // namespace

extern const KernelTable ml_linear_reference;
const KernelTable ml_linear_reference = make_table<ml_linear_rows>();

}  // namespace tengine::cpu
