// SPDX-License-Identifier: Apache-2.0
// The contract is in model_run.h.
#include "fuzz/model_run.h"

#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <sys/resource.h>
#include <vector>

#include "fuzz/bounded_bodies.h"
#include "fuzz/refusal.h"
#include "graph/graph.h"
#include "support/run_cost.h"
#include "tengine/entry.h"
#include "tengine/inspect.h"
#include "tengine/metadata.h"
#include "tengine/sequence.h"
#include "tengine/string.h"

// Sanitizers need a large address space, so that only single blocks can be limited.
extern "C" const char* __asan_default_options()
{
    return "allocator_may_return_null=1:max_allocation_size_mb=1024";
}

namespace tengine::test {
namespace {

constexpr rlim_t kMostMemory = rlim_t{4} << 30;
constexpr int kRuns = 2;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kIsSanitised = true;
#elif defined(__has_feature)
constexpr bool kIsSanitised = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
constexpr bool kIsSanitised = false;
#endif

// A value other than a tensor has at most this many tensors, of this many bytes.
constexpr int kMostElements = 3;
constexpr size_t kElementBytes = 256;
constexpr const char* kTexts[] = {"", "a", "b", "ab c", "-7", "1e40", "\xc3\xa9"};

using Buffers = std::vector<std::vector<char>>;

bool is_container(int data_type)
{
    return data_type >= TENGINE_DT_SEQUENCE;
}

const char* some_text(std::mt19937* engine)
{
    return kTexts[(*engine)() % std::size(kTexts)];
}

void fix_shape(tensor_t input, std::mt19937* engine)
{
    int dims[MAX_SHAPE_DIM_NUM];
    const int number = get_tensor_shape(input, dims, MAX_SHAPE_DIM_NUM);
    bool is_open = false;
    for (int i = 0; i < number; ++i) {
        if (dims[i] >= 0) continue;
        dims[i] = static_cast<int>((*engine)() % 4) + 1;
        is_open = true;
    }
    if (is_open && set_tensor_shape(input, dims, number) != 0) note_refusal();
}

// Draws numbers that networks use, and sometimes those that an attacker may send.
template <class Number>
void fill(std::mt19937* engine, std::vector<char>* bytes)
{
    for (size_t at = 0; at + sizeof(Number) <= bytes->size(); at += sizeof(Number)) {
        const uint32_t bits = (*engine)();
        auto number = static_cast<Number>(static_cast<int>(bits % 9) - 4);
        if (bits % 64 == 63) std::memset(&number, bits % 128 == 63 ? 0x7f : 0xff, sizeof number);
        std::memcpy(bytes->data() + at, &number, sizeof number);
    }
}

void fill_input(int data_type, std::mt19937* engine, std::vector<char>* bytes)
{
    switch (data_type) {
        case TENGINE_DT_FP32:
            return fill<float>(engine, bytes);
        case TENGINE_DT_FP64:
            return fill<double>(engine, bytes);
        case TENGINE_DT_INT32:
            return fill<int32_t>(engine, bytes);
        case TENGINE_DT_INT64:
            return fill<int64_t>(engine, bytes);
        case TENGINE_DT_BOOL:
            bytes->assign(bytes->size(), static_cast<char>((*engine)() % 2));
            return;
        default:
            return fill<int8_t>(engine, bytes);
    }
}

// Sets a sequence or an optional value; the shapes of its elements are part of the model's shapes.
void fix_value(tensor_t input, std::mt19937* engine)
{
    const int container = get_tensor_data_type(input) / TENGINE_DT_SEQUENCE * TENGINE_DT_SEQUENCE;
    const int data_type = get_tensor_data_type(input) - container;
    const bool is_absent = container != TENGINE_DT_SEQUENCE && (*engine)() % 2 == 0;
    const int number = is_absent ? -1
                       : container == TENGINE_DT_OPTIONAL
                           ? 1
                           : static_cast<int>((*engine)() % (kMostElements + 1));
    std::vector<char> bytes(kElementBytes);
    std::vector<const char*> texts(kElementBytes, some_text(engine));
    fill_input(data_type, engine, &bytes);
    tengine_element elements[kMostElements] = {};
    for (tengine_element& element : elements) {
        element.data_type = data_type;
        element.dim_number = static_cast<int>((*engine)() % 3);
        for (int i = 0; i < element.dim_number; ++i)
            element.dims[i] = static_cast<int>((*engine)() % 4);
        element.data =
            data_type == TENGINE_DT_STRING ? static_cast<const void*>(texts.data()) : bytes.data();
    }
    if (tengine_sequence_set(input, elements, number) != 0) note_refusal();
}

int feed_texts(tensor_t input, std::mt19937* engine)
{
    int dims[MAX_SHAPE_DIM_NUM];
    const int number = get_tensor_shape(input, dims, MAX_SHAPE_DIM_NUM);
    size_t elements = 1;
    for (int i = 0; i < number; ++i)
        elements *= static_cast<size_t>(dims[i]);
    std::vector<const char*> texts(elements);
    for (const char*& text : texts)
        text = some_text(engine);
    return tengine_string_set(input, texts.data(), static_cast<int>(elements));
}

int feed_input(tensor_t input, std::mt19937* engine, Buffers* buffers)
{
    const int data_type = get_tensor_data_type(input);
    if (is_container(data_type)) return 0;
    if (data_type == TENGINE_DT_STRING) return feed_texts(input, engine);
    buffers->emplace_back(static_cast<size_t>(get_tensor_buffer_size(input)));
    fill_input(data_type, engine, &buffers->back());
    return set_tensor_buffer(input, buffers->back().data(),
                             static_cast<int>(buffers->back().size()));
}

bool feed_inputs(graph_t graph, std::mt19937* engine, Buffers* buffers)
{
    for (int i = 0; i < tengine_graph_get_input_number(graph); ++i) {
        tensor_t input = tengine_graph_get_input(graph, i);
        const int status = feed_input(input, engine, buffers);
        release_graph_tensor(input);
        if (status != 0) return false;
    }
    return true;
}

// Reads every byte, so that a sanitizer detects whether all exist.
void read_bytes(const void* memory, size_t size)
{
    volatile unsigned char last = 0;
    for (size_t at = 0; memory && at < size; ++at)
        last = static_cast<const unsigned char*>(memory)[at];
    (void)last;
}

void read_texts(const char* const* texts, size_t number)
{
    for (size_t i = 0; i < number; ++i)
        read_bytes(texts[i], std::strlen(texts[i]));
}

void read_value(tensor_t output)
{
    for (int i = 0; i < tengine_sequence_get_number(output); ++i) {
        tengine_element element;
        if (tengine_sequence_get(output, i, &element) != 0) return note_refusal();
        size_t number = 1;
        for (int k = 0; k < element.dim_number; ++k)
            number *= static_cast<size_t>(element.dims[k]);
        if (element.data_type == TENGINE_DT_STRING)
            read_texts(static_cast<const char* const*>(element.data), number);
        else if (get_data_type_bits(element.data_type) >= 8)
            read_bytes(element.data,
                       number * static_cast<size_t>(get_data_type_size(element.data_type)));
    }
}

void read_output(tensor_t output)
{
    const int data_type = get_tensor_data_type(output);
    if (is_container(data_type)) return read_value(output);
    if (data_type != TENGINE_DT_STRING)
        return read_bytes(get_tensor_buffer(output),
                          static_cast<size_t>(get_tensor_buffer_size(output)));
    int dims[MAX_SHAPE_DIM_NUM];
    size_t elements = 1;
    for (int i = get_tensor_shape(output, dims, MAX_SHAPE_DIM_NUM); i > 0; --i)
        elements *= static_cast<size_t>(dims[i - 1]);
    for (size_t i = 0; i < elements; ++i)
        if (const char* text = tengine_string_get(output, static_cast<int>(i)))
            read_bytes(text, std::strlen(text));
}

void read_outputs(graph_t graph)
{
    for (int i = 0; i < tengine_graph_get_output_number(graph); ++i) {
        tensor_t output = tengine_graph_get_output(graph, i);
        read_output(output);
        release_graph_tensor(output);
    }
}

options_t make_options(std::mt19937* engine)
{
    constexpr int kPrecisions[] = {TENGINE_MODE_FP32, TENGINE_MODE_FP32, TENGINE_MODE_FP16,
                                   TENGINE_MODE_BF16, TENGINE_MODE_INT8, TENGINE_MODE_UINT8};
    options_t options = {};
    options.num_thread = (*engine)() % 8 == 0 ? 2 : 1;
    options.precision = kPrecisions[(*engine)() % std::size(kPrecisions)];
    return options;
}

void bound_memory()
{
    const rlimit limit = {kMostMemory, kMostMemory};
    if (!kIsSanitised) setrlimit(RLIMIT_AS, &limit);
}

std::string seed_folder(int argument_num, char** arguments)
{
    std::string folder;
    for (int i = argument_num - 1; i > 0; --i) {
        const std::string argument = arguments[i];
        const bool is_option = argument[0] == '-';
        if (is_option && argument.find("merge") != std::string::npos) return "";
        if (!is_option) folder = argument;
    }
    return folder;
}

}  // namespace

int start_target(int argument_num, char** arguments, void (*write_seeds)(const std::string& folder))
{
    if (init_tengine() != 0) return -1;
    set_log_level(LOG_EMERG);
    bound_memory();
    const std::string folder = seed_folder(argument_num, arguments);
    if (!folder.empty()) write_seeds(folder);
    return 0;
}

// FNV-1a.
uint32_t seed_of(const uint8_t* data, size_t size)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < size; ++i)
        hash = (hash ^ data[i]) * 16777619u;
    return hash;
}

context_t make_context(uint32_t seed)
{
    context_t context = create_context("fuzz", 1);
    const auto devices = static_cast<uint32_t>(tengine_device_get_number());
    const char* device = tengine_device_get_name(static_cast<int>(seed % devices));
    if (!context || (std::string(device) != "CPU" && add_context_device(context, device) != 0) ||
        tengine_context_set_option(context, "memory.limit_mb", "256") != 0)
        std::abort();
    return context;
}

// Reads every string to its end.
static void read_metadata(graph_t graph)
{
    tengine_metadata metadata;
    size_t read = 0;
    if (tengine_graph_get_metadata(graph, &metadata, sizeof metadata) != 0) std::abort();
    for (const char* text : {metadata.graph_name, metadata.producer_name, metadata.producer_version,
                             metadata.domain, metadata.doc_string, metadata.graph_doc_string})
        read += std::strlen(text);
    for (int i = 0; i < metadata.property_number; ++i) {
        const char *key, *value;
        if (tengine_graph_get_property(graph, i, &key, &value) != 0) std::abort();
        read += std::strlen(key) + std::strlen(value);
    }
    for (int i = 0; i < get_graph_node_num(graph); ++i)
        read += std::strlen(tengine_node_get_doc_string(get_graph_node_by_idx(graph, i)));
    if (read > kMostMemory) std::abort();
}

void run_model(graph_t graph, uint32_t seed)
{
    std::mt19937 engine(seed);
    read_metadata(graph);
    for (int i = 0; i < tengine_graph_get_input_number(graph); ++i) {
        tensor_t input = tengine_graph_get_input(graph, i);
        if (is_container(get_tensor_data_type(input)))
            fix_value(input, &engine);
        else
            fix_shape(input, &engine);
        release_graph_tensor(input);
    }
    const int64_t cost = measure_run(static_cast<struct graph*>(graph));
    if (cost < 0) return note_refusal();
    if (cost > kLargestRun) return;
    if (prerun_graph_multithread(graph, make_options(&engine)) != 0) return note_refusal();
    bound_bodies(static_cast<struct graph*>(graph));
    Buffers buffers;
    bool is_running = feed_inputs(graph, &engine, &buffers);
    for (int i = 0; is_running && i < kRuns; ++i) {
        is_running = run_graph(graph, 1) == 0;
        if (is_running) read_outputs(graph);
    }
    if (is_running)
        ++run_inputs;
    else
        note_refusal();
    postrun_graph(graph);
}

void run_entries(graph_t graph, uint32_t seed)
{
    run_model(graph, seed);
    const int number = tengine_graph_get_entry_number(graph);
    if (number < 2) return;
    const char* name = tengine_graph_get_entry_name(graph, number - 1);
    graph_t other = tengine_graph_open_entry(graph, name);
    if (!other) return note_refusal();
    run_model(other, seed);
    if (seed % 2 == 0) run_model(graph, seed);
    destroy_graph(other);
}

}  // namespace tengine::test
