// SPDX-License-Identifier: Apache-2.0
// Random lives of a custom operator: prepared, run, reshaped, saved and abandoned in any order,
// while callbacks fail, and allocations if possible. Every failure is reported, results are right,
// and nothing leaks.
#include <unistd.h>

#include <cstdio>
#include <random>

#include "op_model.h"
#include "support/allocation_count.h"

namespace tengine {
namespace {

class Life
{
  public:
    explicit Life(unsigned seed) : random_(seed), allocations_fail_(can_count_allocations()) {}

    void live(ShiftOp* op)
    {
        op_ = op;
        op_->calls.reserve(100);
        values_.reserve(kMostElements);
        result_.reserve(kMostElements);
        give_habits();
        const context_t context = pick(2) ? create_context("c", 0) : nullptr;
        ASSERT_TRUE(register_shift_op(op, context));
        graph_ = load_op_model({}, context);
        ASSERT_NE(graph_, nullptr) << get_tengine_error();
        const int number = 1 + pick(12);
        for (int i = 0; i < number; ++i)
            act();
        if (pick(4)) {  // else release_tengine does it
            EXPECT_EQ(destroy_graph(graph_), 0);
            EXPECT_EQ(op->states, 0);
        }
        destroy_context(context);
    }

    int failures = 0;  // calls that failed as intended
    int results = 0;

  private:
    int pick(int number) { return static_cast<int>(random_() % static_cast<unsigned>(number)); }

    void give_habits()
    {
        static constexpr tengine_op_prepare_t kPrepares[] = {nullptr, prepare_with_temporaries,
                                                             prepare_dynamic};
        const int habit = pick(3);
        op_->prepare = kPrepares[habit];
        if (habit == 1) op_->invoke = invoke_with_temporaries;
        if (habit == 2) op_->invoke = invoke_dynamic;
    }

    static int prepare_with_temporaries(void*, tengine_op_context_t* context)
    {
        const tengine_op_tensor_t* x = tengine_op_input(context, 0);
        for (size_t bytes : {size_t{0}, size_t{1}, tengine_op_tensor_bytes(x)}) {
            const int index = tengine_op_request_temporary(context, bytes);
            if (index < 0) return index;
        }
        return tengine_op_set_output_like(context, 0, x);
    }

    static int invoke_with_temporaries(void*, tengine_op_context_t* context)
    {
        const size_t bytes = tengine_op_tensor_bytes(tengine_op_input(context, 0));
        *static_cast<char*>(tengine_op_temporary(context, 1)) = 1;
        std::fill_n(static_cast<char*>(tengine_op_temporary(context, 2)), bytes, 2);
        return shift(context);
    }

    static int prepare_dynamic(void*, tengine_op_context_t* context)
    {
        return tengine_op_set_output_dynamic(context, 0);
    }

    static int invoke_dynamic(void*, tengine_op_context_t* context)
    {
        const tengine_op_tensor_t* x = tengine_op_input(context, 0);
        const int number = tengine_op_tensor_dim(x, 0);
        TENGINE_OP_ENSURE_OK(tengine_op_resize_output(context, 0, &number, 1));
        return shift(context);
    }

    // Makes one call of the API, with a fault in half of the cases.
    void act()
    {
        static const char* const callbacks[] = {"", "", "init", "prepare", "invoke"};
        static constexpr int kCodes[] = {TENGINE_ENOMEM, TENGINE_EINVAL, -1, 1, TENGINE_ELIMIT};
        op_->failing = callbacks[pick(5)];
        op_->code = kCodes[pick(5)];
        op_->sentence = pick(2) ? "it is to fail" : "";
        const size_t begin = op_->calls.size();
        const long number = allocations_fail_ && pick(3) == 0 ? 1 + pick(200) : 0;
        clr_tengine_errno();
        fail_allocation(number);
        const int status = call();
        fail_allocation(0);
        const bool has_failed = std::find(op_->calls.begin() + static_cast<std::ptrdiff_t>(begin),
                                          op_->calls.end(), op_->failing) != op_->calls.end();
        if (status == 0) {
            EXPECT_FALSE(has_failed) << op_->failing;
            return;
        }
        ++failures;
        EXPECT_NE(get_tengine_errno(), 0);
        EXPECT_STRNE(get_tengine_error(), "");
        EXPECT_TRUE(has_failed || number > 0) << get_tengine_error();
    }

    int call()
    {
        switch (pick(5)) {
            case 0:
                return reshape();
            case 1:
                return postrun_graph(graph_);
            case 2:
                return save();
            default:
                return run();
        }
    }

    int reshape()
    {
        const int dims[] = {1 + pick(kMostElements)};
        return set_tensor_shape(get_graph_input_tensor(graph_, 0, 0), dims, 1);
    }

    int save()
    {
        const int status = save_graph(graph_, pick(2) ? "onnx" : "tengine", file_.c_str());
        std::remove(file_.c_str());
        return status;
    }

    int run()
    {
        const tensor_t x = get_graph_input_tensor(graph_, 0, 0);
        if (!x) return -1;
        values_.resize(static_cast<size_t>(get_tensor_buffer_size(x)) / sizeof(float));
        for (float& value : values_)
            value = static_cast<float>(pick(100));
        const int bytes = static_cast<int>(values_.size() * sizeof(float));
        result_.resize(values_.size());
        if (set_tensor_data(x, values_.data(), bytes) < 0 || prerun_graph(graph_) < 0 ||
            run_graph(graph_, 1) < 0)
            return -1;
        const tensor_t z = get_graph_output_tensor(graph_, 0, 0);
        if (!z || get_tensor_data(z, result_.data(), bytes) < 0) return -1;
        for (size_t i = 0; i < values_.size(); ++i)
            EXPECT_EQ(result_[i], values_[i] + 0.5f);
        ++results;
        return 0;
    }

    static constexpr int kMostElements = 17;

    const std::string file_ = testing::TempDir() + "life_test_" + std::to_string(getpid());
    std::vector<float> values_, result_;
    std::mt19937 random_;
    const bool allocations_fail_;
    ShiftOp* op_ = nullptr;
    graph_t graph_ = nullptr;
};

TEST(CustomOperatorLife, AThousandLivesLeaveNothing)
{
    int failures = 0, results = 0;
    set_log_output([](const char*) {});
    for (unsigned seed = 0; seed < 1000 && !testing::Test::HasFailure(); ++seed) {
        SCOPED_TRACE(seed);
        ASSERT_EQ(init_tengine(), 0);
        ShiftOp op;
        Life life(seed);
        life.live(&op);
        release_tengine();
        EXPECT_EQ(op.states, 0);
        EXPECT_EQ(op.releases, 1);
        failures += life.failures;
        results += life.results;
    }
    set_log_output(nullptr);
    EXPECT_GT(failures, 500);
    EXPECT_GT(results, 500);
}

}  // namespace
}  // namespace tengine
