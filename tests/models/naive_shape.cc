// SPDX-License-Identifier: Apache-2.0
// The contract is in naive_shape.h.
#include "models/naive_shape.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "tengine/inspect.h"
#include "tensor_file/failure.h"

namespace tengine::models {
namespace {

Shape input_shape(node_t node, int index = 0)
{
    return shape_of(get_node_input_tensor(node, index));
}

int number(node_t node, const char* name)
{
    int value = 0;
    if (get_node_attr_int(node, name, &value) < 0) throw tools::Failure(get_tengine_error());
    return value;
}

int product(Shape::const_iterator begin, Shape::const_iterator end)
{
    return std::accumulate(begin, end, 1, [](int left, int right) { return left * right; });
}

Shape same(node_t node)
{
    return input_shape(node);
}

Shape convolution(node_t node)
{
    const Shape data = input_shape(node), weight = input_shape(node, 1);
    const auto length = [&](int axis, const char* before, const char* after, const char* dilation,
                            const char* stride) {
        const int window = number(node, dilation) * (weight.at(axis) - 1) + 1;
        const int padded = data.at(axis) + number(node, before) + number(node, after);
        return (padded - window) / number(node, stride) + 1;
    };
    return {data.at(0), weight.at(0), length(2, "pad_h0", "pad_h1", "dilation_h", "stride_h"),
            length(3, "pad_w0", "pad_w1", "dilation_w", "stride_w")};
}

// caffe_flavor 0 rounds down, 1 up; the latter then drops a window that begins beyond input and
// leading padding.
int pooled(node_t node, int input, int kernel, int stride, int before, int after)
{
    const int flavor = number(node, "caffe_flavor");
    const int free = input + before + after - kernel;
    if (flavor == 0) return free / stride + 1;
    if (flavor != 1) throw tools::Failure("a flavour of Pooling that no sample has");
    int output = (free + stride - 1) / stride + 1;
    if ((before > 0 || after > 0) && (output - 1) * stride >= input + before) --output;
    return output;
}

Shape pooling(node_t node)
{
    const Shape data = input_shape(node);
    if (number(node, "global")) return {data.at(0), data.at(1), 1, 1};
    return {data.at(0), data.at(1),
            pooled(node, data.at(2), number(node, "kernel_h"), number(node, "stride_h"),
                   number(node, "pad_h0"), number(node, "pad_h1")),
            pooled(node, data.at(3), number(node, "kernel_w"), number(node, "stride_w"),
                   number(node, "pad_w0"), number(node, "pad_w1"))};
}

Shape concat(node_t node)
{
    const int axis = number(node, "axis");
    Shape joined = input_shape(node);
    for (int i = 1; i < get_node_input_number(node); ++i)
        joined.at(axis) += input_shape(node, i).at(axis);
    return joined;
}

// The shape has as many dimensions as the data; Tengine Lite pads it with ones.
Shape fully_connected(node_t node)
{
    Shape shape(input_shape(node).size(), 1);
    shape.at(0) = input_shape(node).at(0);
    shape.at(1) = number(node, "num_output");
    return shape;
}

Shape permute(node_t node)
{
    const Shape data = input_shape(node);
    return {data.at(number(node, "order0")), data.at(number(node, "order1")),
            data.at(number(node, "order2")), data.at(number(node, "order3"))};
}

Shape flatten(node_t node)
{
    const Shape data = input_shape(node);
    const int axis = number(node, "axis");
    const int stored = number(node, "end_axis");
    const int size = static_cast<int>(data.size());
    const int end = std::min(stored < 0 ? stored + size : stored, size - 1);
    Shape flat(data.begin(), data.begin() + axis);
    flat.push_back(product(data.begin() + axis, data.begin() + end + 1));
    flat.insert(flat.end(), data.begin() + end + 1, data.end());
    return flat;
}

// 0 copies a dimension, -1 takes the rest.
Shape reshape(node_t node)
{
    const Shape data = input_shape(node);
    const int* requested = nullptr;
    if (get_node_attr_pointer(node, "re_shape", &requested) < 0)
        throw tools::Failure(get_tengine_error());
    Shape shape(requested, requested + number(node, "dim_size"));
    for (size_t i = 0; i < shape.size(); ++i)
        if (shape[i] == 0) shape[i] = data.at(i);
    const int rest = product(data.begin(), data.end()) / -product(shape.begin(), shape.end());
    std::replace(shape.begin(), shape.end(), -1, rest);
    return shape;
}

// The boxes and variances of each position: 1 for every min size, 1 for every max size, and per min
// size 1 (or 2, flipped) for every aspect ratio.
Shape prior_box(node_t node)
{
    const Shape data = input_shape(node);
    const auto length = [&](const char* name) {
        return std::max(tengine_node_get_attr_number(node, name), 0);
    };
    const int ratios = length("aspect_ratio") * (number(node, "flip") ? 2 : 1);
    const int priors = length("min_size") * (1 + ratios) + length("max_size");
    return {data.at(0), 2, data.at(2) * data.at(3) * priors * 4, 1};
}

}  // namespace

Shape naive_shape(node_t node)
{
    static const std::map<std::string, Shape (*)(node_t)> rules = {
        {"Convolution", convolution},
        {"Pooling", pooling},
        {"Concat", concat},
        {"FullyConnected", fully_connected},
        {"Permute", permute},
        {"Flatten", flatten},
        {"Reshape", reshape},
        {"PriorBox", prior_box},
        {"Dropout", same},
        {"Eltwise", same},
        {"Lrn", same},
        {"ReLU", same},
        {"Softmax", same},
    };
    const auto rule = rules.find(get_node_op(node));
    if (rule == rules.end()) throw tools::Failure(std::string("no rule for ") + get_node_op(node));
    return rule->second(node);
}

}  // namespace tengine::models
