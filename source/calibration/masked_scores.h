// SPDX-License-Identifier: Apache-2.0
// Masks among the scores that a Softmax reads: -10000, or the least number in fp32. A range that
// holds them would have one level for all other scores.
#pragma once

#include <optional>

#include "calibration/network.h"

namespace tengine::calibration {

class MaskedScores
{
  public:
    // Finds the tensors that only a Softmax reads.
    explicit MaskedScores(graph_t graph);

    // The values of a tensor for its range. Among scores of a Softmax along the last axis, those 64
    // or more below the largest of their row become 16 below it, whose share is less than 2^-23.
    FloatView for_range(const String& tensor, const FloatView& view)
    {
        return limit(tensor, view, kFar);
    }

    // The values of a tensor for a comparison, in which all smaller shares are equal.
    FloatView for_comparison(const String& tensor, const FloatView& view)
    {
        return limit(tensor, view, kNegligible);
    }

  private:
    static constexpr float kFar = 64, kNegligible = 16;

    // Valid until the next call.
    FloatView limit(const String& tensor, const FloatView& view, float distance);

    // By tensor that a node reads: the axis of the Softmax, if there is no other reader.
    Map<String, std::optional<int>> axes_;
    Vector<float> limited_;
};

}  // namespace tengine::calibration
