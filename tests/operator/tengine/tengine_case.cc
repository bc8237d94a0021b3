// SPDX-License-Identifier: Apache-2.0
// See tengine_case.h.
#include "tengine_case.h"

#include <cmath>

#include "device/cpu/shared/types.h"
#include "graph/graph.h"
#include "operator/param.h"
#include "operator/registry.h"
#include "optimizer/pass.h"
#include "scheduler/scheduler.h"

namespace tengine::test {
namespace {

using NumberOrByte = cpu::NumberTypes;

int storage_type(int data_type)
{
    return data_type == TENGINE_DT_BOOL ? TENGINE_DT_UINT8 : data_type;
}

void write(const Array& value, tensor* target)
{
    ASSERT_EQ(static_cast<int64_t>(value.values.size()), target->elem_num) << target->name;
    cpu::dispatch_type(cpu::NumberTypes{}, storage_type(value.data_type), [&](auto tag) {
        using T = typename decltype(tag)::type;
        using Step = std::conditional_t<cpu::is_half<T>, float, T>;
        for (size_t i = 0; i < value.values.size(); ++i)
            static_cast<T*>(target->data)[i] = static_cast<T>(static_cast<Step>(value.values[i]));
        return TENGINE_OK;
    });
}

Array read(const tensor* from)
{
    Array value{{from->dims, from->dims + from->dim_num}, {}, from->data_type};
    cpu::dispatch_type(cpu::NumberTypes{}, storage_type(from->data_type), [&](auto tag) {
        const auto* data = static_cast<const typename decltype(tag)::type*>(from->data);
        for (int64_t i = 0; i < from->elem_num; ++i)
            value.values.push_back(static_cast<double>(data[i]));
        return TENGINE_OK;
    });
    return value;
}

ir_run_options_t single_thread()
{
    ir_run_options_t options = {};
    options.num_thread = 1;
    return options;
}

int prepare(graph* graph)
{
    const ir_run_options_t options = single_thread();
    tengine_error_clear();
    return prerun_ir_graph(graph, &options);
}

std::vector<Array> run_graph(graph* graph, const std::vector<Array>& fed)
{
    if (prepare(graph) < 0) {
        ADD_FAILURE() << tengine_error_message();
        return {};
    }
    for (size_t i = 0; i < fed.size(); ++i) {
        tensor* input = graph->tensor_list[graph->input_tensors[i]];
        EXPECT_EQ(allocate_ir_tensor(input), TENGINE_OK);
        write(fed[i], input);
    }
    if (run_ir_graph(graph, 1) < 0) {
        ADD_FAILURE() << tengine_error_message();
        return {};
    }
    std::vector<Array> results;
    for (int i = 0; i < graph->output_tensor_num; ++i)
        results.push_back(read(graph->tensor_list[graph->output_tensors[i]]));
    return results;
}

std::string list_ops(const graph* graph)
{
    std::string list;
    for (int i = 0; i < graph->node_num; ++i) {
        const std::string domain = get_ir_node_domain(graph->node_list[i]);
        if (!list.empty()) list += ' ';
        if (!domain.empty()) list += domain + '.';
        list += get_ir_node_op(graph->node_list[i]);
    }
    return list;
}

bool lists_op(const char* list, const std::string& op)
{
    return ('|' + std::string(list) + '|').find('|' + op + '|') != std::string::npos;
}

// Asks the rows that raise `op` in order. Whether one accepted.
int raise_node(graph* graph, node* node, std::string* out_refusal)
{
    const std::string op = get_ir_node_op(node);
    for (int i = 0; i < get_op_method_count(); ++i) {
        const method* row = find_op_method_via_index(i);
        if (!row->raised_from || !lists_op(row->raised_from, op)) continue;
        const int status = row->raise(graph, node);
        if (status != OP_NOT_RAISED) return status;
        *out_refusal = tengine_error_message();
    }
    return OP_NOT_RAISED;
}

}  // namespace

Array make_array(std::vector<int> dims, int seed, double scale)
{
    Array made;
    made.values.resize(static_cast<size_t>(count_elements(dims)));
    for (size_t i = 0; i < made.values.size(); ++i)
        made.values[i] = static_cast<float>(std::sin(seed + 1.7 * static_cast<double>(i)) * scale);
    made.dims = std::move(dims);
    return made;
}

int64_t count_elements(const std::vector<int>& dims)
{
    int64_t num = 1;
    for (const int dim : dims)
        num *= dim;
    return num;
}

void expect_close(const Array& result, const Array& expected, double tolerance)
{
    ASSERT_EQ(result.dims, expected.dims);
    ASSERT_EQ(result.values.size(), expected.values.size());
    for (size_t i = 0; i < expected.values.size(); ++i)
        ASSERT_NEAR(result.values[i], expected.values[i],
                    tolerance * (1 + std::fabs(expected.values[i])))
            << "element " << i;
}

void TengineCase::GraphEnd::operator()(graph* graph) const
{
    postrun_ir_graph(graph);
    destroy_ir_graph(graph);
}

TengineCase::TengineCase(const std::string& op, int opset, int output_num)
{
    for (int i = 0; i < output_num; ++i)
        output_names_.push_back("y" + std::to_string(i));
    node_ = builder_.add(op, {}, output_names_, opset);
    std::vector<int32_t> tensors(node_->output_tensors, node_->output_tensors + output_num);
    EXPECT_EQ(set_ir_graph_output_tensor(builder_.get(), tensors.data(), output_num), TENGINE_OK);
}

void TengineCase::add_input(const std::string& name)
{
    EXPECT_EQ(set_ir_node_input_tensor(node_, node_->input_num, builder_.find(name)), TENGINE_OK);
}

TengineCase& TengineCase::input(const Array& value)
{
    const std::string name = "x" + std::to_string(node_->input_num);
    builder_.input(name, value.dims, value.data_type);
    fed_.push_back(value);
    add_input(name);
    return *this;
}

TengineCase& TengineCase::constant(const Array& value)
{
    const std::string name = "c" + std::to_string(node_->input_num);
    write(value, builder_.constant<uint8_t>(name, value.dims, {}, value.data_type));
    add_input(name);
    return *this;
}

TengineCase& TengineCase::absent()
{
    EXPECT_EQ(set_ir_node_input_tensor(node_, node_->input_num, nullptr), TENGINE_OK);
    return *this;
}

TengineCase& TengineCase::attr(const std::string& name, int value)
{
    EXPECT_EQ(set_node_int(node_, name.c_str(), value), TENGINE_OK) << tengine_error_message();
    return *this;
}

TengineCase& TengineCase::attr(const std::string& name, double value)
{
    EXPECT_EQ(set_node_float(node_, name.c_str(), static_cast<float>(value)), TENGINE_OK)
        << tengine_error_message();
    return *this;
}

TengineCase& TengineCase::attr(const std::string& name, const std::string& value)
{
    EXPECT_EQ(set_node_text(node_, name.c_str(), value.c_str(), value.size()), TENGINE_OK)
        << tengine_error_message();
    return *this;
}

TengineCase& TengineCase::attr(const std::string& name, const std::vector<int64_t>& values)
{
    EXPECT_EQ(set_node_ints(node_, name.c_str(), values.data(), static_cast<int>(values.size())),
              TENGINE_OK)
        << tengine_error_message();
    return *this;
}

TengineCase& TengineCase::attr(const std::string& name, const std::vector<float>& values)
{
    EXPECT_EQ(set_node_floats(node_, name.c_str(), values.data(), static_cast<int>(values.size())),
              TENGINE_OK)
        << tengine_error_message();
    return *this;
}

TengineCase& TengineCase::model_layout(int layout)
{
    builder_.get()->model_layout = static_cast<int8_t>(layout);
    return *this;
}

TengineCase& TengineCase::graph_layout(int layout)
{
    builder_.get()->graph_layout = static_cast<int8_t>(layout);
    return *this;
}

std::vector<Array> TengineCase::run()
{
    return run_graph(builder_.get(), fed_);
}

Array TengineCase::run_one()
{
    const std::vector<Array> results = run();
    return results.empty() ? Array{} : results[0];
}

void TengineCase::expect_failure(int code, const std::string& part)
{
    EXPECT_LT(prepare(builder_.get()), 0);
    EXPECT_EQ(tengine_error_code(), code);
    EXPECT_NE(std::string(tengine_error_message()).find(part), std::string::npos)
        << tengine_error_message();
}

bool TengineCase::is_lowered()
{
    tengine_error_clear();
    graph* execution = make_execution_graph(builder_.get());
    const bool made = execution;
    destroy_ir_graph(execution);
    return made;
}

std::string TengineCase::ops() const
{
    const graph* source = const_cast<IrBuilder&>(builder_).get();
    return source->core->execution ? list_ops(source->core->execution) : "";
}

// Raises as a writer does: ONNX of the newest opset, known shapes, folded constants, node by node.
bool TengineCase::raise()
{
    refusal_.clear();
    GraphPointer copy;
    tengine_error_clear();
    int status = copy_to_execution_graph(*builder_.get(), &copy);
    graph* made = copy.get();
    raised_.reset(copy.release());
    if (status == TENGINE_OK) status = lower_graph(*made);
    if (status == TENGINE_OK) status = remove_dead_code(*made);
    if (status == TENGINE_OK) status = tidy_graph(*made);
    if (status == TENGINE_OK) status = infer_graph(*made);
    if (status == TENGINE_OK) status = tidy_graph(*made);
    const int given = status == TENGINE_OK ? made->node_num : 0;
    for (int i = 0; i < given && status >= 0; ++i)
        status = raise_node(made, made->node_list[i], &refusal_);
    if (status >= 0) status = tidy_graph(*made);
    EXPECT_EQ(status, TENGINE_OK) << tengine_error_message();
    raised_ops_ = list_ops(made);
    return status == TENGINE_OK;
}

std::vector<Array> TengineCase::run_raised()
{
    if (!raise()) return {};
    return run_graph(raised_.get(), fed_);
}

double TengineCase::raised_attr(const std::string& name) const
{
    const node* first = raised_->node_list[0];
    const op_field_t* field = find_op_field(first->op.method, name.c_str(), first->op.version);
    if (!field) {
        ADD_FAILURE() << get_ir_node_op(first) << " has no attribute " << name;
        return 0;
    }
    return field->kind == OP_FIELD_INT
               ? static_cast<double>(get_ir_node_int(first, name.c_str(), 0))
               : get_ir_node_float(first, name.c_str(), 0);
}

void TengineCase::expect_refusal(const std::string& part)
{
    const std::string op = get_ir_node_op(node_);
    ASSERT_TRUE(raise());
    EXPECT_NE(refusal_.find(part), std::string::npos) << refusal_;
    EXPECT_NE((' ' + raised_ops_ + ' ').find(' ' + op + ' '), std::string::npos) << raised_ops_;
}

Array TengineCase::expect_raised(const std::string& ops, double tolerance)
{
    const std::vector<Array> plain = run();
    const std::vector<Array> raised = run_raised();
    EXPECT_EQ(raised_ops_, ops) << refusal_;
    EXPECT_EQ(plain.size(), raised.size());
    for (size_t i = 0; i < plain.size() && i < raised.size(); ++i)
        expect_close(raised[i], plain[i], tolerance);
    return raised.empty() ? Array{} : raised[0];
}

}  // namespace tengine::test
