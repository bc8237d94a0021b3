// SPDX-License-Identifier: Apache-2.0
// Reductions of kernel/norm/reduce.cc against the reference, which sums in double, over all kinds
// of axes, in both layouts and with special values.
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <numeric>
#include <random>

#include "device/cpu/kernel/vector/vector_target.h"
#include "device/cpu/kernel_runner.h"

namespace tengine::cpu {
namespace {

using Limits = std::numeric_limits<float>;

struct Shape
{
    std::vector<int> dims;
    std::vector<int64_t> axes;  // none: all
    size_t kernel_num = 1;      // except the reference
    int keepdims = 1;

    int64_t count() const
    {
        int64_t product = 1;
        for (size_t i = 0; i < dims.size(); ++i)
            for (const int64_t axis : axes)
                if (axis == static_cast<int64_t>(i) ||
                    axis + static_cast<int64_t>(dims.size()) == static_cast<int64_t>(i))
                    product *= dims[i];
        return axes.empty() ? std::accumulate(dims.begin(), dims.end(), int64_t{1},
                                              [](int64_t a, int b) { return a * b; })
                            : product;
    }
};

void PrintTo(const Shape& shape, std::ostream* stream)
{
    *stream << testing::PrintToString(shape.dims) << testing::PrintToString(shape.axes);
}

Case case_of(const char* op, const Shape& shape)
{
    Case node_case = {op, {tools::fed(shape.dims)}, {}, {{"keepdims", shape.keepdims}}};
    if (!shape.axes.empty())
        node_case.inputs.push_back(tools::int64_list({shape.axes.begin(), shape.axes.end()}));
    return node_case;
}

std::vector<float> run_reference(const char* op, const Shape& shape,
                                 const std::vector<float>& values)
{
    KernelRunner runner(case_of(op, shape));
    runner.fill(0, values);
    return runner.run(*runner.kernels().back(), 1);
}

// Returns the allowed error of a result of `count` terms whose magnitudes have this sum.
double find_tolerance(const std::string& op, double count, double sum, double result)
{
    if (op == "ReduceMax" || op == "ReduceMin") return 0;
    const double terms = (std::fmin(count, 140 + count / 8) + 3) * double{Limits::epsilon()};
    if (op == "ReduceMean") return terms * sum / count;
    return terms * (op == "ReduceL2" || op == "ReduceSumSquare" ? std::fabs(result) : sum);
}

class ReduceTest : public testing::TestWithParam<Shape>
{
  protected:
    // Compares all fast kernels of all operators, on every instruction set, with identical bits on
    // more threads.
    static void compare(const std::vector<float>& values)
    {
        const std::vector<float> sums = run_reference("ReduceL1", GetParam(), values);
        for (const char* op : {"ReduceSum", "ReduceMean", "ReduceL1", "ReduceL2", "ReduceSumSquare",
                               "ReduceMax", "ReduceMin"}) {
            SCOPED_TRACE(op);
            const std::vector<float> expected = run_reference(op, GetParam(), values);
            KernelRunner runner(case_of(op, GetParam()));
            runner.fill(0, values);
            const std::vector<const Kernel*> kernels = runner.kernels();
            ASSERT_EQ(kernels.size(), get_vector_target_num() > 0 ? GetParam().kernel_num + 1 : 1);
            for (size_t k = 0; k + 1 < kernels.size(); ++k)
                for (int target = 0; target < get_vector_target_num(); ++target) {
                    force_vector_target(target);
                    SCOPED_TRACE(std::string(kernels[k]->name) + get_vector_target_name(target));
                    const std::vector<float> results = runner.run(*kernels[k], 1);
                    expect_close(op, results, expected, sums);
                    const std::vector<float> others = runner.run(*kernels[k], 3);
                    EXPECT_EQ(std::memcmp(results.data(), others.data(), results.size() * 4), 0);
                }
            force_vector_target(-1);
        }
    }

    static void expect_close(const char* op, const std::vector<float>& actual,
                             const std::vector<float>& expected, const std::vector<float>& sums)
    {
        const double count = static_cast<double>(GetParam().count());
        ASSERT_EQ(actual.size(), expected.size());
        for (size_t i = 0; i < actual.size(); ++i) {
            if (actual[i] == expected[i] || (std::isnan(actual[i]) && std::isnan(expected[i])))
                continue;
            const double error = std::fabs(double{actual[i]} - double{expected[i]});
            ASSERT_LE(error, find_tolerance(op, count, double{sums[i]}, double{expected[i]}))
                << "element " << i << ": " << actual[i] << ", expected " << expected[i];
        }
    }

    static std::vector<float> make_values(float low, float high)
    {
        std::mt19937 generator(1);
        std::uniform_real_distribution<float> distribution(low, high);
        size_t number = 1;
        for (const int dim : GetParam().dims)
            number *= static_cast<size_t>(dim);
        std::vector<float> values(number);
        for (float& value : values)
            value = distribution(generator);
        return values;
    }
};

TEST_P(ReduceTest, IsWithinTheErrorOfTheSum)
{
    compare(make_values(-1, 1));
    compare(make_values(0.5f, 1));
    compare(make_values(-3, -2));
}

TEST_P(ReduceTest, OfSpecialValues)
{
    const std::vector<float> values = make_values(-1, 1);
    for (const float special : {Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity()})
        for (const size_t step : {3u, 7u, 41u}) {
            std::vector<float> changed = values;
            for (size_t i = step / 2; i < changed.size(); i += step * 5)
                changed[i] = special;
            for (size_t i = step; i < changed.size(); i += step * 9)
                changed[i] = Limits::infinity();
            compare(changed);
        }
}

// Sums and squares beyond the range of floats, and below it.
TEST_P(ReduceTest, OfExtremeMagnitudes)
{
    for (const float scale : {2e38f, 1e30f, 1e-30f, 0.0f}) {
        std::vector<float> values = make_values(-1, 1);
        for (float& value : values)
            value *= scale;
        compare(values);
    }
}

INSTANTIATE_TEST_SUITE_P(
    Kernel, ReduceTest,
    testing::Values(Shape{{1}, {0}}, Shape{{33}, {0}}, Shape{{3, 7}, {1}}, Shape{{3, 7}, {0}},
                    Shape{{5, 37}, {-1}}, Shape{{37, 5}, {0}}, Shape{{2, 3, 257}, {2}},
                    Shape{{3, 19, 131}, {1}}, Shape{{3, 2, 131}, {1}, 1, 0},
                    Shape{{4, 3, 5}, {0, 2}}, Shape{{7, 9, 11}, {}}, Shape{{1, 70001}, {1}},
                    Shape{{3001, 67}, {0}}, Shape{{2, 9, 2100}, {1}},
                    // Two layouts, where the results are the same in both.
                    Shape{{2, 67, 5, 7}, {2, 3}, 2, 0}, Shape{{2, 67, 5, 7}, {2, 3}, 2},
                    Shape{{2, 67, 5, 7}, {1}, 2, 0}, Shape{{2, 67, 5, 7}, {1}, 2},
                    Shape{{2, 67, 5, 7}, {3}, 1, 0}, Shape{{2, 67, 5, 7}, {3}, 2},
                    Shape{{2, 67, 5, 7}, {0, 2}, 2}, Shape{{2, 67, 5, 7}, {0, 1, 3}, 2, 0},
                    Shape{{2, 67, 5, 7}, {}, 2, 0}, Shape{{2, 3, 4, 5, 6}, {0, 2, 4}},
                    // More axes than lines support: the reference computes them.
                    Shape{{2, 2, 2, 2, 2, 2, 3}, {0, 2, 4, 6}, 0}),
    [](const auto& test) { return "Shape" + std::to_string(test.index); });

}  // namespace
}  // namespace tengine::cpu
