// SPDX-License-Identifier: Apache-2.0
#include "conformance/shortage.h"

#include <algorithm>
#include <string>

#include "support/allocation_count.h"
#include "tensor_file/failure.h"

namespace tengine::conformance {
namespace {

constexpr long kMostOfPreparation = 24, kMostOfRun = 400;

// Calls `step` with allocation `number` failing, 0: none. Returns the number of allocations.
long call(const std::function<int()>& step, long number, int* out_status)
{
    clr_tengine_errno();
    const long before = count_allocations();
    fail_allocation(number);
    *out_status = step();
    fail_allocation(0);
    return count_allocations() - before;
}

void check_step(const std::function<int()>& step, long most, const std::function<void()>& recover)
{
    int status = 0;
    const long number = call(step, 0, &status);
    recover();
    const long stride = std::max(number / most, 1L);
    for (long i = 1; i <= number; i += stride) {
        call(step, i, &status);
        if (status < 0 && get_tengine_errno() != TENGINE_ENOMEM)
            throw tools::Failure("without memory at allocation " + std::to_string(i) + ": " +
                                 get_tengine_error());
        recover();
    }
}

}  // namespace

void check_shortages(graph_t graph, const std::function<void()>& compare)
{
    const auto prepare = [&] { return prerun_graph(graph); };
    const auto run = [&] { return run_graph(graph, 1); };
    const auto start_again = [&] {
        if (postrun_graph(graph) < 0 || prepare() < 0)
            throw tools::Failure(std::string("prepared again: ") + get_tengine_error());
    };
    const auto run_again = [&] {
        if (run() < 0) throw tools::Failure(std::string("run again: ") + get_tengine_error());
        compare();
    };
    check_step([&] { return postrun_graph(graph) < 0 ? -1 : prepare(); }, kMostOfPreparation,
               [&] {
                   start_again();
                   run_again();
               });
    start_again();  // its first run prepares nodes with shapes that depend on data
    check_step(run, kMostOfRun, [&] {
        run_again();
        start_again();
    });
}

}  // namespace tengine::conformance
