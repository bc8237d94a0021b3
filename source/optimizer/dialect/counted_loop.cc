// SPDX-License-Identifier: Apache-2.0
#include "optimizer/dialect/counted_loop.h"

#include <utility>

#include "base/containers.hpp"
#include "base/print_text.hpp"
#include "graph/body.h"
#include "graph/graph.h"
#include "operator/fail.h"
#include "operator/tengine/emit.h"
#include "optimizer/optimizer.h"
#include "optimizer/pass.h"

namespace tengine {
namespace {

constexpr int kCondition = 1, kFirstValue = 2;

class LoopCounter
{
  public:
    LoopCounter(graph& outer, node& loop)
        : loop_(loop),
          body_(loop.core->bodies->list[0]),
          work_(*body_.graph),
          outside_(start_emitting(&outer, &loop)),
          inside_(start_emitting(&work_, &loop)),
          own_(count_ir_own_inputs(&loop))
    {
        for (int i = 0; i < loop.input_num; ++i)
            given_.push_back(get_ir_node_input(&loop, i));
        for (int i = 0; i < body_.input_num; ++i)
            read_.push_back(work_.tensor_list[body_.inputs[i]]);
        for (int i = 0; i < work_.output_tensor_num; ++i)
            results_.push_back(work_.tensor_list[work_.output_tensors[i]]);
    }

    int run();

  private:
    int value_num() const { return own_ - kFirstValue; }
    int collected_num() const { return work_.output_tensor_num - 1 - value_num(); }
    bool is_read(const struct tensor* input) const;
    bool is_true(const struct tensor* value) const;
    int check_collected() const;
    struct tensor* add_input(const char* name, int data_type, const Vector<int>& dims);
    void replace(struct tensor* from, struct tensor* to);
    void count();
    void collect(int place);
    int connect();

    node& loop_;
    ir_body_t& body_;
    graph& work_;
    emitter_t outside_, inside_;
    const int own_;
    // The loop's and its body's, as they become: own inputs, then captures.
    Vector<struct tensor*> given_, read_, results_;
    struct tensor* iteration_ = nullptr;
    Vector<struct tensor*> new_given_, new_read_, new_results_;
    Vector<struct tensor*> collected_;  // outputs of the loop
    struct tensor* limit_ = nullptr;    // in the body
};

bool LoopCounter::is_read(const struct tensor* input) const
{
    bool is_result = false;
    for (const struct tensor* result : results_)
        is_result = is_result || result == input;
    return is_result || input->consumer_num > 0;
}

// Whether a value of the body is always true while the loop runs.
bool LoopCounter::is_true(const struct tensor* value) const
{
    for (;;) {
        if (value == read_[kCondition]) return true;
        if (is_constant(value)) return value->data_type == TENGINE_DT_BOOL && value->u8[0] != 0;
        const node* writer = get_ir_graph_node(&work_, value->producer);
        if (!writer || !is_op(writer, "Identity")) return false;
        value = get_ir_node_input(writer, 0);
    }
}

int LoopCounter::check_collected() const
{
    const struct tensor *limit = given_[0], *begin = given_[kCondition];
    const bool begins = !begin || (is_constant(begin) && begin->u8[0] != 0);
    if (collected_num() == 0 || (limit && is_constant(limit) && begins && is_true(results_[0])))
        return TENGINE_OK;
    return fail_node(&loop_, TENGINE_EOPERATOR,
                     "it collects results, and how often it runs depends on data: it has no form "
                     "in TensorFlow Lite");
}

// A new input of the body.
struct tensor* LoopCounter::add_input(const char* name, int data_type, const Vector<int>& dims)
{
    const String full = String(loop_.name) + "/" + name;
    struct tensor* made = create_ir_tensor(&work_, full.c_str(), data_type);
    if (!made || set_ir_tensor_shape(made, dims.data(), static_cast<int>(dims.size())) < 0) {
        inside_.status = tengine_error_code();
        return nullptr;
    }
    made->tensor_type = TENSOR_TYPE_INPUT;
    return made;
}

void LoopCounter::replace(struct tensor* from, struct tensor* to)
{
    for (int i = 0; to && i < work_.node_num; ++i) {
        node* reader = work_.node_list[i];
        for (int k = 0; reader && k < reader->input_num; ++k)
            if (reader->input_tensors[k] == from->index && inside_.status == TENGINE_OK)
                inside_.status = set_ir_node_input_tensor(reader, k, to);
    }
    for (struct tensor*& result : results_)
        if (to && result == from) result = to;
}

// The number of the iteration is the last value.
void LoopCounter::count()
{
    iteration_ = add_input("iteration", TENGINE_DT_INT64, {});
    replace(read_[0], iteration_);
    if (is_read(read_[kCondition]))
        replace(read_[kCondition], emit_cast(&inside_, emit_int(&inside_, 1), TENGINE_DT_BOOL));
    struct tensor* next = emit_op(&inside_, "Add", 2, iteration_, emit_int(&inside_, 1));
    struct tensor*& begins = given_[kCondition];
    if (!begins) begins = emit_cast(&outside_, emit_int(&outside_, 1), TENGINE_DT_BOOL);
    if (struct tensor* limit = given_[0]) {
        struct tensor* number = limit->dim_num == 0 ? limit : emit_reshape(&outside_, limit, {}, 0);
        limit_ = is_constant(limit) ? emit_int(&inside_, limit->i64[0])
                                    : add_input("limit", TENGINE_DT_INT64, {});
        if (!is_constant(limit)) given_[0] = number;
        struct tensor* any = emit_op(&outside_, "Less", 2, emit_int(&outside_, 0), number);
        begins = emit_op(&outside_, "And", 2, begins, any);
        struct tensor* more = emit_op(&inside_, "Less", 2, next, limit_);
        results_[0] = emit_op(&inside_, "And", 2, results_[0], more);
    }
    for (int i = 0; i < collected_num(); ++i)
        collect(i);
    new_given_.push_back(emit_int(&outside_, 0));
    new_read_.push_back(iteration_);
    new_results_.push_back(next);
}

// A result that begins with zeros, in which each iteration writes a row. One that nothing reads is
// left out.
void LoopCounter::collect(int place)
{
    struct tensor* whole = get_ir_node_output(&loop_, value_num() + place);
    // The first result is the condition.
    const auto index_of_row = static_cast<size_t>(value_num() + place) + 1;
    struct tensor* row = results_[index_of_row];
    if (!whole || inside_.status < 0 || outside_.status < 0) return;
    // The body may not know them yet.
    inside_.status = set_ir_tensor_data_type(row, whole->data_type);
    if (inside_.status == TENGINE_OK)
        inside_.status = set_ir_tensor_shape(row, whole->dims + 1, whole->dim_num - 1);
    const Vector<int> dims(whole->dims, whole->dims + whole->dim_num);
    const Vector<int64_t> wide(dims.begin(), dims.end());
    const String name = print_text("collected_%d", place);
    struct tensor* before = add_input(name.c_str(), whole->data_type, dims);
    const int64_t one[] = {1, 1}, first = 0;
    struct tensor* index = emit_reshape(&inside_, iteration_, one, 2);
    row = emit_op(&inside_, "Unsqueeze", 2, row, emit_ints(&inside_, &first, 1));
    new_results_.push_back(emit_op(&inside_, "ScatterND", 3, before, index, row));
    new_read_.push_back(before);
    struct tensor* shape = emit_ints(&outside_, wide.data(), static_cast<int>(wide.size()));
    struct tensor* zero = emit_cast(&outside_, emit_int(&outside_, 0), whole->data_type);
    new_given_.push_back(emit_op(&outside_, "Expand", 2, zero, shape));
    collected_.push_back(whole);
}

int LoopCounter::connect()
{
    ir_body_t made = {};
    made.graph = body_.graph;
    Vector<struct tensor*> given(given_.begin(), given_.begin() + own_);
    given[0] = nullptr;
    given.insert(given.end(), new_given_.begin(), new_given_.end());
    made.first_capture = static_cast<int>(given.size());
    given.insert(given.end(), given_.begin() + own_, given_.end());
    const bool is_captured = limit_ && limit_->tensor_type == TENSOR_TYPE_INPUT;
    if (is_captured) given.push_back(given_[0]);
    const auto first = read_.end() - body_.capture_num;
    new_read_.insert(new_read_.begin(), read_.begin(), first);
    int status = TENGINE_OK;
    for (size_t i = 0; status == TENGINE_OK && i < new_read_.size(); ++i)
        status = add_ir_body_input(&made, new_read_[i], false);
    for (auto input = first; status == TENGINE_OK && input != read_.end(); ++input)
        status = add_ir_body_input(&made, *input, true);
    if (status == TENGINE_OK && is_captured) status = add_ir_body_input(&made, limit_, true);
    std::swap(body_, made);
    free_memory(made.inputs);
    TENGINE_RETURN_IF_ERROR(status);
    TENGINE_RETURN_IF_ERROR(set_ir_graph_input_tensor(&work_, body_.inputs, body_.input_num));
    Vector<int32_t> results;
    for (int i = 0; i <= value_num(); ++i)
        results.push_back(results_[static_cast<size_t>(i)]->index);
    for (const struct tensor* result : new_results_)
        results.push_back(result->index);
    TENGINE_RETURN_IF_ERROR(
        set_ir_graph_output_tensor(&work_, results.data(), static_cast<int>(results.size())));
    for (int i = value_num(); i < loop_.output_num; ++i)
        TENGINE_RETURN_IF_ERROR(set_ir_node_output_tensor(&loop_, i, nullptr));
    for (size_t i = 0; i < collected_.size(); ++i)
        TENGINE_RETURN_IF_ERROR(
            set_ir_node_output_tensor(&loop_, value_num() + static_cast<int>(i), collected_[i]));
    keep_ir_node_inputs(&loop_, 0);
    for (size_t i = 0; i < given.size(); ++i)
        if (given[i])
            TENGINE_RETURN_IF_ERROR(
                set_ir_node_input_tensor(&loop_, static_cast<int>(i), given[i]));
    return sort_ir_graph(&work_);
}

int LoopCounter::run()
{
    if (!given_[0] && given_[kCondition] && collected_num() == 0 && !is_read(read_[0]) &&
        !is_read(read_[kCondition]))
        return TENGINE_OK;
    TENGINE_RETURN_IF_ERROR(check_collected());
    count();
    TENGINE_RETURN_IF_ERROR(inside_.status);
    TENGINE_RETURN_IF_ERROR(outside_.status);
    return connect();
}

}  // namespace

int count_loop(graph& graph, node& loop)
{
    return LoopCounter(graph, loop).run();
}

}  // namespace tengine
