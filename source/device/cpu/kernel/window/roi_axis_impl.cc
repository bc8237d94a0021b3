// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/float_to_index.h"
#include "device/cpu/kernel/window/roi_axis.h"

namespace tengine::cpu {

RoiAxis::RoiAxis(const roi_align_param& param, double begin, double end, int bins, int size)
    : size_(size)
{
    const bool is_centred = std::strcmp(param.coordinate_transformation_mode, "half_pixel") == 0;
    const double scale = double{param.spatial_scale}, offset = is_centred ? 0.5 : 0;
    begin_ = begin * scale - offset;
    double length = end * scale - offset - begin_;
    if (!is_centred && length < 1) length = 1;
    bin_size_ = length / bins;
    sample_num_ = param.sampling_ratio > 0 ? int64_t{param.sampling_ratio}
                                           : float_to_index(std::ceil(bin_size_), 0, INT32_MAX);
}

// Sample s of bin b is at begin + (b + (s + 1/2) / samples) * bin size. The result has two more
// samples at either end, since positions are rounded.
void RoiAxis::find_inside(int bin, int64_t* out_first, int64_t* out_end) const
{
    *out_first = 0;
    *out_end = sample_num_;
    if (bin_size_ == 0) return;
    const auto samples = static_cast<double>(sample_num_);
    double ends[] = {((-1 - begin_) / bin_size_ - bin) * samples,
                     ((size_ - begin_) / bin_size_ - bin) * samples};
    if (bin_size_ < 0) std::swap(ends[0], ends[1]);
    *out_first = float_to_index(ends[0] - 2, 0, sample_num_);
    *out_end = float_to_index(ends[1] + 3, 0, sample_num_);
}

bool RoiAxis::find_tap(int bin, int64_t sample, RoiTap* out_tap) const
{
    const double part = (static_cast<double>(sample) + 0.5) / static_cast<double>(sample_num_);
    const double position = begin_ + (bin + part) * bin_size_;
    if (size_ == 0 || !(position >= -1 && position <= size_)) return false;
    const double inside = std::min(std::max(position, 0.0), size_ - 1.0);
    const auto before = static_cast<int64_t>(inside);
    const double after_weight = inside - static_cast<double>(before);
    out_tap->pixels[0] = before;
    out_tap->pixels[1] = std::min<int64_t>(before + 1, size_ - 1);
    out_tap->weights[0] = 1 - after_weight;
    out_tap->weights[1] = after_weight;
    return true;
}

}  // namespace tengine::cpu
