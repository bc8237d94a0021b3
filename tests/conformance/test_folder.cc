// SPDX-License-Identifier: Apache-2.0
// Loads, feeds, runs and compares. The contract is in test_folder.h.
#include "conformance/test_folder.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "conformance/compare.h"
#include "conformance/random_case.h"
#include "conformance/sequence_file.h"
#include "tengine/c_api.h"
#include "tengine/graph.h"
#include "tengine/inspect.h"
#include "tengine/sequence.h"
#include "tengine/string.h"
#include "tensor_file/failure.h"
#include "tensor_file/tensor_file.h"

namespace tengine::conformance {
namespace {

namespace fs = std::filesystem;
using tools::Failure;
using tools::Tensor;

struct NotSupported : Failure
{
    using Failure::Failure;
};

struct NotInOpset : Failure
{
    using Failure::Failure;
};

struct DestroyGraph
{
    void operator()(void* graph) const { destroy_graph(graph); }
};
struct DestroyContext
{
    void operator()(void* context) const { destroy_context(context); }
};
using Context = std::unique_ptr<void, DestroyContext>;
using Graph = std::unique_ptr<void, DestroyGraph>;

[[noreturn]] void fail_api(const std::string& step)
{
    const std::string reason = step + ": " + get_tengine_error();
    switch (get_tengine_errno()) {
        case TENGINE_ENOTSUP:
        case TENGINE_EOPERATOR:
        case TENGINE_EDTYPE:
        case TENGINE_ELIMIT:
            throw NotSupported(reason);
        default:
            throw Failure(reason);
    }
}

void check(int status, const std::string& step)
{
    if (status < 0) fail_api(step);
}

// Files that name an input are for it, the others are in the order of inputs.
tensor_t find_input(graph_t graph, const Tensor& value, size_t index)
{
    const int number = tengine_graph_get_input_number(graph);
    for (int i = 0; i < number; ++i) {
        tensor_t input = tengine_graph_get_input(graph, i);
        if (value.name == get_tensor_name(input)) return input;
    }
    if (index >= static_cast<size_t>(number))
        throw Failure("there are " + std::to_string(index + 1) +
                      " input files, but the model has " + std::to_string(number) + " inputs");
    return tengine_graph_get_input(graph, static_cast<int>(index));
}

// NumPy, with which the suite is written, has no bf16: the suite stores its bits as uint16.
void restore_bf16(int model_type, Tensor* value)
{
    if (model_type == TENGINE_DT_BF16 && value->data_type == TENGINE_DT_UINT16)
        value->data_type = TENGINE_DT_BF16;
}

std::vector<const char*> pointers_to(const Tensor& value)
{
    std::vector<const char*> texts;
    for (const std::string& text : value.texts)
        texts.push_back(text.c_str());
    return texts;
}

// Lends `value` to the graph, which reads it during the run.
void feed(tensor_t input, Tensor* value)
{
    const std::string step = std::string("input '") + get_tensor_name(input) + "'";
    const int model_type = get_tensor_data_type(input);
    restore_bf16(model_type, value);
    if (model_type != value->data_type)
        throw Failure(step + ": the model's type is " + tengine_data_type_get_name(model_type) +
                      ", the file's is " + tengine_data_type_get_name(value->data_type));
    check(set_tensor_shape(input, value->shape.data(), static_cast<int>(value->shape.size())),
          step);
    if (value->data_type == TENGINE_DT_STRING) {
        const std::vector<const char*> texts = pointers_to(*value);
        check(tengine_string_set(input, texts.data(), static_cast<int>(texts.size())), step);
        return;
    }
    const int size = static_cast<int>(value->bytes.size());
    if (size == 0) value->bytes.reserve(1);
    check(set_tensor_buffer(input, value->bytes.data(), size), step);
}

// ---- sequences and optional values ----

fs::path file_of(const fs::path& folder, const char* stem, size_t index)
{
    return folder / (stem + ("_" + std::to_string(index)) + ".pb");
}

bool is_container(tensor_t tensor)
{
    const int type = get_tensor_data_type(tensor);
    return type >= TENGINE_DT_SEQUENCE && type != TENGINE_DT_UNKNOWN;
}

Sequence read_value(const fs::path& file, tensor_t tensor)
{
    return read_sequence(file.string(), get_tensor_data_type(tensor) >= TENGINE_DT_OPTIONAL);
}

void feed_sequence(tensor_t input, const Sequence& sequence)
{
    std::vector<tengine_element> elements;
    std::vector<std::vector<const char*>> texts;
    for (const Tensor& tensor : sequence.elements) {
        texts.push_back(pointers_to(tensor));
        const void* data = tensor.data_type == TENGINE_DT_STRING
                               ? static_cast<const void*>(texts.back().data())
                               : tensor.bytes.data();
        tengine_element element = {
            tensor.data_type, static_cast<int>(tensor.shape.size()), {}, data};
        std::copy(tensor.shape.begin(), tensor.shape.end(), element.dims);
        elements.push_back(element);
    }
    const int number = sequence.is_absent ? -1 : static_cast<int>(elements.size());
    check(tengine_sequence_set(input, elements.data(), number), "input");
}

void compare_sequences(tensor_t output, const Sequence& expected)
{
    const int number = tengine_sequence_get_number(output);
    check(number, "output");
    if (number != static_cast<int>(expected.elements.size()) ||
        tengine_sequence_is_absent(output) != expected.is_absent)
        throw Failure("a sequence has " + std::to_string(number) + " elements, expected are " +
                      std::to_string(expected.elements.size()));
    for (int i = 0; i < number; ++i) {
        tengine_element element = {};
        check(tengine_sequence_get(output, i, &element), "output");
        Tensor actual = tools::make_tensor(element.data_type,
                                           {element.dims, element.dims + element.dim_number});
        const auto* texts = static_cast<const char* const*>(element.data);
        for (size_t k = 0; k < actual.texts.size(); ++k)
            actual.texts[k] = texts[k];
        if (!actual.bytes.empty())
            std::memcpy(actual.bytes.data(), element.data, actual.bytes.size());
        const std::string difference = compare(actual, expected.elements[static_cast<size_t>(i)]);
        if (!difference.empty())
            throw Failure("element " + std::to_string(i) + " of a sequence: " + difference);
    }
}

// ---- tensors ----

Tensor read_output(tensor_t output)
{
    const std::string step = std::string("output '") + get_tensor_name(output) + "'";
    int dims[MAX_SHAPE_DIM_NUM];
    const int dim_num = get_tensor_shape(output, dims, MAX_SHAPE_DIM_NUM);
    check(dim_num, step);
    Tensor value = tools::make_tensor(get_tensor_data_type(output), {dims, dims + dim_num});
    for (size_t i = 0; i < value.texts.size(); ++i) {
        const char* text = tengine_string_get(output, static_cast<int>(i));
        if (!text) fail_api(step);
        value.texts[i] = text;
    }
    if (value.data_type == TENGINE_DT_STRING) return value;
    const void* data = get_tensor_buffer(output);
    if (!data && !value.bytes.empty()) fail_api(step);
    if (!value.bytes.empty()) std::memcpy(value.bytes.data(), data, value.bytes.size());
    return value;
}

void compare_output(tensor_t output, const fs::path& file)
{
    if (is_container(output)) return compare_sequences(output, read_value(file, output));
    const Tensor actual = read_output(output);
    Tensor wanted = tools::read_tensor(file.string());
    restore_bf16(actual.data_type, &wanted);
    const std::string difference = compare(actual, wanted);
    if (!difference.empty())
        throw Failure(std::string("output '") + get_tensor_name(output) + "': " + difference);
}

// ---- random numbers ----

// Sets the seeds, so that every build draws the same numbers.
void set_seeds(graph_t graph, int seed)
{
    const float number = static_cast<float>(seed);
    for (int i = 0; i < get_graph_node_num(graph); ++i) {
        node_t node = get_graph_node_by_idx(graph, i);
        const std::string op = get_node_op(node);
        if (op == "Bernoulli" || op == "RandomUniformLike")
            check(set_node_attr_float(node, "seed", &number), "seed");
        else if (op == "Dropout" && get_node_input_number(node) > 1)
            check(set_node_attr_int(node, "seed", &seed), "seed");
        release_graph_node(node);
    }
}

void run_random(graph_t graph, const std::vector<Tensor>& inputs, const std::string& test,
                const std::vector<Tensor>& expected)
{
    RandomCase random(test, inputs);
    for (int seed = 1; seed <= RandomCase::kRunNumber; ++seed) {
        set_seeds(graph, seed);
        check(prerun_graph(graph), "prepare");
        check(run_graph(graph, 1), "run");
        std::vector<Tensor> outputs;
        for (int i = 0; i < tengine_graph_get_output_number(graph); ++i)
            outputs.push_back(read_output(tengine_graph_get_output(graph, i)));
        random.add(outputs, expected);
        check(postrun_graph(graph), "postrun");
    }
    random.judge();
}

size_t count_files(const fs::path& folder, const char* stem)
{
    size_t number = 0;
    while (fs::exists(file_of(folder, stem, number)))
        ++number;
    return number;
}

void compare_outputs(graph_t graph, const fs::path& folder)
{
    const size_t expected = count_files(folder, "output");
    if (expected == 0) throw Failure("output_0.pb is missing");
    const int number = tengine_graph_get_output_number(graph);
    if (expected != static_cast<size_t>(number))
        throw Failure("the model has " + std::to_string(number) + " outputs, expected are " +
                      std::to_string(expected));
    for (int i = 0; i < number; ++i)
        compare_output(tengine_graph_get_output(graph, i),
                       file_of(folder, "output", static_cast<size_t>(i)));
}

// Returns the values that are lent to the graph.
std::vector<Tensor> feed_all(graph_t graph, const fs::path& folder)
{
    const size_t number = count_files(folder, "input");
    std::vector<Tensor> lent(number);
    for (size_t i = 0; i < number; ++i) {
        const fs::path file = file_of(folder, "input", i);
        tensor_t input = i < static_cast<size_t>(tengine_graph_get_input_number(graph))
                             ? tengine_graph_get_input(graph, static_cast<int>(i))
                             : nullptr;
        if (input && is_container(input)) {
            feed_sequence(input, read_value(file, input));
            continue;
        }
        lent[i] = tools::read_tensor(file.string());
        feed(find_input(graph, lent[i], i), &lent[i]);
    }
    return lent;
}

// Null without a device: the library's default.
Context make_context(const RunSettings& settings)
{
    if (settings.device.empty() && settings.opset == 0) return nullptr;
    Context context(create_context("conformance", 1));
    if (!context) fail_api("context");
    std::vector<std::string> options = {"model.opset=" + std::to_string(settings.opset)};
    if (!settings.device.empty()) {
        check(add_context_device(context.get(), settings.device.c_str()), "device");
        // Small parts stay on the device, too.
        options.insert(options.end(), {"split.prune=0", "split.report=none"});
    }
    options.insert(options.end(), settings.options.begin(), settings.options.end());
    for (const std::string& option : options) {
        const size_t equals = option.find('=');
        const std::string value = equals == std::string::npos ? "" : option.substr(equals + 1);
        check(tengine_context_set_option(context.get(), option.substr(0, equals).c_str(),
                                         value.c_str()),
              "option " + option);
    }
    return context;
}

// Another instance of a prepared graph, which finds its packs.
Graph share(graph_t graph)
{
    check(prerun_graph(graph), "prepare");
    Graph instance(tengine_graph_share(graph));
    if (!instance) fail_api("share");
    return instance;
}

// Returns the graph after saving and loading.
Graph convert(context_t context, graph_t graph, const RunSettings& settings)
{
    const std::string& format = settings.through;
    if (format == "instance") return share(graph);
    const fs::path file = fs::temp_directory_path() /
                          ("tengine_converted_" + std::to_string(getpid()) + "." + format);
    const int status = save_graph(graph, format.c_str(), file.c_str());
    if (status < 0 && settings.opset > 0 && get_tengine_errno() == TENGINE_ENOTSUP)
        throw NotInOpset(get_tengine_error());
    const bool is_refused =
        get_tengine_errno() == TENGINE_EOPERATOR || get_tengine_errno() == TENGINE_EDTYPE;
    if (status < 0 && format == "tflite" && is_refused) throw NotInOpset(get_tengine_error());
    check(status, "save");
    Graph converted(create_graph(context, format.c_str(), file.c_str()));
    fs::remove(file);
    if (!converted) fail_api("load what was saved");
    return converted;
}

void count_nodes(graph_t graph, const std::string& device, Outcome* outcome)
{
    outcome->nodes = tengine_graph_get_execution_node_number(graph);
    check(outcome->nodes, "count nodes");
    for (int i = 0; i < outcome->nodes; ++i) {
        tengine_execution_node node = {};
        check(tengine_graph_get_execution_node(graph, i, &node), "count nodes");
        outcome->device_nodes += node.device == device;
    }
}

void run_data_set(context_t context, graph_t graph, const fs::path& folder,
                  const RunSettings& settings, Outcome* outcome)
{
    std::vector<Tensor> inputs = feed_all(graph, folder);
    Graph converted;
    if (!settings.through.empty()) {
        converted = convert(context, graph, settings);
        graph = converted.get();
        inputs = feed_all(graph, folder);
    }
    const std::string test = folder.parent_path().filename();
    if (RandomCase::is_one(test))
        return run_random(graph, inputs, test, read_tensors(folder, "output"));
    check(prerun_graph(graph), "prepare");
    if (outcome->nodes == 0) count_nodes(graph, settings.device, outcome);
    check(run_graph(graph, 1), "run");
    compare_outputs(graph, folder);
    if (settings.also) settings.also(graph, [&] { compare_outputs(graph, folder); });
}

std::vector<fs::path> data_sets(const fs::path& folder)
{
    std::vector<fs::path> sets;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
        if (entry.path().filename().string().rfind("test_data_set_", 0) == 0)
            sets.push_back(entry.path());
    }
    std::sort(sets.begin(), sets.end());
    if (sets.empty()) throw Failure("'" + folder.string() + "' holds no test_data_set_0");
    return sets;
}

void run_model(const fs::path& folder, const RunSettings& settings, Outcome* outcome)
{
    const Context context = make_context(settings);
    const std::string model = (folder / "model.onnx").string();
    const Graph graph(create_graph(context.get(), "onnx", model.c_str()));
    if (!graph) fail_api("load");
    for (const fs::path& set : data_sets(folder))
        run_data_set(context.get(), graph.get(), set, settings, outcome);
}

}  // namespace

std::vector<Tensor> read_tensors(const fs::path& folder, const std::string& stem)
{
    std::vector<Tensor> tensors;
    for (;;) {
        const fs::path file = folder / (stem + "_" + std::to_string(tensors.size()) + ".pb");
        if (!fs::exists(file)) return tensors;
        tensors.push_back(tools::read_tensor(file.string()));
    }
}

Outcome run_test_folder(const std::string& folder, const RunSettings& settings)
{
    Outcome outcome;
    try {
        run_model(folder, settings, &outcome);
    } catch (const NotSupported& failure) {
        outcome.verdict = Verdict::kNotSupported;
        outcome.reason = failure.what();
    } catch (const NotInOpset& failure) {
        outcome.verdict = Verdict::kNotInOpset;
        outcome.reason = failure.what();
    } catch (const std::exception& failure) {
        outcome.verdict = Verdict::kFailed;
        outcome.reason = failure.what();
    }
    return outcome;
}

std::string test_name(const std::string& folder)
{
    fs::path path = fs::path(folder).lexically_normal();
    if (!path.has_filename()) path = path.parent_path();
    return (path.parent_path().filename() / path.filename()).string();
}

}  // namespace tengine::conformance
