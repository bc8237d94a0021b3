// SPDX-License-Identifier: Apache-2.0
// Maxima and means over windows. Positions whose windows are cut off at an edge in the same way are
// computed together, so that no padding is stored: it counts in the divisor of a mean only.
#pragma once

#include "device/tpu/compiler/layer.h"
#include "operator/onnx/window.h"

namespace tengine::tpu {

struct PoolSettings
{
    window_axis y = {}, x = {};
    bool is_float = false;
    bool signed_input = false, signed_output = false;
    bool is_mean = false;
    // For means:
    bool counts_padding = false;
    double scale = 1, result_scale = 1;
    uint8_t input_zero = 0, output_zero = 0;
};

class PoolLayer : public Layer, public PoolSettings
{
  public:
    Box needs(int input, const Box& box) const override;
    void emit(Emitter& emitter, const Work& work) override;

  private:
    // Output positions [begin, end) whose windows have `taps` taps of the kernel, from `first` on.
    struct Region
    {
        int begin, end;
        int first, taps;
        int divisor;
    };

    std::vector<Region> split(const window_axis& axis, int begin, int end) const;
    void emit_region(Emitter& emitter, const Work& work, const Region& rows,
                     const Region& columns) const;
};

}  // namespace tengine::tpu
