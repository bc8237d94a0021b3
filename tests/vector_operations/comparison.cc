// SPDX-License-Identifier: Apache-2.0
#include "vector_operations/comparison.h"

#include <gtest/gtest.h>

namespace tengine::vector_operations {
namespace {

constexpr int kRounds = 20;

// kMostLanes numbers of a type for each operation.
class Numbers
{
  public:
    explicit Numbers(const NumberType& type, size_t operation_num = 1)
        : type_(type), bytes_(operation_num * kMostLanes * type.bytes)
    {
    }

    void* all() { return bytes_.data(); }
    void* at(size_t i) { return &bytes_[i * type_.bytes]; }
    void draw(std::mt19937_64& engine, size_t i) { type_.draw(engine, at(i)); }
    void copy(size_t i, Numbers& from) { std::memcpy(at(i), from.at(i), type_.bytes); }

  private:
    const NumberType& type_;
    std::vector<unsigned char> bytes_;
};

// Three vectors of numbers; a quarter of b is as in a.
struct Operands
{
    Numbers a, b, c;

    explicit Operands(const NumberType& type) : a(type), b(type), c(type) {}

    void draw(std::mt19937_64& engine)
    {
        for (size_t i = 0; i < kMostLanes; ++i) {
            a.draw(engine, i);
            if (engine() % 4)
                b.draw(engine, i);
            else
                b.copy(i, a);
            c.draw(engine, i);
        }
    }
};

class Run
{
  public:
    explicit Run(const Comparison& comparison)
        : comparison_(comparison),
          in_(*comparison.type),
          got_(*comparison.result, comparison.operation_num),
          expected_(*comparison.result, comparison.operation_num),
          has_failed_(comparison.operation_num)
    {
    }

    void operator()()
    {
        const Comparison& c = comparison_;
        std::mt19937_64 engine(c.type->bytes + 16 * c.lanes);
        for (int round = 0; round < kRounds; ++round) {
            in_.draw(engine);
            for (const size_t n : c.parameters(c.lanes, c.type->bytes)) {
                c.compute(in_.a.all(), in_.b.all(), in_.c.all(), n, got_.all());
                c.define(in_.a.all(), in_.b.all(), in_.c.all(), n, c.lanes, c.result_lanes,
                         expected_.all());
                for (size_t operation = 0; operation < c.operation_num; ++operation)
                    compare_lanes(operation);
            }
        }
    }

  private:
    // Reports the first lane that differs.
    void compare_lanes(size_t operation)
    {
        for (size_t i = 0; i < comparison_.result_lanes && !has_failed_[operation]; ++i) {
            const void *got = got_.at(operation * kMostLanes + i),
                       *expected = expected_.at(operation * kMostLanes + i);
            has_failed_[operation] = !comparison_.result->is_same(got, expected);
            if (has_failed_[operation]) report(operation, i, got, expected);
        }
    }

    void report(size_t operation, size_t lane, const void* got, const void* expected) const
    {
        ADD_FAILURE() << comparison_.names[operation] << " of " << comparison_.target << ", "
                      << comparison_.lanes << " lanes of " << comparison_.type->bytes
                      << " bytes: lane " << lane << " is " << comparison_.result->value_of(got)
                      << ", expected " << comparison_.result->value_of(expected);
    }

    const Comparison& comparison_;
    Operands in_;
    Numbers got_, expected_;
    std::vector<bool> has_failed_;
};

}  // namespace

std::vector<size_t> no_parameter(size_t, size_t)
{
    return {0};
}

void compare(const Comparison& comparison)
{
    Run run(comparison);
    run();
}

}  // namespace tengine::vector_operations
