// SPDX-License-Identifier: Apache-2.0
// One node with random inputs and attributes, as in a hostile file or from a careless program. A
// case depends only on its seed, so that a failure can be reproduced.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "base/log.h"
#include "operator/operator.h"
#include "support/ir_builder.h"

namespace tengine::test {

class Dice
{
  public:
    explicit Dice(uint64_t seed) : random_(seed) {}
    bool is_one_in(int number) { return between(1, number) == 1; }
    int64_t between(int64_t low, int64_t high)
    {
        return low + static_cast<int64_t>(random_() % static_cast<uint64_t>(high - low + 1));
    }
    template <class T>
    T pick(const std::vector<T>& values)
    {
        return values[static_cast<size_t>(between(0, static_cast<int64_t>(values.size()) - 1))];
    }

  private:
    std::mt19937_64 random_;
};

class RandomCase
{
  public:
    // Makes a node of the row. `is_wild`: attributes, data and types take extreme values; else
    // values that a model could have, though mostly not those that this node needs.
    RandomCase(const method& row, uint64_t seed, bool is_wild);

    graph* get() { return builder_.get(); }
    // "Pooling 17: fp32[1,2,3,4] ... kernel_h=3", for messages.
    std::string describe() const;

  private:
    void add_inputs();
    void add_sample(const std::string& inputs, const std::string& fields);
    void add_input(char kind);
    void add_list(std::vector<int64_t> values, int rarely);
    void connect(char kind, const std::vector<int>* dims);
    void add_outputs();
    void set_fields(int rarely);
    void set_field(const op_field_t& field);
    int64_t any_int();
    double any_float();
    std::vector<int> any_shape();
    std::vector<int> shape_of_kind(char kind);
    std::vector<int> shape_of_weight(char kind);
    int any_type(char kind);
    void quantize(tensor* target);

    const method& row_;
    const uint64_t seed_;
    const bool is_wild_;
    Dice dice_;
    IrBuilder builder_;
    bool is_faithful_ = false;  // like a sample
    std::vector<int> base_;     // the shape of the first input
    node* node_ = nullptr;
};

// Fills with numbers from -4 to 4 that depend only on the seed; `is_wild`: sometimes NaN, infinite
// or very large.
void fill_tensor(tensor* target, uint64_t seed, bool is_wild);
std::vector<double> read_tensor(const tensor* from);

// Prepares the graph and runs it once on the data of this seed.
int run_once(graph* source, uint64_t seed, bool is_wild);

// Hides the warnings of thousands of cases.
class QuietLog
{
  public:
    QuietLog() { set_log_sink_level(TENGINE_LOG_ERR); }
    ~QuietLog() { set_log_sink_level(level_); }
    QuietLog(const QuietLog&) = delete;
    QuietLog& operator=(const QuietLog&) = delete;

  private:
    const int level_ = get_log_sink_level();
};

// The cases of each operator: `usual`, or the environment variable TENGINE_RANDOM_CASES; and the
// first of their seeds, from TENGINE_RANDOM_SEED. TENGINE_RANDOM_OP selects one operator.
struct CaseRange
{
    uint64_t first;
    uint64_t end;
};
CaseRange get_case_range(int usual);
bool is_operator_wanted(const std::string& name);
// With TENGINE_RANDOM_LOG set, logs the next case, to find one that never returns.
void log_case(const RandomCase& subject);

}  // namespace tengine::test
