// SPDX-License-Identifier: Apache-2.0
// Tengine's Softmax and LogSoftmax against their definition, along every axis.
#include <cmath>

#include "tengine_case.h"

namespace tengine::test {
namespace {

using Dims = std::vector<int>;

Array softmax(const Array& x, int axis, bool logarithm)
{
    const size_t first = static_cast<size_t>(axis);
    const Dims inner_dims(x.dims.begin() + axis + 1, x.dims.end());
    const size_t inner = static_cast<size_t>(count_elements(inner_dims));
    const size_t length = static_cast<size_t>(x.dims[first]);
    Array y = x;
    for (size_t start = 0; start < x.values.size(); start += length * inner)
        for (size_t i = 0; i < inner; ++i) {
            double sum = 0;
            for (size_t k = 0; k < length; ++k)
                sum += std::exp(x.values[start + k * inner + i]);
            for (size_t k = 0; k < length; ++k) {
                const size_t at = start + k * inner + i;
                y.values[at] = std::exp(x.values[at]) / sum;
                if (logarithm) y.values[at] = std::log(y.values[at]);
            }
        }
    return y;
}

struct Operator
{
    const char* name;
    int default_axis;
    bool logarithm;
};

class Softmax : public testing::TestWithParam<Operator>
{
  protected:
    std::string tengine_name() const { return std::string("tengine.") + GetParam().name; }
};

TEST_P(Softmax, GoesAlongItsAxis)
{
    for (const Dims& dims : {Dims{13}, Dims{1, 7}, Dims{2, 7, 1, 13}, Dims{3, 1, 5}}) {
        const Array x = make_array(dims, 1, 4);
        const int rank = static_cast<int>(dims.size());
        for (int axis = -rank; axis < rank; ++axis) {
            TengineCase test(tengine_name());
            test.input(x).attr("axis", axis);
            expect_close(test.run_one(),
                         softmax(x, axis < 0 ? axis + rank : axis, GetParam().logarithm));
            EXPECT_EQ(test.ops(), GetParam().name);
        }
    }
}

TEST_P(Softmax, HasADefaultAxis)
{
    const Array x = make_array({3, 5}, 1);
    TengineCase test(tengine_name());
    test.input(x);
    expect_close(test.run_one(), softmax(x, GetParam().default_axis, GetParam().logarithm));
}

TEST_P(Softmax, RefusesAnAxisThatIsNotThere)
{
    for (const int axis : {2, -3, 2147483647}) {
        TengineCase test(tengine_name());
        test.input(make_array({3, 5})).attr("axis", axis);
        test.expect_failure(TENGINE_ERANGE, std::to_string(axis));
    }
}

TEST_P(Softmax, IsRaised)
{
    TengineCase test(GetParam().name);
    test.input(make_array({2, 3, 5}, 1));
    test.expect_raised(tengine_name());
    EXPECT_EQ(test.raised_attr("axis"), 2);
    TengineCase second(GetParam().name);
    second.input(make_array({2, 3, 5}, 1)).attr("axis", -2);
    second.expect_raised(tengine_name());
    EXPECT_EQ(second.raised_attr("axis"), 1);
}

INSTANTIATE_TEST_SUITE_P(Both, Softmax,
                         testing::Values(Operator{"Softmax", 1, false},
                                         Operator{"LogSoftmax", 0, true}),
                         [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace tengine::test
