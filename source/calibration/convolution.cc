// SPDX-License-Identifier: Apache-2.0
#include "calibration/convolution.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "calibration/failure.h"
#include "calibration/graph_reader.h"
#include "tengine/graph.h"
#include "tengine/inspect.h"

namespace tengine::calibration {
namespace {

constexpr int kRounds = 20;
constexpr double kSmallChange = 0.01;  // of the logarithm of a scale

// A convolution of floats with a constant weight [outputs, inputs of a group, taps].
struct Convolution
{
    node_t node = nullptr;
    tensor_t weight_tensor = nullptr, bias_tensor = nullptr;  // null: no bias
    size_t outputs = 0, inputs = 0, taps = 1;
    Vector<float> weight, bias;
    bool is_bias_owned = true;  // by this node alone, or absent

    float* at(size_t output, size_t input) { return &weight[(output * inputs + input) * taps]; }
};

bool has_operator(node_t node, const char* op)
{
    return std::strcmp(get_node_op(node), op) == 0;
}

bool is_constant(tensor_t tensor)
{
    return tensor && tengine_tensor_get_type(tensor) == TENSOR_TYPE_CONST &&
           get_tensor_data_type(tensor) == TENGINE_DT_FP32;
}

bool is_alone(tensor_t tensor)
{
    return tengine_tensor_get_consumer_number(tensor) == 1;
}

Vector<float> read_floats(tensor_t tensor)
{
    const auto* values = static_cast<const float*>(get_tensor_buffer(tensor));
    if (!values) throw CallFailed{tengine_error_code()};
    const auto bytes = static_cast<size_t>(tengine_tensor_get_buffer_size(tensor));
    return {values, values + bytes / sizeof(float)};
}

int write_floats(tensor_t tensor, const Vector<float>& values)
{
    return tengine_tensor_set_data(tensor, values.data(), values.size() * sizeof(float)) < 0
               ? tengine_error_code()
               : TENGINE_OK;
}

// False: the node is none whose weight may be changed.
bool read_convolution(node_t node, Convolution* out)
{
    if (!has_operator(node, "Conv")) return false;
    const Vector<tensor_t> inputs = list_node_inputs(node);
    int dims[MAX_SHAPE_DIM_NUM];
    if (inputs.size() < 2 || !is_constant(inputs[1]) || !is_alone(inputs[1])) return false;
    const int dim_number = get_tensor_shape(inputs[1], dims, MAX_SHAPE_DIM_NUM);
    if (dim_number < 3) return false;
    out->node = node;
    out->weight_tensor = inputs[1];
    out->outputs = static_cast<size_t>(dims[0]);
    out->inputs = static_cast<size_t>(dims[1]);
    for (int i = 2; i < dim_number; ++i)
        out->taps *= static_cast<size_t>(dims[i]);
    out->weight = read_floats(inputs[1]);
    out->bias_tensor = inputs.size() > 2 ? inputs[2] : nullptr;
    if (!out->bias_tensor) return true;
    out->is_bias_owned = is_constant(out->bias_tensor) && is_alone(out->bias_tensor);
    if (out->is_bias_owned) out->bias = read_floats(out->bias_tensor);
    return true;
}

Vector<Convolution> list_convolutions(graph_t graph)
{
    Vector<Convolution> convolutions;
    for (node_t node : list_nodes(graph)) {
        Convolution convolution;
        if (read_convolution(node, &convolution)) convolutions.push_back(std::move(convolution));
    }
    return convolutions;
}

// The only reader of the node's result, behind a Relu; null if there is none.
node_t find_reader(node_t node, const Vector<tensor_t>& graph_outputs)
{
    for (;;) {
        const Vector<tensor_t> outputs = list_node_outputs(node);
        if (outputs.size() != 1 || !is_alone(outputs[0]) ||
            std::find(graph_outputs.begin(), graph_outputs.end(), outputs[0]) !=
                graph_outputs.end())
            return nullptr;
        node_t reader = tengine_tensor_get_consumer(outputs[0], 0);
        if (!reader) throw CallFailed{tengine_error_code()};
        if (!has_operator(reader, "Relu")) return reader;
        node = reader;
    }
}

struct Pair
{
    Convolution *first, *second;
};

// Second convolutions have one group, or one for each channel.
Vector<Pair> list_pairs(graph_t graph, Vector<Convolution>& convolutions)
{
    Vector<Pair> pairs;
    const Vector<tensor_t> outputs = list_outputs(graph);
    for (Convolution& first : convolutions) {
        const node_t reader = find_reader(first.node, outputs);
        for (Convolution& second : convolutions) {
            const bool is_depthwise = second.inputs == 1 && second.outputs % first.outputs == 0;
            if (second.node == reader && first.is_bias_owned &&
                (second.inputs == first.outputs || is_depthwise))
                pairs.push_back({&first, &second});
        }
    }
    return pairs;
}

double largest(const float* values, size_t number, double least)
{
    for (size_t i = 0; i < number; ++i)
        least = std::max(least, std::fabs(static_cast<double>(values[i])));
    return least;
}

void multiply(float* values, size_t number, double factor)
{
    for (size_t i = 0; i < number; ++i)
        values[i] = static_cast<float>(values[i] * factor);
}

// Calls visit(weights, count) for the weights of `second` that read a channel of `first`.
template <class Visit>
void visit_readers(const Pair& pair, size_t channel, const Visit& visit)
{
    Convolution& second = *pair.second;
    const bool is_whole = second.inputs == pair.first->outputs;
    const size_t copies = second.outputs / pair.first->outputs;
    const size_t begin = is_whole ? 0 : channel * copies;
    const size_t end = is_whole ? second.outputs : begin + copies;
    for (size_t output = begin; output < end; ++output)
        visit(second.at(output, is_whole ? channel : 0), second.taps);
}

// Returns the largest change of the logarithm of a scale.
double equalize_pair(const Pair& pair)
{
    Convolution& first = *pair.first;
    double change = 0;
    for (size_t channel = 0; channel < first.outputs; ++channel) {
        const size_t number = first.inputs * first.taps;
        const double before = largest(first.at(channel, 0), number, 0);
        double after = 0;
        visit_readers(pair, channel, [&](const float* weights, size_t count) {
            after = largest(weights, count, after);
        });
        const double scale = std::sqrt(before / after);  // the first one is divided by it
        if (!std::isfinite(scale) || scale == 0) continue;
        change = std::max(change, std::fabs(std::log(scale)));
        multiply(first.at(channel, 0), number, 1 / scale);
        if (first.bias_tensor) multiply(&first.bias[channel], 1, 1 / scale);
        visit_readers(pair, channel,
                      [&](float* weights, size_t count) { multiply(weights, count, scale); });
    }
    return change;
}

// ---- bias correction ----

// Element `index` of a weight of the quantised graph, int8 with a scale for each output or one.
class QuantizedWeight
{
  public:
    // False: the node's weight is not quantised.
    bool read(node_t node)
    {
        const tensor_t dequantized = list_node_inputs(node)[1];
        const node_t producer = tengine_tensor_get_producer(dequantized);
        if (!producer || !has_operator(producer, "DequantizeLinear")) return false;
        const Vector<tensor_t> inputs = list_node_inputs(producer);
        if (get_tensor_data_type(inputs[0]) != TENGINE_DT_INT8 || !is_constant(inputs[1]))
            return false;
        bytes_ = static_cast<const int8_t*>(get_tensor_buffer(inputs[0]));
        if (!bytes_) throw CallFailed{tengine_error_code()};
        scales_ = read_floats(inputs[1]);
        return true;
    }

    double value(size_t output, size_t index) const
    {
        return static_cast<double>(scales_[scales_.size() == 1 ? 0 : output]) * bytes_[index];
    }

  private:
    const int8_t* bytes_ = nullptr;
    Vector<float> scales_;
};

// The mean over the samples of (weight - quantised weight) x input.
double mean_error(Convolution& convolution, const QuantizedWeight& quantized, size_t output,
                  const ChannelMean& input)
{
    const size_t groups = input.sums.size() / convolution.inputs;
    const size_t first = output / (convolution.outputs / groups) * convolution.inputs;
    double error = 0;
    for (size_t channel = 0; channel < convolution.inputs; ++channel) {
        const float* weights = convolution.at(output, channel);
        double difference = 0;
        for (size_t tap = 0; tap < convolution.taps; ++tap)
            difference +=
                weights[tap] -
                quantized.value(output,
                                static_cast<size_t>(weights - convolution.weight.data()) + tap);
        error += difference * input.mean(first + channel);
    }
    return error;
}

// A constant of zeros as the bias of a convolution without one.
int add_bias(graph_t graph, Convolution* convolution)
{
    String name = String(get_node_name(convolution->node)) + "_corrected_bias";
    const int dims[] = {static_cast<int>(convolution->outputs)};
    const node_t node = create_graph_node(graph, name.c_str(), "Const");
    const tensor_t tensor = create_graph_tensor(graph, name.c_str(), TENGINE_DT_FP32);
    convolution->bias.assign(convolution->outputs, 0.0f);
    convolution->bias_tensor = tensor;
    if (!node || !tensor || set_node_output_tensor(node, 0, tensor, TENSOR_TYPE_CONST) < 0 ||
        set_tensor_shape(tensor, dims, 1) < 0 ||
        set_node_input_tensor(convolution->node, 2, tensor) < 0)
        return tengine_error_code();
    return TENGINE_OK;
}

int correct_bias(graph_t graph, Convolution* convolution, const QuantizedWeight& quantized,
                 const ChannelMean& input)
{
    if (!convolution->bias_tensor) TENGINE_RETURN_IF_ERROR(add_bias(graph, convolution));
    for (size_t output = 0; output < convolution->outputs; ++output)
        convolution->bias[output] = static_cast<float>(
            convolution->bias[output] + mean_error(*convolution, quantized, output, input));
    return write_floats(convolution->bias_tensor, convolution->bias);
}

}  // namespace

void ChannelMean::add(const float* values, const Vector<int>& shape)
{
    if (shape.size() < 3) return;
    const auto channels = static_cast<size_t>(shape[1]);
    size_t inner = 1;
    for (size_t i = 2; i < shape.size(); ++i)
        inner *= static_cast<size_t>(shape[i]);
    sums.resize(channels, 0.0);
    for (int batch = 0; batch < shape[0]; ++batch)
        for (size_t channel = 0; channel < channels; ++channel)
            for (size_t i = 0; i < inner; ++i)
                sums[channel] += *values++;
    number += static_cast<double>(shape[0]) * static_cast<double>(inner);
}

Set<String> list_convolved(graph_t graph)
{
    Set<String> names;
    for (const Convolution& convolution : list_convolutions(graph))
        names.insert(get_tensor_name(list_node_inputs(convolution.node)[0]));
    return names;
}

int equalize(graph_t graph)
{
    Vector<Convolution> convolutions = list_convolutions(graph);
    const Vector<Pair> pairs = list_pairs(graph, convolutions);
    double change = pairs.empty() ? 0 : 1;
    for (int round = 0; round < kRounds && change > kSmallChange; ++round) {
        change = 0;
        for (const Pair& pair : pairs)
            change = std::max(change, equalize_pair(pair));
    }
    for (const Pair& pair : pairs) {
        TENGINE_RETURN_IF_ERROR(write_floats(pair.first->weight_tensor, pair.first->weight));
        TENGINE_RETURN_IF_ERROR(write_floats(pair.second->weight_tensor, pair.second->weight));
        if (pair.first->bias_tensor)
            TENGINE_RETURN_IF_ERROR(write_floats(pair.first->bias_tensor, pair.first->bias));
    }
    return TENGINE_OK;
}

int correct_biases(graph_t graph, const QuantizedGraph& quantized,
                   const Map<String, ChannelMean>& means)
{
    Map<String, node_t> nodes;
    for (node_t node : list_nodes(quantized.graph.get()))
        nodes.emplace(get_node_name(node), node);
    for (Convolution& convolution : list_convolutions(graph)) {
        const auto node = nodes.find(get_node_name(convolution.node));
        const auto mean = means.find(get_tensor_name(list_node_inputs(convolution.node)[0]));
        QuantizedWeight weight;
        if (node == nodes.end() || mean == means.end() || mean->second.number == 0 ||
            !convolution.is_bias_owned || !weight.read(node->second))
            continue;
        TENGINE_RETURN_IF_ERROR(correct_bias(graph, &convolution, weight, mean->second));
    }
    return TENGINE_OK;
}

}  // namespace tengine::calibration
