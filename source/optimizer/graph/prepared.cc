// SPDX-License-Identifier: Apache-2.0
// Preparations that the model's file has (graph/prepared.h): the terms they are for, and reading. A
// failure does not fail the preparation: it is logged, and the passes make the graph.
#include "graph/prepared.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "base/alloc.h"
#include "base/containers.hpp"
#include "base/guard.hpp"
#include "base/minimal.h"
#include "base/print_text.hpp"
#include "graph/graph.h"
#include "graph/graph_pool.h"
#include "graph/model_part.h"
#include "graph/option.h"
#include "graph/variant.h"
#include "operator/infer.h"
#include "operator/param.h"
#include "optimizer/optimizer.h"
#include "optimizer/pass.h"
#include "optimizer/placement/candidates.h"
#include "optimizer/placement/variant.h"
#include "tengine/version.h"

namespace tengine {
namespace {

// ---- terms ----

constexpr const char* kModes[] = {"fp32", "fp16", "hybrid_int8", "uint8", "int8", "bf16"};
static_assert(TENGINE_MODE_FP32 == 0 && TENGINE_MODE_FP16 == 1 && TENGINE_MODE_HYBRID_INT8 == 2 &&
              TENGINE_MODE_UINT8 == 3 && TENGINE_MODE_INT8 == 4 && TENGINE_MODE_BF16 == 5);

int fail(const char* reason)
{
    return tengine_error_set(TENGINE_ENOTSUP, "%s", reason);
}

int check_devices(const graph& source)
{
    const ir_context_t* context = source.attribute->context;
    for (const device* device : list_graph_devices(source)) {
        const ir_context_device_t* entry =
            context ? find_ir_context_device(context, device) : nullptr;
        if (IS_RUNTIME_ONLY && device->allocator->survey)
            return tengine_error_set(TENGINE_ENOTSUP, "the device %s surveys the graph",
                                     device->name);
        if (entry && entry->options)
            return tengine_error_set(TENGINE_ENOTSUP, "the device %s has an option struct",
                                     device->name);
    }
    return TENGINE_OK;
}

int check_source(const graph& source)
{
    if (!source.core->prepared_format) return fail("the model is not from a tmfile");
    if (source.core->outer) return fail("it is the graph of a node");
    if (source.core->revision != source.core->file_revision)
        return fail("the program has changed the model");
    for (int i = 0; i < source.tensor_num; ++i)
        if (source.tensor_list[i]->core->lent) return fail("the program may write to a constant");
    return check_devices(source);
}

int add_input(const struct tensor& input, String* text)
{
    if (!is_ir_tensor_shape_known(&input))
        return tengine_error_set(TENGINE_ENOTSUP, "the shape of input '%s' is not known",
                                 input.name);
    *text += text->empty() ? "" : ", ";
    *text += input.name;
    for (int i = 0; i < input.dim_num; ++i)
        *text += (i == 0 ? " " : "x") + to_string(input.dims[i]);
    *text += String(" ") + get_data_type_name(input.data_type);
    return TENGINE_OK;
}

// Whether the result of the passes depends on an option of the core.
bool is_term(const char* key, const char* value)
{
    const ir_option_t* option = find_ir_option(key);
    const bool counts =
        std::strncmp(key, "precision.", 10) == 0 || std::strcmp(key, "memory.fold_mb") == 0 ||
        std::strcmp(key, "model.hints") == 0 ||
        (std::strncmp(key, "split.", 6) == 0 && std::strcmp(key, "split.report") != 0);
    return counts && option && std::strcmp(value, option->initial) != 0;
}

void add_options(const char* owner, const vector_t* options, Vector<String>* out_list)
{
    for (int i = 0; options && i < get_vector_num(options); ++i) {
        const auto* option = static_cast<const ir_key_value_t*>(get_vector_data(options, i));
        if (*owner || is_term(option->key, option->value))
            out_list->push_back(String(owner) + option->key + "=" + option->value);
    }
}

// Those of the variant that is taken, which the program has not set.
void add_variant_options(const graph& source, Vector<String>* out_list)
{
    const ir_variant_t* taken = IS_MINIMAL ? nullptr : get_ir_taken_variant(&source);
    for (int i = 0; taken && i < get_vector_num(taken->options); ++i) {
        const auto* option = static_cast<const ir_key_value_t*>(get_vector_data(taken->options, i));
        const String text = String(option->key) + "=" + option->value;
        const bool counts = !find_ir_option(option->key) || is_term(option->key, option->value);
        if (counts && std::find(out_list->begin(), out_list->end(), text) == out_list->end())
            out_list->push_back(text);
    }
}

void add_devices(const graph& source, const ir_run_options_t& options, String* text)
{
    const ir_context_t* context = source.attribute->context;
    const Vector<device*> devices = list_graph_devices(source);
    Vector<String> list;
    if (context) add_options("", context->key_values, &list);
    *text += " on ";
    for (const device* device : devices) {
        *text += (device == devices[0] ? "" : ", ") + String(device->name);
        const ir_context_device_t* entry =
            context ? find_ir_context_device(context, device) : nullptr;
        if (entry) add_options((String(device->name) + ".").c_str(), entry->key_values, &list);
    }
    add_variant_options(source, &list);
    // Costs decide where devices compete, and depend on the threads.
    if (devices.size() > 1) list.push_back(to_string(options.num_thread) + " threads");
    if (options.concurrent) list.push_back("parts at the same time");
    std::sort(list.begin(), list.end());
    for (const String& option : list)
        *text += ", " + option;
}

// The terms in words, all of them except the version.
int describe_terms(const graph& source, const ir_run_options_t& options, String* text)
{
    TENGINE_RETURN_IF_ERROR(check_source(source));
    for (int i = 0; i < source.input_tensor_num; ++i)
        TENGINE_RETURN_IF_ERROR(add_input(*source.tensor_list[source.input_tensors[i]], text));
    const auto mode = static_cast<size_t>(options.precision);
    *text += String(" in ") + (mode < std::size(kModes) ? kModes[mode] : "fp32");
    add_devices(source, options, text);
    return TENGINE_OK;
}

void find_fingerprint(const String& terms, uint8_t out_fingerprint[SHA256_BYTES])
{
    sha256_t hash;
    start_sha256(&hash);
    update_sha256_text(&hash, "preparation " TENGINE_VERSION_STRING);
    update_sha256_text(&hash, terms.c_str());
    finish_sha256(&hash, out_fingerprint);
}

// ---- reading ----

// Shapes and types follow from the operators, whatever the bytes say.
int infer(struct node& node)
{
    TENGINE_RETURN_IF_ERROR(check_node(&node));
    Vector<int> types;
    for (int i = 0; i < node.output_num; ++i) {
        const struct tensor* output = get_ir_node_output(&node, i);
        types.push_back(output ? output->data_type : 0);
    }
    const int status = infer_node(&node);
    if (status < 0) return status;
    if (status == OP_SHAPE_LATER || find_ir_unknown_output(&node))
        return fail_node(&node, TENGINE_EFORMAT, "its shapes depend on data");
    for (int i = 0; i < node.output_num; ++i) {
        const struct tensor* output = get_ir_node_output(&node, i);
        if (output && output->data_type != types[static_cast<size_t>(i)])
            return fail_node(&node, TENGINE_EFORMAT, "output %d is %s, expected %s", i,
                             get_data_type_name(types[static_cast<size_t>(i)]),
                             get_data_type_name(output->data_type));
    }
    return TENGINE_OK;
}

bool has_same_shape(const struct tensor& one, const struct tensor& other)
{
    return one.shape_set == other.shape_set && one.dim_num == other.dim_num &&
           std::equal(one.dims, one.dims + one.dim_num, other.dims);
}

bool has_same_ends(const graph& source, const graph& target)
{
    for (int i = 0; i < source.input_tensor_num; ++i) {
        const struct tensor& wanted = *source.tensor_list[source.input_tensors[i]];
        const struct tensor& found = *target.tensor_list[target.input_tensors[i]];
        if (found.tensor_type != TENSOR_TYPE_INPUT || !has_same_shape(wanted, found) ||
            wanted.data_type != found.data_type || found.core->source_index != wanted.index)
            return false;
    }
    for (int i = 0; i < target.output_tensor_num; ++i) {
        const struct tensor& found = *target.tensor_list[target.output_tensors[i]];
        if (found.producer < 0 && found.tensor_type == TENSOR_TYPE_VAR) return false;
    }
    return true;
}

// The devices take the nodes that they have. Without a split there is nothing that could ask them.
[[maybe_unused]] int check_places(const graph& target)
{
    const Candidates* candidates;
    TENGINE_RETURN_IF_ERROR(Candidates::of(target, &candidates));
    for (int i = 0; i < target.node_num; ++i) {
        const struct node& node = *target.node_list[i];
        if (!candidates->has(node.device) || !candidates->takes(node.device, node))
            return fail_node(&node, TENGINE_EFORMAT, "the device %s does not take it",
                             node.device->name);
    }
    return TENGINE_OK;
}

int read(const graph& source, const ir_run_options_t& options, const void* data, size_t size,
         GraphPointer* out_graph)
{
    GraphPointer target;
    TENGINE_RETURN_IF_ERROR(create_target(source, &target));
    // Devices that survey the graph below read the options.
    if (!IS_RUNTIME_ONLY) TENGINE_RETURN_IF_ERROR(take_variant_options(source, *target));
    target->core->run_options = options;
    join_graph_pool(target.get(), &source);
    TENGINE_RETURN_IF_ERROR(source.core->prepared_format->read(target.get(), data, size));
    if (!has_same_ends(source, *target))
        return tengine_error_set(TENGINE_EFORMAT, "its inputs are not those of the model");
    for (int i = 0; i < target->node_num; ++i)
        TENGINE_RETURN_IF_ERROR(infer(*target->node_list[i]));
    if (!IS_RUNTIME_ONLY) TENGINE_RETURN_IF_ERROR(check_places(*target));
    *out_graph = std::move(target);
    return TENGINE_OK;
}

// ---- comparing ----

bool has_same_values(const struct tensor& one, const struct tensor& other)
{
    if (one.tensor_type != TENSOR_TYPE_CONST || one.elem_num == 0) return true;
    return one.data && other.data &&
           std::memcmp(one.data, other.data, get_ir_tensor_bytes(&one)) == 0;
}

// The property of a tensor that differs; null: none.
const char* find_difference(const struct tensor& one, const struct tensor& other)
{
    if (std::strcmp(one.name, other.name) != 0) return "name";
    if (!has_same_shape(one, other)) return "shape";
    if (one.data_type != other.data_type || one.tensor_type != other.tensor_type) return "type";
    if (one.layout != other.layout) return "layout";
    if (one.producer != other.producer) return "producer";
    if (one.quant_param_num != other.quant_param_num) return "number of scales";
    if (one.core->source_index != other.core->source_index) return "origin";
    return has_same_values(one, other) ? nullptr : "values";
}

bool has_same_tensors(const int32_t* one, int number, const int32_t* other, int other_number)
{
    return number == other_number && std::equal(one, one + number, other);
}

bool is_same(const struct node& one, const struct node& other)
{
    return std::strcmp(one.name, other.name) == 0 && has_same_op_param(&one.op, &other.op) &&
           one.device == other.device && one.subgraph_idx == other.subgraph_idx &&
           one.core->source_index == other.core->source_index &&
           has_same_tensors(one.input_tensors, one.input_num, other.input_tensors,
                            other.input_num) &&
           has_same_tensors(one.output_tensors, one.output_num, other.output_tensors,
                            other.output_num);
}

bool is_same(const struct subgraph& one, const struct subgraph& other)
{
    return has_same_tensors(one.node_list, one.node_num, other.node_list, other.node_num) &&
           has_same_tensors(one.input_tensor_list, one.input_num, other.input_tensor_list,
                            other.input_num) &&
           has_same_tensors(one.output_tensor_list, one.output_num, other.output_tensor_list,
                            other.output_num);
}

int compare(const graph& one, const graph& other)
{
    const int part_num = get_vector_num(one.subgraph_list);
    if (one.tensor_num != other.tensor_num || one.node_num != other.node_num ||
        part_num != get_vector_num(other.subgraph_list) ||
        one.run_options->precision != other.run_options->precision ||
        one.run_options->rounding != other.run_options->rounding)
        return fail("its parts would not be the same");
    for (int i = 0; i < one.tensor_num; ++i)
        if (const char* what = find_difference(*one.tensor_list[i], *other.tensor_list[i]))
            return tengine_error_set(TENGINE_ENOTSUP, "tensor '%s' would have another %s",
                                     one.tensor_list[i]->name, what);
    for (int i = 0; i < one.node_num; ++i)
        if (!is_same(*one.node_list[i], *other.node_list[i]))
            return tengine_error_set(TENGINE_ENOTSUP, "node '%s' would not be the same",
                                     one.node_list[i]->name);
    for (int i = 0; i < part_num; ++i)
        if (!is_same(*get_ir_graph_subgraph(&one, i), *get_ir_graph_subgraph(&other, i)))
            return tengine_error_set(TENGINE_ENOTSUP, "part %d would not be the same", i);
    return TENGINE_OK;
}

// ---- looking up ----

// The preparation with this fingerprint; null: none.
const ir_model_bytes_t* find(const graph& source, const String& terms)
{
    uint8_t fingerprint[SHA256_BYTES];
    find_fingerprint(terms, fingerprint);
    for (int i = 0; i < count_ir_model_preparations(&source); ++i) {
        const ir_model_bytes_t* bytes = get_ir_model_preparation(&source, i);
        if (std::memcmp(bytes->fingerprint, fingerprint, SHA256_BYTES) == 0) return bytes;
    }
    return nullptr;
}

String list_terms(const graph& source)
{
    String text;
    for (int i = 0; i < count_ir_model_preparations(&source); ++i)
        text += (i > 0 ? "; " : "") + String(get_ir_model_preparation(&source, i)->target);
    return text;
}

// The passes prepare the graph where there are any.
int decline(const graph& source, int code, bool is_fault, const String& why)
{
    if (IS_RUNTIME_ONLY)
        return tengine_error_set(code, "graph '%s': this build runs compiled files only: %s",
                                 source.name, why.c_str());
    if (is_fault)
        TLOG_WARNING("graph '%s': %s", source.name, why.c_str());
    else
        TLOG_INFO("graph '%s': %s", source.name, why.c_str());
    tengine_error_clear();
    return TENGINE_OK;
}

bool is_unaltered(const ir_model_bytes_t& bytes)
{
    uint8_t digest[SHA256_BYTES];
    find_sha256_of_pieces(nullptr, bytes.data, bytes.size, digest);
    return std::memcmp(digest, bytes.digest, SHA256_BYTES) == 0;
}

int read_found(const graph& source, const ir_run_options_t& options, const ir_model_bytes_t& bytes,
               GraphPointer* out_graph)
{
    const int status =
        is_unaltered(bytes)
            ? read(source, options, bytes.data, bytes.size, out_graph)
            : tengine_error_set(TENGINE_EFORMAT, "it has been altered: its hash differs");
    if (status == TENGINE_OK)
        TLOG_INFO("graph '%s' is prepared in its file for %s", source.name, bytes.target);
    if (status == TENGINE_OK || status == TENGINE_ENOMEM || status == TENGINE_ECANCELED)
        return status;
    return decline(source, status, true,
                   String("the preparation in its file is not used: ") + tengine_error_message());
}

}  // namespace

int read_prepared(const graph& source, const ir_run_options_t& options, GraphPointer* out_graph)
{
    if (count_ir_model_preparations(&source) == 0) return TENGINE_OK;
    String terms;
    const int status = describe_terms(source, options, &terms);
    if (status < 0)
        return decline(
            source, status, false,
            String("the preparations in its file are not used: ") + tengine_error_message());
    const ir_model_bytes_t* bytes = find(source, terms);
    if (bytes) return read_found(source, options, *bytes, out_graph);
    return decline(source, TENGINE_ENOTSUP, false,
                   "its file is prepared for " + list_terms(source) + "; this run has " + terms);
}

bool take_prepared_places(const graph& graph, const Vector<struct tensor*>& tensors,
                          Vector<memory_block_t>* blocks, size_t* out_total)
{
    const vector_t* places = graph.core->planned_places;
    if (!places || get_vector_num(places) != graph.tensor_num) return false;
    for (size_t i = 0; i < tensors.size(); ++i) {
        const auto* place =
            static_cast<const uint64_t*>(get_vector_data(places, tensors[i]->index));
        (*blocks)[i].offset = static_cast<size_t>(std::min<uint64_t>(*place, SIZE_MAX));
    }
    const int status = check_memory_plan(blocks->data(), static_cast<int64_t>(blocks->size()),
                                         ALLOC_ALIGNMENT, out_total);
    if (status == TENGINE_OK) return true;
    TLOG_INFO("graph '%s': the memory between parts is planned again: %s", graph.name,
              tengine_error_message());
    tengine_error_clear();
    return false;
}

}  // namespace tengine

int find_ir_preparation_terms(const struct graph* source, const ir_run_options_t* options,
                              struct ir_model_bytes* out_bytes)
{
    return tengine::guarded(
        [=]() -> int {
            tengine::String terms;
            TENGINE_RETURN_IF_ERROR(tengine::describe_terms(*source, *options, &terms));
            tengine::find_fingerprint(terms, out_bytes->fingerprint);
            std::snprintf(out_bytes->target, sizeof out_bytes->target, "%s", terms.c_str());
            return TENGINE_OK;
        },
        "graph '%s': out of memory for the terms of its preparation", source->name);
}

int check_ir_preparation(const struct graph* execution, const void* data, size_t size)
{
    return tengine::guarded(
        [=]() -> int {
            tengine::GraphPointer again;
            TENGINE_RETURN_IF_ERROR(tengine::read(*execution->core->source, *execution->run_options,
                                                  data, size, &again));
            return tengine::compare(*execution, *again);
        },
        "graph '%s': out of memory while checking its preparation", execution->name);
}
