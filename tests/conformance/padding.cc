// SPDX-License-Identifier: Apache-2.0
#include "conformance/padding.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "support/corner.h"
#include "tengine/bucket.h"
#include "tengine/graph.h"
#include "tengine/inspect.h"
#include "tensor_file/failure.h"
#include "tensor_file/tensor.h"

namespace tengine::conformance {
namespace {

using test::count_elements;
using test::for_corner;
using tools::Failure;
using tools::Tensor;
using Dims = std::vector<int>;

struct DestroyGraph
{
    void operator()(void* graph) const { destroy_graph(graph); }
};
using Graph = std::unique_ptr<void, DestroyGraph>;

// Results that differ by more than this are other ones than those of another order of sums.
constexpr double kTolerance = 1e-4;

Tensor describe(tensor_t tensor)
{
    int dims[MAX_SHAPE_DIM_NUM];
    Tensor made;
    made.name = get_tensor_name(tensor);
    made.data_type = get_tensor_data_type(tensor);
    const int rank = get_tensor_shape(tensor, dims, MAX_SHAPE_DIM_NUM);
    if (rank < 0) throw Failure(made.name + ": no shape");
    made.shape.assign(dims, dims + rank);
    made.bytes.resize(static_cast<size_t>(get_tensor_buffer_size(tensor)));
    return made;
}

// Without data if the tensor has none.
Tensor copy(tensor_t tensor)
{
    Tensor made = describe(tensor);
    if (!made.bytes.empty() && get_tensor_data(tensor, made.bytes.data(), made.bytes.size()) < 0)
        throw Failure(made.name + ": " + get_tengine_error());
    return made;
}

bool is_plain(int data_type)
{
    const int bits = tengine_data_type_get_bits(data_type);
    return data_type != TENGINE_DT_STRING && bits >= 8 && bits <= 64 &&
           !tools::is_complex(data_type);
}

Tensor cut(const Tensor& whole, const Dims& shape)
{
    const size_t size = whole.bytes.size() / count_elements(whole.shape);
    Tensor part = whole;
    part.shape = shape;
    part.bytes.resize(size * count_elements(shape));
    for_corner(whole.shape, shape, [&](size_t from, size_t to) {
        std::memcpy(part.bytes.data() + to * size, whole.bytes.data() + from * size, size);
    });
    return part;
}

// The tensor with other values than those of the corner: NaN, or bytes that are not 0. Integers may
// be indices, for which padding with zeros is a promise.
Tensor spoil(const Tensor& whole, const Dims& corner)
{
    Tensor spoiled = whole;
    const double value = tools::is_floating(whole.data_type)
                             ? std::numeric_limits<double>::quiet_NaN()
                         : whole.bytes.size() == count_elements(whole.shape) ? 1
                                                                             : 0;
    const size_t size = whole.bytes.size() / count_elements(whole.shape);
    for (size_t i = 0; i < count_elements(whole.shape); ++i)
        tools::set_element(&spoiled, i, value);
    for_corner(whole.shape, corner, [&](size_t place, size_t) {
        std::memcpy(spoiled.bytes.data() + place * size, whole.bytes.data() + place * size, size);
    });
    return spoiled;
}

bool is_near(const Tensor& a, const Tensor& b)
{
    for (size_t i = 0; i < count_elements(a.shape); ++i) {
        const double one = tools::get_element(a, i), other = tools::get_element(b, i);
        if (std::isnan(one) && std::isnan(other)) continue;
        if (one == other) continue;
        const double limit = kTolerance * std::max(1.0, std::fabs(other));
        const bool is_near = tools::is_floating(a.data_type) && std::fabs(one - other) <= limit;
        if (!is_near) return false;
    }
    return true;
}

class Checker
{
  public:
    Checker(graph_t graph, PaddingCounts* counts) : graph_(graph), counts_(counts)
    {
        for (int i = 0; i < tengine_graph_get_input_number(graph); ++i)
            inputs_.push_back(copy(tengine_graph_get_input(graph, i)));
    }

    void check()
    {
        for (size_t i = 0; i < inputs_.size(); ++i)
            for (size_t axis = 0; axis < inputs_[i].shape.size(); ++axis)
                check_axis(i, axis);
    }

  private:
    // The input alone, and all inputs that have the same size there, counted from either end.
    void check_axis(size_t input, size_t axis)
    {
        const int dim = inputs_[input].shape[axis];
        const size_t from_end = inputs_[input].shape.size() - axis;
        for (const int shorter : {dim - 1, 1}) {
            if (shorter < 1 || shorter >= dim) continue;
            std::vector<Dims> alone, same_begin, same_end;
            for (size_t i = 0; i < inputs_.size(); ++i) {
                const Dims& shape = inputs_[i].shape;
                alone.push_back(shape);
                same_begin.push_back(shape);
                same_end.push_back(shape);
                if (i == input) alone.back()[axis] = shorter;
                if (axis < shape.size() && shape[axis] == dim) same_begin.back()[axis] = shorter;
                if (from_end <= shape.size() && shape[shape.size() - from_end] == dim)
                    same_end.back()[shape.size() - from_end] = shorter;
            }
            check_request(alone);
            if (same_begin != alone) check_request(same_begin);
            if (same_end != alone && same_end != same_begin) check_request(same_end);
            if (dim == 2) break;
        }
    }

    void check_request(const std::vector<Dims>& shapes)
    {
        std::string text;
        for (size_t i = 0; i < inputs_.size(); ++i) {
            if (inputs_[i].shape == shapes[i]) continue;
            if (!is_plain(inputs_[i].data_type)) return;
            text += (text.empty() ? "" : ",") + inputs_[i].name + "=";
            for (size_t k = 0; k < shapes[i].size(); ++k)
                text += (k == 0 ? "" : "x") + std::to_string(inputs_[i].shape[k]);
        }
        const Graph padded(tengine_graph_share(graph_)), plain(tengine_graph_share(graph_));
        if (!padded || !plain) throw Failure(std::string("an instance: ") + get_tengine_error());
        if (!prepare(plain.get(), shapes)) return;
        if (tengine_graph_add_bucket(padded.get(), text.c_str()) < 0)
            throw Failure(text + ": " + get_tengine_error());
        if (!prepare(padded.get(), shapes)) throw Failure(text + ": " + get_tengine_error());
        int bucket;
        const std::string message = tengine_graph_explain_bucket(padded.get(), &bucket);
        ++(bucket < 0 ? counts_->not_exact : counts_->exact);
        if (bucket >= 0) compare(padded.get(), plain.get(), shapes, message);
    }

    static bool prepare(graph_t graph, const std::vector<Dims>& shapes)
    {
        for (size_t i = 0; i < shapes.size(); ++i)
            if (set_tensor_shape(tengine_graph_get_input(graph, static_cast<int>(i)),
                                 shapes[i].data(), static_cast<int>(shapes[i].size())) < 0)
                return false;
        return prerun_graph(graph) == 0;
    }

    static bool run(graph_t graph, const std::vector<Tensor>& inputs)
    {
        for (size_t i = 0; i < inputs.size(); ++i)
            if (!inputs[i].bytes.empty() &&
                tengine_tensor_set_data(tengine_graph_get_input(graph, static_cast<int>(i)),
                                        inputs[i].bytes.data(), inputs[i].bytes.size()) < 0)
                throw Failure(inputs[i].name + ": " + get_tengine_error());
        return run_graph(graph, 1) == 0;
    }

    void compare(graph_t padded, graph_t plain, const std::vector<Dims>& shapes,
                 const std::string& message)
    {
        std::vector<Tensor> own, spoiled;
        std::vector<Dims> whole;
        for (size_t i = 0; i < inputs_.size(); ++i) {
            const bool is_cut = shapes[i] != inputs_[i].shape;
            own.push_back(is_cut ? cut(inputs_[i], shapes[i]) : inputs_[i]);
            spoiled.push_back(is_cut ? spoil(inputs_[i], shapes[i]) : inputs_[i]);
            whole.push_back(inputs_[i].shape);
        }
        if (!run(plain, own)) return;  // a value that the shapes do not allow
        if (!run(padded, own)) throw Failure(message + ": " + get_tengine_error());
        const Graph larger(tengine_graph_share(graph_));
        if (!prepare(larger.get(), whole) || !run(larger.get(), spoiled))
            throw Failure(message + ", with NaN: " + get_tengine_error());
        for (int i = 0; i < tengine_graph_get_output_number(plain); ++i) {
            const Tensor expected = copy(tengine_graph_get_output(plain, i));
            const Tensor given = copy(tengine_graph_get_output(padded, i));
            const Tensor with_nan = copy(tengine_graph_get_output(larger.get(), i));
            require(given, expected, message);
            require(cut(with_nan, expected.shape), expected, message + ", with NaN");
        }
    }

    void require(const Tensor& given, const Tensor& expected, const std::string& message)
    {
        if (given.shape != expected.shape || given.data_type != expected.data_type)
            throw Failure(message + ": output '" + expected.name + "' has another shape or type");
        if (given.bytes == expected.bytes) return;
        if (!is_plain(given.data_type) || !is_near(given, expected))
            throw Failure(message + ": output '" + expected.name + "' differs");
        ++counts_->other_bits;
    }

    graph_t graph_;
    PaddingCounts* counts_;
    std::vector<Tensor> inputs_;
};

// Whether all inputs are tensors of numbers, with elements.
bool has_numbers(graph_t graph)
{
    for (int i = 0; i < tengine_graph_get_input_number(graph); ++i) {
        const int type = get_tensor_data_type(tengine_graph_get_input(graph, i));
        if (type < 0 || tengine_data_type_get_bits(type) <= 0 || type == TENGINE_DT_STRING)
            return false;
        if (count_elements(describe(tengine_graph_get_input(graph, i)).shape) == 0) return false;
    }
    return true;
}

}  // namespace

void check_padding(graph_t graph, const std::function<void()>& compare, PaddingCounts* counts)
{
    compare();
    if (has_numbers(graph)) Checker(graph, counts).check();
}

}  // namespace tengine::conformance
