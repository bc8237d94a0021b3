// SPDX-License-Identifier: Apache-2.0
// Softmax of long rows against its definition in double: many small exponentials next to a large
// one, as in a recogniser of thousands of characters, keep their accuracy.
#include <cmath>
#include <gtest/gtest.h>
#include <numeric>

#include "device/cpu/kernel_runner.h"

namespace tengine::cpu {
namespace {

std::vector<float> make_row(int length)
{
    std::vector<float> row(static_cast<size_t>(length));
    for (size_t i = 0; i < row.size(); ++i)
        row[i] = -12 + 3 * std::sin(static_cast<float>(i) * 0.7f);
    row[row.size() / 3] = 0;
    return row;
}

TEST(Softmax, LongRowsAreWithinTheStatedBound)
{
    for (const int length : {37, 1000, 6625, 50257, 400000}) {
        KernelRunner runner({"Softmax", {tools::fed({1, length})}});
        const std::vector<float> row = make_row(length);
        runner.fill(0, row);
        const double sum = std::accumulate(row.begin(), row.end(), 0.0, [](double before, float x) {
            return before + std::exp(static_cast<double>(x));
        });
        for (const Kernel* kernel : runner.kernels()) {
            const std::vector<float> y = runner.run(*kernel, 1);
            // With the fewest lanes that a vector has.
            const double bound = (length / (32.0 * 4) + 40 + 16) * std::ldexp(1, -24);
            double largest = 0;
            for (size_t i = 0; i < row.size(); ++i) {
                const double exact = std::exp(static_cast<double>(row[i])) / sum;
                largest = std::max(largest, std::fabs(y[i] / exact - 1));
            }
            EXPECT_LE(largest, std::min(bound, 1e-5)) << kernel->name << ", " << length;
        }
    }
}

}  // namespace
}  // namespace tengine::cpu
