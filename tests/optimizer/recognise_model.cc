// SPDX-License-Identifier: Apache-2.0
#include "optimizer/recognise_model.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <sstream>

#include "graph/graph.h"
#include "operator/param.h"
#include "scheduler/scheduler.h"

namespace tengine::test {
namespace {

int64_t count(const Dims& dims)
{
    int64_t number = 1;
    for (const int dim : dims)
        number *= dim;
    return number;
}

// The element of a tensor that broadcasts to `dims` at a place there.
double at(const NamedTensor& value, const Dims& dims, int64_t place)
{
    int64_t index = 0, step = 1;
    for (size_t i = dims.size(); i-- > 0; place /= dims[i]) {
        const size_t skipped = dims.size() - value.dims.size();
        if (i < skipped) continue;
        const int dim = value.dims[i - skipped];
        if (dim > 1) index += place % dims[i] * step;
        step *= dim;
    }
    return value.values[static_cast<size_t>(index)];
}

Dims broadcast(const std::vector<NamedTensor>& values)
{
    Dims dims;
    for (const NamedTensor& value : values) {
        if (value.dims.size() > dims.size())
            dims.insert(dims.begin(), value.dims.size() - dims.size(), 1);
        const size_t skipped = dims.size() - value.dims.size();
        for (size_t i = 0; i < value.dims.size(); ++i)
            dims[skipped + i] = std::max(dims[skipped + i], value.dims[i]);
    }
    return dims;
}

using Arguments = std::vector<double>;

double compute_element(const NamedNode& node, const Arguments& a)
{
    const auto attribute = [&](const char* name) { return node.floats.at(name); };
    const std::map<std::string, std::function<double()>> functions = {
        {"Add", [&] { return a[0] + a[1]; }},
        {"Sub", [&] { return a[0] - a[1]; }},
        {"Mul", [&] { return a[0] * a[1]; }},
        {"Div", [&] { return a[0] / a[1]; }},
        {"Pow", [&] { return std::pow(a[0], a[1]); }},
        {"Max", [&] { return std::max(a[0], a[1]); }},
        {"Erf", [&] { return std::erf(a[0]); }},
        {"Tanh", [&] { return std::tanh(a[0]); }},
        {"Abs", [&] { return std::fabs(a[0]); }},
        {"Sqrt", [&] { return std::sqrt(a[0]); }},
        {"Exp", [&] { return std::exp(a[0]); }},
        {"Reciprocal", [&] { return 1 / a[0]; }},
        {"Sigmoid", [&] { return 1 / (1 + std::exp(-a[0])); }},
        {"Softsign", [&] { return a[0] / (1 + std::fabs(a[0])); }},
        {"Clip", [&] { return std::min(std::max(a[0], a[1]), a[2]); }},
        {"HardSigmoid",
         [&] {
             return std::min(std::max(attribute("alpha") * a[0] + attribute("beta"), 0.0), 1.0);
         }},
    };
    return functions.at(node.op)();
}

// Along some axes; keepdims is 1 unless the node says otherwise.
NamedTensor reduce(const NamedNode& node, const NamedTensor& x, const std::vector<int64_t>& axes)
{
    NamedTensor result = {node.output, x.dims, {}};
    double number = 1;
    for (const int64_t axis : axes) {
        const size_t place = static_cast<size_t>(axis < 0 ? axis + int64_t(x.dims.size()) : axis);
        number *= x.dims[place];
        result.dims[place] = 1;
    }
    const bool is_mean = node.op == "ReduceMean";
    result.values.assign(static_cast<size_t>(count(result.dims)), is_mean ? 0 : -INFINITY);
    NamedTensor places = result;
    for (size_t i = 0; i < places.values.size(); ++i)
        places.values[i] = static_cast<double>(i);
    for (int64_t i = 0; i < count(x.dims); ++i) {
        double& to = result.values[static_cast<size_t>(at(places, x.dims, i))];
        const double each = x.values[static_cast<size_t>(i)];
        to = is_mean ? to + each / number : std::max(to, each);
    }
    if (node.ints.count("keepdims") != 0 && node.ints.at("keepdims") == 0)
        for (const int64_t axis : axes)
            result.dims.erase(result.dims.begin() +
                              (axis < 0 ? axis + int64_t(x.dims.size()) : axis));
    return result;
}

// The element of a tensor of rank four.
double& at(NamedTensor& value, int i, int j, int k, int l)
{
    const Dims& d = value.dims;
    const int64_t index = ((i * int64_t{d[1]} + j) * d[2] + k) * d[3] + l;
    return value.values[static_cast<size_t>(index)];
}

template <class Work>
void for_each_place(const Dims& dims, const Work& work)
{
    for (int i = 0; i < dims[0]; ++i)
        for (int j = 0; j < dims[1]; ++j)
            for (int k = 0; k < dims[2]; ++k)
                for (int l = 0; l < dims[3]; ++l)
                    work(i, j, k, l);
}

NamedTensor multiply(NamedTensor a, NamedTensor b)
{
    NamedTensor result = {"", {a.dims[0], a.dims[1], a.dims[2], b.dims[3]}, {}};
    result.values.resize(static_cast<size_t>(count(result.dims)));
    for_each_place(result.dims, [&](int i, int j, int k, int l) {
        for (int m = 0; m < a.dims[3]; ++m)
            at(result, i, j, k, l) += at(a, i, j, k, m) * at(b, i, j, m, l);
    });
    return result;
}

NamedTensor transpose(NamedTensor x, const std::vector<int64_t>& order)
{
    NamedTensor result = x;
    for (size_t i = 0; i < 4; ++i)
        result.dims[i] = x.dims[static_cast<size_t>(order[i])];
    for_each_place(result.dims, [&](int i, int j, int k, int l) {
        const int to[] = {i, j, k, l};
        int from[4];
        for (size_t axis = 0; axis < 4; ++axis)
            from[order[axis]] = to[axis];
        at(result, i, j, k, l) = at(x, from[0], from[1], from[2], from[3]);
    });
    return result;
}

// Along an axis of a tensor of rank four.
NamedTensor normalize_exponentials(NamedTensor x, int64_t axis)
{
    NamedTensor sums = x;
    sums.dims[static_cast<size_t>(axis)] = 1;
    sums.values.assign(static_cast<size_t>(count(sums.dims)), 0);
    const auto sum = [&](int i, int j, int k, int l) -> double& {
        int place[] = {i, j, k, l};
        place[axis] = 0;
        return at(sums, place[0], place[1], place[2], place[3]);
    };
    for (double& each : x.values)
        each = std::exp(each);
    for_each_place(x.dims,
                   [&](int i, int j, int k, int l) { sum(i, j, k, l) += at(x, i, j, k, l); });
    for_each_place(x.dims,
                   [&](int i, int j, int k, int l) { at(x, i, j, k, l) /= sum(i, j, k, l); });
    return x;
}

NamedTensor compute_node(const SmallModel& model, const NamedNode& node,
                         const std::vector<NamedTensor>& inputs)
{
    if (node.op == "ReduceMean" || node.op == "ReduceMax")
        return reduce(node, inputs[0], model.axes.at(node.output));
    if (node.op == "MatMul") return multiply(inputs[0], inputs[1]);
    if (node.op == "Transpose") return transpose(inputs[0], model.axes.at(node.output));
    if (node.op == "Softmax") return normalize_exponentials(inputs[0], node.ints.at("axis"));
    NamedTensor result = {node.output, broadcast(inputs), {}};
    for (int64_t i = 0; i < count(result.dims); ++i) {
        Arguments arguments;
        for (const NamedTensor& input : inputs)
            arguments.push_back(at(input, result.dims, i));
        result.values.push_back(compute_element(node, arguments));
    }
    return result;
}

template <class T>
std::vector<T> convert(const std::vector<double>& values)
{
    return std::vector<T>(values.begin(), values.end());
}

NamedTensor round_to_type(const SmallModel& model, NamedTensor value)
{
    if (model.data_type == TENGINE_DT_FP32)
        for (double& each : value.values)
            each = static_cast<float>(each);
    return value;
}

}  // namespace

void SmallModel::add_nodes(const std::string& text)
{
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line, ';');) {
        std::istringstream words(line);
        NamedNode made;
        std::string equals;
        words >> made.output >> equals >> made.op;
        for (std::string input; words >> input;)
            made.inputs.push_back(input);
        if (made.op == "Softmax") made.ints = {{"axis", 3}};
        if (made.op == "HardSigmoid") made.floats = {{"alpha", 1.0f / 6}, {"beta", 0.5}};
        nodes.push_back(made);
    }
}

NamedTensor& SmallModel::constant(const std::string& name)
{
    return *std::find_if(constants.begin(), constants.end(),
                         [&](const NamedTensor& each) { return each.name == name; });
}

NamedNode& SmallModel::node(const std::string& output)
{
    return *std::find_if(nodes.begin(), nodes.end(),
                         [&](const NamedNode& each) { return each.output == output; });
}

std::vector<NamedTensor> compute(const SmallModel& model)
{
    std::map<std::string, NamedTensor> known;
    for (const std::vector<NamedTensor>* list : {&model.inputs, &model.constants})
        for (const NamedTensor& each : *list)
            known[each.name] = round_to_type(model, each);
    for (const NamedNode& node : model.nodes) {
        std::vector<NamedTensor> inputs;
        for (const std::string& name : node.inputs)
            inputs.push_back(known.at(name));
        known[node.output] = compute_node(model, node, inputs);
    }
    std::vector<NamedTensor> results;
    for (const std::string& name : model.outputs)
        results.push_back(known.at(name));
    return results;
}

void build(const SmallModel& model, IrBuilder* builder)
{
    const auto fill = [&](tensor& made, const std::vector<double>& values) {
        for (size_t i = 0; i < values.size(); ++i)
            if (model.data_type == TENGINE_DT_FP64)
                static_cast<double*>(made.data)[i] = values[i];
            else
                made.f32[i] = static_cast<float>(values[i]);
    };
    for (const NamedTensor& each : model.inputs) {
        tensor* made = builder->input(each.name, each.dims, model.data_type);
        ASSERT_EQ(allocate_ir_tensor(made), TENGINE_OK);
        fill(*made, each.values);
    }
    for (const NamedTensor& each : model.constants) {
        if (model.data_type == TENGINE_DT_FP64)
            builder->constant(each.name, each.dims, each.values, TENGINE_DT_FP64);
        else
            builder->floats(each.name, each.dims, convert<float>(each.values));
    }
    for (const NamedNode& each : model.nodes) {
        std::vector<std::string> inputs = each.inputs;
        const auto axes = model.axes.find(each.output);
        const bool is_order = each.op == "Transpose";
        if (axes != model.axes.end() && !is_order) {
            builder->ints(each.output + "_axes", axes->second);
            inputs.push_back(each.output + "_axes");
        }
        ::node* made = builder->add(each.op, inputs, {each.output});
        if (is_order) {
            ASSERT_EQ(set_node_ints(made, "perm", axes->second.data(), 4), TENGINE_OK);
        }
        for (const auto& [name, value] : each.floats)
            ASSERT_EQ(set_node_float(made, name.c_str(), static_cast<float>(value)), TENGINE_OK);
        for (const auto& [name, value] : each.ints)
            ASSERT_EQ(set_node_int(made, name.c_str(), value), TENGINE_OK);
    }
    std::vector<int32_t> outputs;
    for (const std::string& name : model.outputs)
        outputs.push_back(builder->find(name)->index);
    ASSERT_EQ(set_ir_graph_output_tensor(builder->get(), outputs.data(),
                                         static_cast<int>(outputs.size())),
              TENGINE_OK);
}

std::vector<NamedTensor> run(const SmallModel& model, IrBuilder& builder)
{
    ir_run_options_t options = {};
    options.num_thread = 1;
    EXPECT_EQ(prerun_ir_graph(builder.get(), &options), TENGINE_OK) << tengine_error_message();
    EXPECT_EQ(run_ir_graph(builder.get(), 1), TENGINE_OK) << tengine_error_message();
    std::vector<NamedTensor> results;
    for (const std::string& name : model.outputs) {
        const tensor* value = builder.find(name);
        NamedTensor result = {name, {value->dims, value->dims + value->dim_num}, {}};
        for (int64_t i = 0; i < value->elem_num; ++i)
            result.values.push_back(value->data_type == TENGINE_DT_FP64
                                        ? static_cast<const double*>(value->data)[i]
                                        : static_cast<double>(value->f32[i]));
        results.push_back(result);
    }
    return results;
}

Operators list_operators(const graph& execution)
{
    Operators operators;
    for (int i = 0; i < execution.node_num; ++i)
        operators.push_back(get_ir_node_op(execution.node_list[i]));
    return operators;
}

}  // namespace tengine::test
