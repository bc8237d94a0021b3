// SPDX-License-Identifier: Apache-2.0
// GridSample against PyTorch's definition written out: a tap outside the image is resolved alone in
// mode cubic, and for the whole point otherwise.
#include <cmath>
#include <cstring>

#include "constant_graph.h"
#include "operator/param.h"

namespace tengine::test {
namespace {

using cpu::BFloat16;
using cpu::Half;
using Dims = std::vector<int>;

struct Sampling
{
    std::string mode, padding;
    bool is_aligned;
};

// Reflects at the centres of the outer pixels, or at their outer sides.
double reflect(double x, int size, bool is_aligned)
{
    const double low = is_aligned ? 0 : -0.5, range = is_aligned ? size - 1 : size;
    if (range == 0) return 0;
    double distance = std::fabs(x - low);
    const auto turns = static_cast<int>(std::floor(distance / range));
    distance -= turns * range;
    return turns % 2 == 0 ? low + distance : low + range - distance;
}

double clip(double x, int size)
{
    return std::min(std::max(x, 0.0), size - 1.0);
}

double move_inside(double x, int size, const Sampling& how)
{
    if (how.padding == "border") return clip(x, size);
    if (how.padding == "reflection") return clip(reflect(x, size, how.is_aligned), size);
    return x;
}

// Keys' cubic with a = -0.75.
double weigh(double distance)
{
    const double a = -0.75, d = std::fabs(distance);
    if (d <= 1) return (a + 2) * d * d * d - (a + 3) * d * d + 1;
    return d < 2 ? a * d * d * d - 5 * a * d * d + 8 * a * d - 4 * a : 0;
}

// Returns the weight of each pixel of an axis for a value of the grid.
std::vector<double> weigh_pixels(double value, int size, const Sampling& how)
{
    std::vector<double> weights(static_cast<size_t>(size), 0);
    double x = how.is_aligned ? (value + 1) / 2 * (size - 1) : ((value + 1) * size - 1) / 2;
    const bool is_cubic = how.mode == "cubic";
    if (!is_cubic) x = move_inside(x, size, how);
    const int first = static_cast<int>(std::floor(x)) - (is_cubic ? 1 : 0);
    for (int tap = first; tap < first + (is_cubic ? 4 : 2); ++tap) {
        const double weight = is_cubic ? weigh(x - tap) : 1 - std::fabs(x - tap);
        const double at = is_cubic ? move_inside(tap, size, how) : tap;
        if (at >= 0 && at < size) weights[static_cast<size_t>(std::lround(at))] += weight;
    }
    return weights;
}

// An image of these sizes, read at points some of which are beyond every side.
struct GridCase
{
    Dims sizes;
    std::vector<double> image, grid;
    int point_num = 12;

    explicit GridCase(const Dims& dims) : sizes(dims)
    {
        size_t count = 1;
        for (const int dim : dims)
            count *= static_cast<size_t>(dim);
        for (size_t i = 0; i < count; ++i)
            image.push_back(static_cast<double>(i * 7 % 11) - 4);
        // Sixteenths, which every type represents.
        for (size_t i = 0; i < static_cast<size_t>(point_num) * dims.size(); ++i)
            grid.push_back((static_cast<int>(i * 13 % 53) - 26) / 16.0);
    }
    double sample(int point, const Sampling& how) const
    {
        const size_t rank = sizes.size();
        std::vector<std::vector<double>> axes;
        for (size_t i = 0; i < rank; ++i)
            axes.push_back(weigh_pixels(grid[static_cast<size_t>(point) * rank + rank - 1 - i],
                                        sizes[i], how));
        double sum = 0;
        for (size_t i = 0; i < image.size(); ++i) {
            double weight = image[i];
            for (size_t axis = rank, rest = i; axis-- > 0; rest /= axes[axis].size())
                weight *= axes[axis][rest % axes[axis].size()];
            sum += weight;
        }
        return sum;
    }
};

template <class T>
std::vector<T> convert(const std::vector<double>& values)
{
    std::vector<T> converted;
    for (const double value : values)
        converted.push_back(static_cast<T>(static_cast<float>(value)));
    return converted;
}

// The modes of the opset for two dimensions have other names.
const char* name_in(const std::string& mode, int opset)
{
    if (opset == 20) return mode.c_str();
    return mode == "cubic" ? "bicubic" : "bilinear";
}

template <class T>
void compare(const GridCase& c, const Sampling& how, int opset, double bound)
{
    SCOPED_TRACE(testing::Message() << how.mode << " " << how.padding << how.is_aligned << ", rank "
                                    << c.sizes.size() << ", opset " << opset);
    ConstantGraph graph;
    graph.opset = opset;
    Dims image = {1, 1}, grid = {1, c.point_num};
    image.insert(image.end(), c.sizes.begin(), c.sizes.end());
    grid.insert(grid.end(), c.sizes.size() - 1, 1);
    grid.push_back(static_cast<int>(c.sizes.size()));
    graph.input("x", image, convert<T>(c.image));
    graph.input("grid", grid, convert<T>(c.grid));
    node* made = graph.add("GridSample", {"x", "grid"});
    const char* mode = name_in(how.mode, opset);
    ASSERT_EQ(set_node_text(made, "mode", mode, strlen(mode)), 0);
    ASSERT_EQ(set_node_text(made, "padding_mode", how.padding.c_str(), how.padding.size()), 0);
    ASSERT_EQ(set_node_int(made, "align_corners", how.is_aligned), 0);
    const std::vector<T> y = values_of<T>(graph.evaluate());
    ASSERT_EQ(y.size(), static_cast<size_t>(c.point_num));
    for (int i = 0; i < c.point_num; ++i) {
        const double expected = c.sample(i, how);
        EXPECT_NEAR(static_cast<double>(y[static_cast<size_t>(i)]), expected,
                    bound * (1 + std::fabs(expected)))
            << i;
    }
}

TEST(GridSampleTaps, AreThoseOfPyTorch)
{
    for (const Dims& sizes : {Dims{5}, Dims{4, 7}, Dims{1, 3}, Dims{2, 3, 4}})
        for (const char* mode : {"linear", "cubic"})
            for (const char* padding : {"zeros", "border", "reflection"})
                for (const bool is_aligned : {false, true}) {
                    const GridCase c(sizes);
                    const Sampling how = {mode, padding, is_aligned};
                    compare<float>(c, how, 20, 1e-5);
                    compare<double>(c, how, 20, 1e-12);
                    compare<Half>(c, how, 20, 0x1p-10);
                    compare<BFloat16>(c, how, 20, 0x1p-7);
                    if (sizes.size() == 2) compare<float>(c, how, 16, 1e-5);
                }
}

}  // namespace
}  // namespace tengine::test
