// SPDX-License-Identifier: Apache-2.0
#include "conformance/random_case.h"

#include <algorithm>
#include <cmath>

#include "conformance/compare.h"
#include "tensor_file/failure.h"

namespace tengine::conformance {
namespace {

using tools::Failure;
using tools::Tensor;

// One rounding of the factor and one of the product, in fp32.
constexpr double kRelativeError = 1.2e-7;
constexpr double kLeastChance = 1e-6;

std::string element_text(size_t index)
{
    return "element " + std::to_string(index);
}

double chance_of(int count, int runs, double probability)
{
    if (probability <= 0 || probability >= 1) return count == (probability >= 1 ? runs : 0) ? 1 : 0;
    return std::exp(std::lgamma(runs + 1) - std::lgamma(count + 1) - std::lgamma(runs - count + 1) +
                    count * std::log(probability) + (runs - count) * std::log1p(-probability));
}

// Returns the smaller tail of the distribution.
double tail_of(int count, int runs, double probability)
{
    double below = 0, above = 0;
    for (int i = 0; i <= runs; ++i) {
        if (i <= count) below += chance_of(i, runs, probability);
        if (i >= count) above += chance_of(i, runs, probability);
    }
    return std::min(below, above);
}

}  // namespace

bool RandomCase::is_one(const std::string& test)
{
    return test.rfind("test_bernoulli", 0) == 0 || (test.rfind("test_training_dropout", 0) == 0 &&
                                                    test.find("zero_ratio") == std::string::npos);
}

RandomCase::RandomCase(const std::string& test, const std::vector<Tensor>& inputs)
    : is_dropout_(test.find("dropout") != std::string::npos),
      is_expanded_(test.find("expanded") != std::string::npos),
      inputs_(inputs),
      counts_(inputs.at(0).element_number())
{
}

void RandomCase::add(const std::vector<Tensor>& outputs, const std::vector<Tensor>& expected)
{
    if (outputs.size() != expected.size()) throw Failure("another number of outputs");
    for (size_t i = 0; i < outputs.size(); ++i) {
        const std::string difference = compare_form(outputs[i], expected[i]);
        if (!difference.empty()) throw Failure(difference);
    }
    const double ratio = is_dropout_ ? tools::get_element(inputs_.at(1), 0) : 0;
    for (size_t i = 0; i < counts_.size(); ++i) {
        const double value = tools::get_element(outputs[0], i);
        const double one = is_dropout_ ? tools::get_element(inputs_[0], i) / (1 - ratio) : 1;
        const bool is_one = std::fabs(value - one) <= 2 * kRelativeError * std::fabs(one);
        if (!is_one && value != 0)
            throw Failure(element_text(i) + " is " + std::to_string(value) + ", expected 0 or " +
                          std::to_string(one));
        if (outputs.size() > 1 && (tools::get_element(outputs[1], i) != 0) != is_one)
            throw Failure(element_text(i) + ": the mask says otherwise");
        counts_[i] += is_one;
    }
}

double RandomCase::probability(size_t index) const
{
    if (is_dropout_) return 1 - tools::get_element(inputs_.at(1), 0);
    const double probability = tools::get_element(inputs_[0], index);
    return is_expanded_ ? 1 - probability : probability;
}

void RandomCase::judge() const
{
    for (size_t i = 0; i < counts_.size(); ++i) {
        if (tail_of(counts_[i], kRunNumber, probability(i)) >= kLeastChance) continue;
        throw Failure(element_text(i) + " is not 0 in " + std::to_string(counts_[i]) + " of " +
                      std::to_string(kRunNumber) + " runs, its probability is " +
                      std::to_string(probability(i)));
    }
}

}  // namespace tengine::conformance
