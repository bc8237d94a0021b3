// SPDX-License-Identifier: Apache-2.0
// Loads, shapes, feeds and prepares a model. The contract is in model.h; the options are declared
// in model_options.cc.
#include "model.h"

#include <algorithm>
#include <bitset>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>
#include <set>

#include "buckets.h"
#include "hints.h"
#include "input_file.h"
#include "named_value.h"
#include "progress.h"
#include "state.h"
#include "tengine/entry.h"
#include "tengine/graph.h"
#include "tengine/inspect.h"
#include "tengine/sequence.h"
#include "tengine/string.h"
#include "tensor_file/failure.h"
#include "tensor_file/small_element.h"
#include "tensor_file/tensor_file.h"

namespace tengine::tools {
namespace {

std::vector<std::string> input_names(graph_t graph)
{
    std::vector<std::string> names;
    for (int i = 0; i < tengine_graph_get_input_number(graph); ++i)
        names.emplace_back(get_tensor_name(tengine_graph_get_input(graph, i)));
    return names;
}

// Such a dimension is usually the batch, for which 1 is assumed.
bool is_only_first_free(const DeclaredShape& shape)
{
    return shape.has_rank && std::count(shape.dims.begin(), shape.dims.end(), -1) == 1 &&
           shape.dims[0] < 0;
}

// Printed once, however often the program loads the model.
void say_first_is_one(const std::string& path, const DeclaredShape& shape)
{
    static std::set<std::string> said;
    const std::string line = path + ": input '" + shape.input + "' is declared as " +
                             declared_text(shape) + ", run as " +
                             wanted_shape_text(shape).substr(shape.input.size() + 1) +
                             "; set it with --shape";
    if (!said.insert(line).second) return;
    wipe_progress();
    std::fprintf(stderr, "tengine: %s\n", line.c_str());
}

// The quantisation of an input.
struct ByteScale
{
    float scale = 0;
    int zero_point = 0;
    int lowest = 0;
};

// False: the input is not int8 or uint8 with one scale.
bool read_byte_scale(tensor_t input, ByteScale* scale)
{
    const int data_type = get_tensor_data_type(input);
    scale->lowest = data_type == TENGINE_DT_INT8 ? -128 : 0;
    return (data_type == TENGINE_DT_INT8 || data_type == TENGINE_DT_UINT8) &&
           get_tensor_quant_param(input, &scale->scale, &scale->zero_point, 1) == 1;
}

// Quantises real numbers for a quantised input; other values do not change.
Tensor quantise(tensor_t input, const Tensor& values)
{
    ByteScale by;
    if (!is_floating(values.data_type) || !read_byte_scale(input, &by)) return values;
    Tensor bytes =
        make_tensor(get_tensor_data_type(input), {values.shape.begin(), values.shape.end()});
    for (size_t i = 0; i < values.element_number(); ++i) {
        // As QuantizeLinear: the quotient of floats, ties to even.
        const float quotient = static_cast<float>(get_element(values, i)) / by.scale;
        const double nearest = std::nearbyint(double{quotient}) + by.zero_point;
        set_element(&bytes, i, std::clamp<double>(nearest, by.lowest, by.lowest + 255));
    }
    return bytes;
}

Tensor narrow(const std::string& subject, const Tensor& bytes, int data_type)
{
    try {
        return narrow_to_small(bytes, data_type);
    } catch (const Failure& failure) {
        throw Failure(subject + ": " + failure.what());
    }
}

}  // namespace

bool has_bodies(const std::string& op)
{
    return op == "If" || op == "Loop" || op == "Scan" || op == "SequenceMap";
}

const char* format_of(const std::string& path)
{
    for (int i = 0; i < tengine_format_get_number(); ++i) {
        const std::string ending = tengine_format_get_file_ending(i);
        if (!ending.empty() && has_ending(path, ending)) return tengine_format_get_name(i);
    }
    return nullptr;
}

std::string format_endings(const std::string& conjunction)
{
    std::string text;
    const int number = tengine_format_get_number();
    for (int i = 0; i < number; ++i)
        text += (i == 0           ? ""
                 : i + 1 < number ? ", "
                                  : " " + conjunction + " ") +
                std::string(tengine_format_get_file_ending(i));
    return text;
}

static int lend_texts(tensor_t tensor, const Tensor& value, const std::string& subject)
{
    std::vector<const char*> texts;
    for (const std::string& text : value.texts) {
        if (text.find('\0') != std::string::npos)
            throw Failure(subject + ": a string has a NUL, which none may");
        texts.push_back(text.c_str());
    }
    return tengine_string_set(tensor, texts.data(), static_cast<int>(texts.size()));
}

static int lend_bytes(tensor_t tensor, const Tensor& value)
{
    alignas(8) static char nothing;
    void* data = value.bytes.empty() ? static_cast<void*>(&nothing)
                                     : const_cast<std::byte*>(value.bytes.data());
    return set_tensor_buffer(tensor, data, static_cast<int>(value.bytes.size()));
}

void lend_tensor(tensor_t tensor, const Tensor& value, const std::string& subject)
{
    const bool has_texts = value.data_type == TENGINE_DT_STRING;
    if ((has_texts ? lend_texts(tensor, value, subject) : lend_bytes(tensor, value)) < 0)
        fail_api(subject);
}

Model::Model(const std::string& path, const ModelOptions& options)
    : name_(options.name.empty() ? path : options.name), options_(options)
{
    options_.image_values.model = path;
    context_.reset(create_context("tengine", options.devices.empty() ? 0 : 1));
    if (!context_) fail_api("context");
    fill_context();
    check_is_file(path);
    const char* format = format_of(path);
    graph_.reset(create_graph(context_.get(), format ? format : "onnx", path.c_str()));
    if (!graph_ && !format)
        throw Failure("'" + path + "' has an unknown model format: expected " +
                      format_endings("or") + "; read as ONNX: " + get_tengine_error());
    if (!graph_) fail_api(path);
    read_options();
}

bool Model::passes_names_over() const
{
    return options_.is_of_several ||
           (options_.has_all_entries && tengine_graph_get_entry_number(graph()) > 1);
}

// Applies the options that name inputs and nodes of the graph.
void Model::read_options()
{
    const std::vector<std::string> names = input_names(graph());
    std::vector<std::string> states = options_.states;
    if (passes_names_over())
        states.erase(std::remove_if(states.begin(), states.end(),
                                    [&](const std::string& pair) {
                                        const std::string name = pair.substr(0, pair.find('='));
                                        return std::find(names.begin(), names.end(), name) ==
                                               names.end();
                                    }),
                     states.end());
    keep_states(graph(), states);
    const std::vector<std::string> left = input_names(graph());
    shapes_ = name_values("--shape", take_state_shapes(), left, "input");
    files_ = name_values("--input", options_.inputs, left, "input");
    for (int i = 0; i < tengine_graph_get_input_number(graph()); ++i)
        declared_.push_back(model_shape(tengine_graph_get_input(graph(), i)));
    set_affinities();
    set_hints(graph(), options_.hints);
    add_buckets(graph(), options_.buckets, passes_names_over());
}

// Sets the shapes of states, and returns the other arguments of --shape.
std::vector<std::string> Model::take_state_shapes()
{
    std::vector<std::string> others;
    const std::vector<std::string> states = state_names(graph());
    const std::vector<std::string> inputs = input_names(graph());
    for (const std::string& shape : options_.shapes) {
        const std::string name = shape.substr(0, shape.rfind('='));
        const bool is_input = std::find(inputs.begin(), inputs.end(), name) != inputs.end();
        if (std::find(states.begin(), states.end(), name) == states.end()) {
            const bool is_named = shape.find('=') != std::string::npos;
            if (is_input || !is_named || !passes_names_over()) others.push_back(shape);
        } else {
            set_given_shape(name, shape.substr(shape.rfind('=') + 1));
        }
    }
    return others;
}

std::unique_ptr<Model> Model::open_entry(const std::string& entry) const
{
    std::unique_ptr<Model> other(new Model);
    other->graph_.reset(tengine_graph_open_entry(graph(), entry.c_str()));
    if (!other->graph_) fail_api(name_);
    other->name_ = name_;
    other->options_ = options_;
    other->options_.entry = entry;
    other->read_options();
    return other;
}

std::unique_ptr<Model> Model::share() const
{
    std::unique_ptr<Model> other(new Model);
    other->graph_.reset(tengine_graph_share(graph()));
    if (!other->graph_) fail_api(name_);
    other->name_ = name_;
    other->options_ = options_;
    other->shapes_ = shapes_;
    other->files_ = files_;
    other->declared_ = declared_;
    return other;
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
    if (!options_.entry.empty() &&
        tengine_context_set_option(context_.get(), "model.entry", options_.entry.c_str()) < 0)
        fail_api("--entry " + options_.entry);
}

void Model::set_affinities()
{
    for (const std::string& affinity : options_.affinities) {
        // The name of a node may contain a '=', those of devices do not.
        const size_t equals = affinity.rfind('=');
        const std::string nodes = affinity.substr(0, equals);
        const std::string devices = affinity.substr(equals + 1);
        if (tengine_graph_set_affinity(graph(), nodes.c_str(), devices.c_str()) < 0)
            fail_api("--affinity " + affinity);
    }
}

std::string Model::missing_shapes() const
{
    std::string options;
    for (const DeclaredShape& shape : declared_) {
        if (is_free(shape) && !is_only_first_free(shape) && shapes_.count(shape.input) == 0 &&
            files_.count(shape.input) == 0)
            options += (options.empty() ? "--shape " : " --shape ") + wanted_shape_text(shape);
    }
    return options;
}

static bool is_sequence(tensor_t tensor)
{
    const int type = get_tensor_data_type(tensor);
    return type >= TENGINE_DT_SEQUENCE && type != TENGINE_DT_UNKNOWN;
}

std::vector<int> Model::settle_shape(const DeclaredShape& declared) const
{
    if (is_sequence(get_graph_tensor(graph(), declared.input.c_str())))
        throw Failure(name_ + ": input '" + declared.input +
                      "' is a sequence or an optional value, which a program can give with "
                      "tengine_sequence_set, but no file");
    const auto given = shapes_.find(declared.input);
    if (given != shapes_.end()) return parse_shape(given->second);
    if (!is_free(declared)) return declared.dims;
    if (!is_only_first_free(declared))
        throw Failure(name_ + ": input '" + declared.input + "' is declared as " +
                      declared_text(declared) + "; set it with " + missing_shapes() +
                      (declared.has_rank ? ", with a number for each ?" : ", for example"));
    if (options_.says_guess) say_first_is_one(name_, declared);
    std::vector<int> shape = declared.dims;
    shape[0] = 1;
    return shape;
}

Tensor Model::read_input(tensor_t input, const DeclaredShape& declared, const std::string& file)
{
    ByteScale by;
    WantedTensor wanted;
    wanted.name = declared.input;
    wanted.data_type = get_tensor_data_type(input);
    wanted.picture_type = read_byte_scale(input, &by) ? TENGINE_DT_FP32 : wanted.data_type;
    const auto given = shapes_.find(declared.input);
    const bool is_given = given != shapes_.end();
    wanted.shape = is_given ? parse_shape(given->second) : declared.dims;
    wanted.has_rank = is_given || declared.has_rank;
    Tensor tensor = read_input_file(file, wanted, options_.image_values);
    if (is_given && tensor.shape != wanted.shape)
        throw Failure("input '" + declared.input + "': --shape is " + shape_text(wanted.shape) +
                      ", '" + file + "' holds " + shape_text(tensor.shape));
    return quantise(input, tensor);
}

Tensor Model::make_input(tensor_t input, const DeclaredShape& declared)
{
    const auto file = files_.find(declared.input);
    if (file != files_.end()) return read_input(input, declared, file->second);
    ByteScale by;
    const std::vector<int> shape = settle_shape(declared);
    const int data_type =
        read_byte_scale(input, &by) ? TENGINE_DT_FP32 : get_tensor_data_type(input);
    Tensor tensor = make_tensor(data_type, {shape.begin(), shape.end()});
    std::mt19937_64 engine(options_.seed + inputs_.size());
    fill_random(&engine, &tensor);
    return quantise(input, tensor);
}

void Model::set_inputs()
{
    inputs_.clear();
    const int number = tengine_graph_get_input_number(graph());
    inputs_.reserve(static_cast<size_t>(number));
    for (int i = 0; i < number; ++i) {
        tensor_t input = tengine_graph_get_input(graph(), i);
        const DeclaredShape& declared = declared_[static_cast<size_t>(i)];
        const std::string subject = "input '" + declared.input + "'";
        Tensor tensor = make_input(input, declared);
        tensor.name = declared.input;
        const int data_type = get_tensor_data_type(input);
        if (has_small_form(tensor, data_type)) tensor = narrow(subject, tensor, data_type);
        if (tensor.data_type != data_type)
            throw Failure(subject + ": the file holds " +
                          tengine_data_type_get_name(tensor.data_type) + ", the model takes " +
                          tengine_data_type_get_name(data_type));
        inputs_.push_back(std::move(tensor));
        const Tensor& lent = inputs_.back();
        if (set_tensor_shape(input, lent.shape.data(), static_cast<int>(lent.shape.size())) < 0)
            fail_api(subject);
        lend_tensor(input, lent, subject);
    }
}

void Model::set_given_shape(const std::string& name, const std::string& text)
{
    const std::vector<int> shape = parse_shape(text);
    tensor_t input = get_graph_tensor(graph(), name.c_str());
    if (set_tensor_shape(input, shape.data(), static_cast<int>(shape.size())) < 0)
        fail_api("input '" + name + "'");
}

void Model::set_given_shapes()
{
    for (const auto& [name, text] : shapes_)
        set_given_shape(name, text);
}

void Model::set_shape(const std::string& shape)
{
    for (const DeclaredShape& declared : declared_)
        shapes_[declared.input] = shape;
    set_inputs();
}

void Model::prepare(int threads)
{
    const size_t cores = options_.cores & get_cluster_affinity_mask(options_.cluster);
    if (options_.cores != 0 && cores == 0)
        throw Failure("--cores: none of them belongs to --cluster");
    if (threads <= 0) threads = static_cast<int>(std::bitset<64>(cores).count());
    const options_t options = {threads, options_.cluster, options_.precision, cores};
    if (prerun_graph_multithread(graph(), options) < 0) fail_api(name_);
}

// Integers decide the path of a model, and random ones may be invalid.
void Model::fail_run() const
{
    std::string made;
    for (const Tensor& input : inputs_)
        if (!is_floating(input.data_type) && files_.count(input.name) == 0)
            made += (made.empty() ? "'" : ", '") + input.name + "'";
    if (made.empty()) fail_api(name_);
    throw Failure(name_ + ": " + get_tengine_error() + "; " + made +
                  " had random numbers: give real ones with --input NAME=FILE");
}

void Model::run()
{
    if (run_graph(graph(), 1) < 0) fail_run();
}

void Model::start()
{
    if (run_graph(graph(), 0) < 0) fail_run();
}

void Model::finish()
{
    if (wait_graph(graph(), 0) < 0) fail_run();
}

// Element i of a sequence 's' is 's[i]'; an absent optional value has none.
static void add_elements(tensor_t sequence, std::vector<Tensor>* outputs)
{
    const std::string name = get_tensor_name(sequence);
    for (int i = 0; i < tengine_sequence_get_number(sequence); ++i) {
        tengine_element element = {};
        if (tengine_sequence_get(sequence, i, &element) < 0) fail_api("output '" + name + "'");
        Tensor tensor =
            make_tensor(element.data_type, {element.dims, element.dims + element.dim_number});
        tensor.name = name + "[" + std::to_string(i) + "]";
        const auto* texts = static_cast<const char* const*>(element.data);
        for (size_t k = 0; k < tensor.texts.size(); ++k)
            tensor.texts[k] = texts[k];
        if (!tensor.bytes.empty())
            std::memcpy(tensor.bytes.data(), element.data, tensor.bytes.size());
        outputs->push_back(std::move(tensor));
    }
}

std::vector<Tensor> Model::outputs() const
{
    std::vector<Tensor> outputs;
    for (int i = 0; i < tengine_graph_get_output_number(graph()); ++i) {
        tensor_t output = tengine_graph_get_output(graph(), i);
        if (is_sequence(output)) {
            add_elements(output, &outputs);
            continue;
        }
        outputs.push_back(
            copy_tensor(output, std::string("output '") + get_tensor_name(output) + "'"));
    }
    return outputs;
}

}  // namespace tengine::tools
