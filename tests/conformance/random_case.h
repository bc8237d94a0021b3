// SPDX-License-Identifier: Apache-2.0
// Cases with random values, which other generators cannot reproduce. They are run many times, with
// seeds from 1 on, and pass by types, shapes, and the frequency of each element's values.
#pragma once

#include <string>
#include <vector>

#include "tensor_file/tensor.h"

namespace tengine::conformance {

class RandomCase
{
  public:
    static constexpr int kRunNumber = 64;

    // The name of the folder decides: Bernoulli, Dropout in training.
    static bool is_one(const std::string& test);

    // Takes both from one run; `inputs` must outlive the object.
    RandomCase(const std::string& test, const std::vector<tools::Tensor>& inputs);

    // Adds a run. Throws tools::Failure for another type or shape than expected, for a value that
    // is neither of the two that an element may have, and for a mask that contradicts the values.
    void add(const std::vector<tools::Tensor>& outputs, const std::vector<tools::Tensor>& expected);

    // Throws tools::Failure if an element has one of its values less or more often than in one of
    // 10^6 experiments, by the binomial distribution of that many runs.
    void judge() const;

  private:
    // Returns the probability that element `index` is 1, or is kept.
    double probability(size_t index) const;

    bool is_dropout_;
    bool is_expanded_;  // of a function's body, in which the suite has them reversed
    const std::vector<tools::Tensor>& inputs_;
    std::vector<int> counts_;  // number of runs in which an element was 1, or was kept
};

}  // namespace tengine::conformance
