// SPDX-License-Identifier: Apache-2.0
// Loads, shapes, feeds and prepares a model. The contract is in model.h; the options are declared
// in model_options.cc.
#include "model.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "tengine/inspect.h"
#include "tensor_file/failure.h"
#include "tensor_file/tensor_file.h"

namespace tengine::tools {
namespace {

// The part after "NAME=" of the option that names `name`, the last one if there are several; ""
// if none does.
std::string find_value(const std::vector<std::string>& pairs, const std::string& name)
{
    std::string value;
    for (const std::string& pair : pairs) {
        if (pair.size() > name.size() && pair[name.size()] == '=' &&
            pair.compare(0, name.size(), name) == 0)
            value = pair.substr(name.size() + 1);
    }
    return value;
}

std::vector<int64_t> parse_shape(const std::string& text)
{
    std::vector<int64_t> shape;
    if (text == "scalar") return shape;
    size_t begin = 0;
    while (begin <= text.size()) {
        const size_t end = std::min(text.find('x', begin), text.size());
        const std::string extent = text.substr(begin, end - begin);
        if (extent.empty() || extent.size() > 9 ||
            extent.find_first_not_of("0123456789") != std::string::npos)
            throw Failure("'" + text + "' is no shape; one looks like 1x3x224x224 or scalar");
        shape.push_back(std::stoll(extent));
        begin = end + 1;
    }
    return shape;
}

// A model with one input needs no name for its file.
void name_only_input(graph_t graph, std::vector<std::string>* inputs)
{
    if (tengine_graph_get_input_number(graph) != 1) return;
    const std::string name = get_tensor_name(tengine_graph_get_input(graph, 0));
    for (std::string& input : *inputs)
        if (input.find('=') == std::string::npos) input = name + "=" + input;
}

bool is_picture(const std::string& path)
{
    return !has_ending(path, ".npy") && !has_ending(path, ".pb");
}

std::string input_names(graph_t graph)
{
    std::string names;
    for (int i = 0; i < tengine_graph_get_input_number(graph); ++i)
        names += (names.empty() ? "'" : ", '") +
                 std::string(get_tensor_name(tengine_graph_get_input(graph, i))) + "'";
    return names;
}

// A misspelt name would otherwise go unnoticed.
void check_names(graph_t graph, const std::vector<std::string>& pairs, const char* option)
{
    for (const std::string& pair : pairs) {
        bool found = false;
        for (int i = 0; i < tengine_graph_get_input_number(graph); ++i) {
            const std::string name = get_tensor_name(tengine_graph_get_input(graph, i));
            found = found || !find_value({pair}, name).empty();
        }
        if (!found)
            throw Failure(std::string(option) + " '" + pair +
                          "' names no input of the model; these are " + input_names(graph));
    }
}

// How reals stand in the bytes of a quantised input.
struct ByteScale
{
    float scale = 0;
    int zero_point = 0;
    int lowest = 0;
};

// False: the input is not one of bytes with one scale.
bool read_byte_scale(tensor_t input, ByteScale* scale)
{
    const int data_type = get_tensor_data_type(input);
    scale->lowest = data_type == TENGINE_DT_INT8 ? -128 : 0;
    return (data_type == TENGINE_DT_INT8 || data_type == TENGINE_DT_UINT8) &&
           get_tensor_quant_param(input, &scale->scale, &scale->zero_point, 1) == 1;
}

// Reals as the nearest bytes, where the input takes bytes; others as they are.
Tensor quantise(tensor_t input, const Tensor& values)
{
    ByteScale by;
    if (!is_floating(values.data_type) || !read_byte_scale(input, &by)) return values;
    Tensor bytes =
        make_tensor(get_tensor_data_type(input), {values.shape.begin(), values.shape.end()});
    for (size_t i = 0; i < values.element_number(); ++i) {
        // As QuantizeLinear does: the quotient of floats, halves to the even number.
        const float quotient = static_cast<float>(get_element(values, i)) / by.scale;
        const double nearest = std::nearbyint(double{quotient}) + by.zero_point;
        set_element(&bytes, i, std::clamp<double>(nearest, by.lowest, by.lowest + 255));
    }
    return bytes;
}

}  // namespace

const char* format_of(const std::string& path)
{
    if (has_ending(path, ".tmfile")) return "tengine";
    return has_ending(path, ".onnx") ? "onnx" : nullptr;
}

void fail_api(const std::string& subject)
{
    throw Failure(subject + ": " + get_tengine_error());
}

Tensor describe_tensor(tensor_t tensor)
{
    Tensor result;
    result.name = get_tensor_name(tensor);
    result.data_type = get_tensor_data_type(tensor);
    int dims[MAX_SHAPE_DIM_NUM];
    const int dim_num = get_tensor_shape(tensor, dims, MAX_SHAPE_DIM_NUM);
    if (dim_num < 0) fail_api(result.name);
    result.shape.assign(dims, dims + dim_num);
    return result;
}

Model::Model(const std::string& path, const ModelOptions& options) : path_(path), options_(options)
{
    context_.reset(create_context("tengine", options.devices.empty() ? 0 : 1));
    if (context_ == nullptr) fail_api("context");
    fill_context();
    const char* format = format_of(path);
    graph_.reset(create_graph(context_.get(), format ? format : "onnx", path.c_str()));
    if (graph_ == nullptr) fail_api(path);
    name_only_input(graph(), &options_.inputs);
    check_names(graph(), options_.shapes, "--shape");
    check_names(graph(), options_.inputs, "--input");
    set_affinities();
}

void Model::fill_context()
{
    for (const std::string& device : options_.devices)
        if (add_context_device(context_.get(), device.c_str()) < 0) fail_api("--device " + device);
    for (const std::string& option : options_.options) {
        const size_t equals = option.find('=');
        const std::string key = option.substr(0, equals);
        const std::string value = option.substr(equals + 1);
        if (tengine_context_set_option(context_.get(), key.c_str(), value.c_str()) < 0)
            fail_api("--option " + option);
    }
}

void Model::set_affinities()
{
    for (const std::string& affinity : options_.affinities) {
        // A node's name may have a '=', a device's hardly.
        const size_t equals = affinity.rfind('=');
        const std::string nodes = affinity.substr(0, equals);
        const std::string devices = affinity.substr(equals + 1);
        if (tengine_graph_set_affinity(graph(), nodes.c_str(), devices.c_str()) < 0)
            fail_api("--affinity " + affinity);
    }
}

Tensor Model::make_input(tensor_t input, const Tensor& wanted)
{
    std::vector<int64_t> shape(wanted.shape.begin(), wanted.shape.end());
    for (int64_t& extent : shape)
        extent = extent < 0 ? 1 : extent;
    const std::string shape_option = find_value(options_.shapes, wanted.name);
    if (!shape_option.empty()) shape = parse_shape(shape_option);

    const std::string file = find_value(options_.inputs, wanted.name);
    if (!file.empty() && !is_picture(file)) return quantise(input, read_tensor(file));
    ByteScale by;
    Tensor tensor =
        make_tensor(read_byte_scale(input, &by) ? TENGINE_DT_FP32 : wanted.data_type, shape);
    if (file.empty()) {
        std::mt19937_64 engine(options_.seed + inputs_.size());
        fill_random(&engine, &tensor);
    } else {
        read_picture(file, options_.image_values, &tensor);
    }
    return quantise(input, tensor);
}

void Model::set_inputs()
{
    inputs_.clear();
    const int number = tengine_graph_get_input_number(graph());
    inputs_.reserve(static_cast<size_t>(number));
    for (int i = 0; i < number; ++i) {
        tensor_t input = tengine_graph_get_input(graph(), i);
        const Tensor wanted = describe_tensor(input);
        const std::string subject = "input '" + wanted.name + "'";
        Tensor tensor = make_input(input, wanted);
        tensor.name = wanted.name;
        if (tensor.data_type != wanted.data_type)
            throw Failure(subject + ": the file holds " +
                          tengine_data_type_get_name(tensor.data_type) + ", the model takes " +
                          tengine_data_type_get_name(wanted.data_type));
        inputs_.push_back(std::move(tensor));
        Tensor& lent = inputs_.back();
        if (lent.bytes.empty()) lent.bytes.reserve(1);
        if (set_tensor_shape(input, lent.shape.data(), static_cast<int>(lent.shape.size())) < 0 ||
            set_tensor_buffer(input, lent.bytes.data(), static_cast<int>(lent.bytes.size())) < 0)
            fail_api(subject);
    }
}

void Model::prepare(int threads)
{
    const options_t options = {threads, TENGINE_CLUSTER_ALL, options_.precision, 0};
    if (prerun_graph_multithread(graph(), options) < 0) fail_api(path_);
}

void Model::run()
{
    if (run_graph(graph(), 1) < 0) fail_api(path_);
}

std::vector<Tensor> Model::outputs() const
{
    std::vector<Tensor> outputs;
    for (int i = 0; i < tengine_graph_get_output_number(graph()); ++i) {
        tensor_t output = tengine_graph_get_output(graph(), i);
        const Tensor described = describe_tensor(output);
        Tensor tensor =
            make_tensor(described.data_type, {described.shape.begin(), described.shape.end()});
        tensor.name = described.name;
        if (!tensor.bytes.empty() &&
            get_tensor_data(output, tensor.bytes.data(), static_cast<int>(tensor.bytes.size())) < 0)
            fail_api("output '" + tensor.name + "'");
        outputs.push_back(std::move(tensor));
    }
    return outputs;
}

}  // namespace tengine::tools
