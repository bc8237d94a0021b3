// SPDX-License-Identifier: Apache-2.0
// Boxes and their suppression, as plain as possible, for the tests of detection operators.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "tengine_case.h"

namespace tengine::test {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

struct Corners
{
    double x0, y0, x1, y1;
};

struct Detection
{
    Corners box;
    double score;
    int label;
};

inline double overlap(const Corners& a, const Corners& b, double pixel = 0)
{
    const double width = std::max(0.0, std::min(a.x1, b.x1) - std::max(a.x0, b.x0) + pixel);
    const double height = std::max(0.0, std::min(a.y1, b.y1) - std::max(a.y0, b.y0) + pixel);
    const auto area = [&](const Corners& c) {
        return (c.x1 - c.x0 + pixel) * (c.y1 - c.y0 + pixel);
    };
    return width * height / (area(a) + area(b) - width * height);
}

// Repeatedly takes the best remaining box and drops those that it overlaps too much.
template <class TooMuch>
std::vector<Detection> suppress(std::vector<Detection> left, const TooMuch& too_much)
{
    std::vector<Detection> taken;
    while (!left.empty()) {
        size_t best = 0;
        for (size_t i = 1; i < left.size(); ++i)
            if (left[i].score > left[best].score) best = i;
        taken.push_back(left[best]);
        std::vector<Detection> rest;
        for (size_t i = 0; i < left.size(); ++i)
            if (i != best && !too_much(overlap(taken.back().box, left[i].box)))
                rest.push_back(left[i]);
        left = rest;
    }
    return taken;
}

inline void keep_best(std::vector<Detection>& all, size_t num)
{
    std::stable_sort(all.begin(), all.end(),
                     [](const Detection& a, const Detection& b) { return a.score > b.score; });
    if (all.size() > num) all.resize(num);
}

// Numbers in 0..1 without a pattern, and without equal ones.
inline Array random_array(std::vector<int> dims, int seed)
{
    Array made = make_array(std::move(dims), seed);
    for (double& value : made.values)
        value = static_cast<float>(std::fabs(value * 7919 - std::floor(value * 7919)));
    return made;
}

// ---- PriorBox ----

inline Array naive_prior_box(int rows, int columns, double step, double offset, double image,
                             const std::vector<double>& widths, const std::vector<double>& heights,
                             bool clip)
{
    const int numbers = rows * columns * static_cast<int>(widths.size()) * 4;
    Array made{{1, 2, numbers, 1}, {}};
    for (int y = 0; y < rows; ++y)
        for (int x = 0; x < columns; ++x)
            for (size_t i = 0; i < widths.size(); ++i)
                for (const double value :
                     {(x + offset) * step - widths[i] / 2, (y + offset) * step - heights[i] / 2,
                      (x + offset) * step + widths[i] / 2, (y + offset) * step + heights[i] / 2})
                    made.values.push_back(clip ? std::clamp(value / image, 0.0, 1.0)
                                               : value / image);
    for (int i = 0; i < numbers; ++i)
        made.values.push_back(i % 4 < 2 ? 0.1 : 0.2);
    return made;
}

// ---- DetectionOutput ----

struct Limits
{
    int keep, per_class;
    double confidence, overlap;
};

inline std::vector<Detection> naive_detection_output(const Array& deltas, const Array& scores,
                                                     const Array& priors, int classes,
                                                     const Limits& limits)
{
    const size_t num = deltas.values.size() / 4;
    const size_t per_class = limits.per_class < 0 ? num : static_cast<size_t>(limits.per_class);
    std::vector<Detection> all;
    for (int label = 1; label < classes; ++label) {
        std::vector<Detection> found;
        for (size_t i = 0; i < num; ++i) {
            const double* d = &deltas.values[i * 4];
            const double* p = &priors.values[i * 4];
            const double* v = p + num * 4;
            const double w = p[2] - p[0], h = p[3] - p[1];
            const double x = (p[0] + p[2]) / 2 + v[0] * d[0] * w;
            const double y = (p[1] + p[3]) / 2 + v[1] * d[1] * h;
            const double bw = w * std::exp(v[2] * d[2]), bh = h * std::exp(v[3] * d[3]);
            const double score =
                scores.values[i * static_cast<size_t>(classes) + static_cast<size_t>(label)];
            if (score > limits.confidence)
                found.push_back({{x - bw / 2, y - bh / 2, x + bw / 2, y + bh / 2}, score, label});
        }
        keep_best(found, per_class);
        const std::vector<Detection> left =
            suppress(found, [&](double o) { return o > limits.overlap; });
        all.insert(all.end(), left.begin(), left.end());
    }
    keep_best(all, limits.keep < 0 ? all.size() : static_cast<size_t>(limits.keep));
    return all;
}

// Returns the rows of DetectionOutput.
inline Array detection_rows(const std::vector<Detection>& all)
{
    Array made{{1, static_cast<int>(all.size()), 6, 1}, {}};
    for (const Detection& d : all)
        made.values.insert(made.values.end(), {static_cast<double>(d.label), d.score, d.box.x0,
                                               d.box.y0, d.box.x1, d.box.y1});
    return made;
}

// ---- Rpn ----

// Anchors of base 16 and scale 2: 46 x 24, 32 x 32 and 22 x 44, around (7.5, 7.5).
inline const double kAnchors[3][4] = {{-15, -4, 30, 19}, {-8, -8, 23, 23}, {-3, -14, 18, 29}};

inline std::vector<Detection> naive_candidates(const Array& scores, const Array& deltas, int height,
                                               int width, double minimum)
{
    const int rows = deltas.dims[2], columns = deltas.dims[3];
    std::vector<Detection> all;
    for (int y = 0; y < rows; ++y)
        for (int x = 0; x < columns; ++x)
            for (int a = 0; a < 3; ++a) {
                const auto at = [&](const Array& map, int channel) {
                    return map.values[static_cast<size_t>((channel * rows + y) * columns + x)];
                };
                const double* c = kAnchors[a];
                const double aw = c[2] - c[0] + 1, ah = c[3] - c[1] + 1;
                const double cx = c[0] + 16 * x + aw / 2 + at(deltas, a * 4) * aw;
                const double cy = c[1] + 16 * y + ah / 2 + at(deltas, a * 4 + 1) * ah;
                const double w = std::exp(at(deltas, a * 4 + 2)) * aw;
                const double h = std::exp(at(deltas, a * 4 + 3)) * ah;
                if (w < minimum || h < minimum) continue;
                const auto clip = [](double v, int limit) {
                    return std::clamp<double>(v, 0, limit);
                };
                all.push_back({{clip(cx - w / 2, width), clip(cy - h / 2, height),
                                clip(cx + w / 2, width), clip(cy + h / 2, height)},
                               at(scores, 3 + a),
                               0});
            }
    return all;
}

inline std::vector<Detection> naive_proposals(std::vector<Detection> all, size_t before,
                                              size_t after)
{
    keep_best(all, before);
    std::vector<Detection> taken;
    for (const Detection& d : all) {
        bool clear = true;
        for (const Detection& t : taken)
            clear = clear && overlap(t.box, d.box, 1) < 0.5;
        if (clear) taken.push_back(d);
    }
    keep_best(taken, after);
    return taken;
}

inline Array box_rows(const std::vector<Detection>& boxes, size_t rows)
{
    Array made{{1, static_cast<int>(rows), 4, 1}, {}};
    for (size_t i = 0; i < rows; ++i) {
        const Corners& c = boxes[std::min(i, boxes.size() - 1)].box;
        made.values.insert(made.values.end(), {c.x0, c.y0, c.x1, c.y1});
    }
    return made;
}

}  // namespace tengine::test
