// SPDX-License-Identifier: Apache-2.0
// Every operator of Tengine's with any inputs, any types and any values in its fields, as in a
// hostile file: it is prepared and run, or refused with a message that names the node. Sanitizers
// check the rest. random_case.h documents how to run more cases.
#include <cstring>
#include <gtest/gtest.h>

#include "graph/graph.h"
#include "operator/registry.h"
#include "random_case.h"
#include "scheduler/scheduler.h"
#include "support/run_cost.h"

namespace tengine::test {
namespace {

constexpr int64_t kLargestRun = 4 << 20;

struct Counts
{
    int cases = 0;
    int prepared = 0;
    int run = 0;
};

void expect_sentence(const RandomCase& subject, const char* when)
{
    EXPECT_NE(tengine_error_code(), 0) << when << ' ' << subject.describe();
    const char* sentence = tengine_error_message();
    // A graph without a node that can be computed in integers is refused as a whole.
    const bool names_it = std::strstr(sentence, "'subject") || std::strstr(sentence, "'x") ||
                          std::strstr(sentence, "precision.float=allow");
    EXPECT_TRUE(names_it) << when << ' ' << subject.describe() << "\n  " << sentence;
}

void try_case(const method& row, uint64_t seed, Counts* counts)
{
    RandomCase subject(row, seed, true);
    log_case(subject);
    ++counts->cases;
    tengine_error_clear();
    const int64_t cost = measure_run(subject.get());
    if (cost < 0) return expect_sentence(subject, "prepare");
    ++counts->prepared;
    if (cost > kLargestRun) return;
    tengine_error_clear();
    if (run_once(subject.get(), seed, true) < 0) return expect_sentence(subject, "run");
    ++counts->run;
}

bool is_subject(const method& row)
{
    // InputOp and Const compute nothing.
    return row.tengine && row.max_input != 0 && is_operator_wanted(row.name);
}

TEST(AnyField, IsRunOrRefused)
{
    const IrBuilder registered;
    const QuietLog quiet;
    const CaseRange range = get_case_range(150);
    Counts sum;
    for (int i = 0; i < get_op_method_count(); ++i) {
        const method& row = *find_op_method_via_index(i);
        if (!is_subject(row)) continue;
        Counts counts;
        for (uint64_t seed = range.first; seed < range.end; ++seed)
            try_case(row, seed, &counts);
        if (std::getenv("TENGINE_RANDOM_CASES"))
            std::printf("%s: %d prepared, %d run\n", row.name, counts.prepared, counts.run);
        sum.cases += counts.cases;
        sum.prepared += counts.prepared;
        sum.run += counts.run;
    }
    std::printf("%d cases: %d prepared, %d run\n", sum.cases, sum.prepared, sum.run);
    EXPECT_GT(sum.run, sum.cases / 20);
}

}  // namespace
}  // namespace tengine::test
