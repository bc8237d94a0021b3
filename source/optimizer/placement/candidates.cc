// SPDX-License-Identifier: Apache-2.0
#include "optimizer/placement/candidates.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "base/containers.hpp"
#include "base/guard.hpp"
#include "base/int_list.h"
#include "base/print_text.hpp"
#include "base/sort.h"
#include "graph/context.h"
#include "graph/core.h"
#include "graph/graph.h"
#include "graph/model_part.h"
#include "graph/option.h"
#include "graph/use.h"
#include "module/module.h"
#include "operator/affinity.h"
#include "operator/custom/custom_kernel.h"
#include "operator/registry.h"
#include "optimizer/optimizer.h"
#include "optimizer/pass.h"
#include "tengine/fixed_point.h"

namespace tengine {
namespace {

IntVector make_int_vector()
{
    return IntVector(create_vector(sizeof(int), nullptr));
}

// Calls visit(tensor) for all inputs and outputs until it returns false.
template <class Visit>
bool for_all_tensors(const node& node, Visit visit)
{
    for (int i = 0; i < node.input_num; ++i) {
        const struct tensor* tensor = get_ir_node_input(&node, i);
        if (tensor && !visit(*tensor)) return false;
    }
    for (int i = 0; i < node.output_num; ++i) {
        const struct tensor* tensor = get_ir_node_output(&node, i);
        if (tensor && !visit(*tensor)) return false;
    }
    return true;
}

// Constants are parameters (a Reshape's target is int64 on every device), so the lists of types do
// not cover them: inspect() does.
bool has_listed_types(const IntVector& precision, const node& node, ir_verdict_t* out_verdict)
{
    return for_all_tensors(node, [&](const struct tensor& tensor) {
        if (tensor.tensor_type == TENSOR_TYPE_CONST) return true;
        if (is_in_int_list(precision.get(), tensor.data_type)) return true;
        const char* type = get_data_type_name(tensor.data_type);
        refuse_ir_node(out_verdict, IR_REASON_DATA_TYPE, tensor.name, type,
                       "'%s' is %s, which the device does not support", tensor.name, type);
        return false;
    });
}

bool has_known_shapes(const node& node, ir_verdict_t* out_verdict)
{
    return for_all_tensors(node, [&](const struct tensor& tensor) {
        if (is_ir_tensor_shape_known(&tensor)) return true;
        refuse_ir_node(out_verdict, IR_REASON_SHAPE, tensor.name, "",
                       "the shape of '%s' is known only at run time", tensor.name);
        return false;
    });
}

void ask_inspect(struct device* device, const node& node, ir_verdict_t* out_verdict)
{
    if (!device->allocator->inspect) return;
    tengine_error_clear();
    const int status = device->allocator->inspect(device, &node, out_verdict);
    // Running out of memory is not a reason about the node, so it is reported as a failure.
    if (status != 0 && tengine_error_code() == TENGINE_ENOMEM) throw std::bad_alloc();
    if (status != 0) {
        refuse_ir_node(out_verdict, IR_REASON_DEVICE, "", "", "inspect failed: %s",
                       describe_failure(status).c_str());
    } else if (out_verdict->verdict < IR_VERDICT_YES ||
               out_verdict->verdict > IR_VERDICT_NOT_WORTH) {
        const String value = to_string(out_verdict->verdict);
        refuse_ir_node(out_verdict, IR_REASON_DEVICE, "verdict", value.c_str(),
                       "inspect returned invalid verdict %s", value.c_str());
    }
    // A device may have filled the strings to the last byte.
    out_verdict->attribute[sizeof(out_verdict->attribute) - 1] = '\0';
    out_verdict->value[sizeof(out_verdict->value) - 1] = '\0';
    out_verdict->message[sizeof(out_verdict->message) - 1] = '\0';
}

// Operators of ONNX and com.microsoft.
constexpr const char* kRoundedOps[] = {"QLinearConv", "QLinearMatMul", "QGemm", "QLinearAdd",
                                       "QLinearMul"};

// Whether the program has requested a rounding that only the core's own device has. It has not
// where the rounding is that of the model's format.
bool is_rounded_by_default_device(const node& node, ir_verdict_t* out_verdict)
{
    const int rounding = node.graph->run_options->rounding;
    if (rounding == IR_ROUNDING_NEAREST ||
        std::none_of(std::begin(kRoundedOps), std::end(kRoundedOps),
                     [&](const char* op) { return !std::strcmp(get_ir_node_op(&node), op); }))
        return false;
    const char* choice =
        get_ir_context_option(node.graph->attribute->context, "precision.rounding");
    if (!std::strcmp(choice, "model")) return false;
    refuse_ir_node(out_verdict, IR_REASON_ATTRIBUTE, "precision.rounding", choice,
                   "precision.rounding=%s is the CPU's", choice);
    return true;
}

Vector<int> sort(const IntVector& list)
{
    const auto* values = static_cast<const int*>(get_vector_data(list.get(), 0));
    Vector<int> sorted(values, values + get_vector_num(list.get()));
    sort_indices(sorted.data(), sorted.size());
    return sorted;
}

bool contains(const Vector<int>& sorted, int value)
{
    return std::binary_search(sorted.begin(), sorted.end(), value);
}

// Removes the operators that are in both lists.
Vector<int> find_difference(const IntVector& allowed, const IntVector& blocked)
{
    Vector<int> difference = sort(allowed);
    const Vector<int> without = sort(blocked);
    const auto is_blocked = [&](int type) { return contains(without, type); };
    difference.erase(std::remove_if(difference.begin(), difference.end(), is_blocked),
                     difference.end());
    return difference;
}

int survey(struct device* device, const graph& graph)
{
    if (!device->allocator->survey) return TENGINE_OK;
    tengine_error_clear();
    const int status = device->allocator->survey(device, &graph);
    if (status == 0) return TENGINE_OK;
    const String cause = describe_failure(status);
    return tengine_error_set(tengine_error_code() ? tengine_error_code() : TENGINE_EDEVICE,
                             "device '%s', survey: %s", device->name, cause.c_str());
}

}  // namespace

String describe_failure(int status)
{
    const String sentence = tengine_error_message();
    return sentence.empty() ? print_text("it returned %d", status) : sentence;
}

bool is_pinned(const node& node)
{
    const char* affinity = find_ir_execution_affinity(&node);
    return affinity && names_ir_affinity(affinity, node.device->name);
}

bool is_compiled_ahead(const node& node)
{
    return get_ir_node_compiled_part(&node, node.device) != 0;
}

bool is_misplaced(const node& node)
{
    const char* affinity =
        node.device == find_default_device() ? nullptr : find_ir_execution_affinity(&node);
    return affinity && !allows_ir_affinity(affinity, node.device->name);
}

int Candidates::add(struct device* device)
{
    const IntVector allowed = make_int_vector(), blocked = make_int_vector();
    Candidate candidate = {device, {}, make_int_vector(), {}};
    if (!allowed || !blocked || !candidate.precision)
        return tengine_error_set(TENGINE_ENOMEM, "device '%s': out of memory for its nodes",
                                 device->name);
    tengine_error_clear();
    const int status = device->allocator->describe(device, allowed.get(), blocked.get(),
                                                   candidate.precision.get());
    if (status != 0 && tengine_error_code() == TENGINE_ENOMEM) return TENGINE_ENOMEM;
    if (status != 0)
        refuse_ir_node(&candidate.failure, IR_REASON_DEVICE, "", "",
                       "the device cannot describe itself: %s", describe_failure(status).c_str());
    candidate.operators = find_difference(allowed, blocked);
    candidates_.push_back(std::move(candidate));
    const int begun = begin_ir_use(device, device->name, IR_USER_GRAPH);
    if (begun < 0) candidates_.pop_back();
    return begun;
}

Candidates::~Candidates()
{
    for (const Candidate& candidate : candidates_)
        end_ir_use(candidate.device, IR_USER_GRAPH);
}

int Candidates::list(const graph& graph)
{
    for (device* device : list_graph_devices(graph))
        TENGINE_RETURN_IF_ERROR(add(device));
    return check_affinities(graph);
}

int Candidates::survey(const graph& graph)
{
    if (has_surveyed_) return TENGINE_OK;
    has_surveyed_ = true;
    for (const Candidate& candidate : candidates_)
        if (candidate.failure.verdict == IR_VERDICT_YES)
            TENGINE_RETURN_IF_ERROR(tengine::survey(candidate.device, graph));
    return TENGINE_OK;
}

void Candidates::own(const graph& graph, std::unique_ptr<Candidates> made)
{
    graph.core->release_candidates = [](void* candidates) {
        delete static_cast<Candidates*>(candidates);
    };
    graph.core->candidates = made.release();
}

int Candidates::find_or_make(const graph& graph, Candidates** out_candidates)
{
    if (!graph.core->candidates) {
        std::unique_ptr<Candidates> made(new Candidates);
        TENGINE_RETURN_IF_ERROR(made->list(graph));
        own(graph, std::move(made));
    }
    *out_candidates = static_cast<Candidates*>(graph.core->candidates);
    return TENGINE_OK;
}

int Candidates::of(const graph& graph, const Candidates** out_candidates)
{
    Candidates* candidates;
    TENGINE_RETURN_IF_ERROR(find_or_make(graph, &candidates));
    *out_candidates = candidates;
    return candidates->survey(graph);
}

int Candidates::before_surveys(const graph& graph, const Candidates** out_candidates)
{
    Candidates* candidates;
    TENGINE_RETURN_IF_ERROR(find_or_make(graph, &candidates));
    *out_candidates = candidates;
    return TENGINE_OK;
}

int Candidates::without(const graph& graph, const Vector<HandedBack>& handed_back)
{
    Candidates* candidates;
    TENGINE_RETURN_IF_ERROR(find_or_make(graph, &candidates));
    candidates->handed_back_ = handed_back;
    return TENGINE_OK;
}

int Candidates::keep(const graph& graph, Vector<int> source_nodes)
{
    Candidates* candidates;
    TENGINE_RETURN_IF_ERROR(find_or_make(graph, &candidates));
    sort_indices(source_nodes.data(), source_nodes.size());
    candidates->kept_ = std::move(source_nodes);
    return TENGINE_OK;
}

int Candidates::of_default_device(const graph& part)
{
    std::unique_ptr<Candidates> made(new Candidates);
    TENGINE_RETURN_IF_ERROR(made->add(find_default_device()));
    own(part, std::move(made));
    return TENGINE_OK;
}

const Candidates* Candidates::find(const graph& graph)
{
    return static_cast<const Candidates*>(graph.core->candidates);
}

bool Candidates::keeps(const node& node) const
{
    return !kept_.empty() && contains(kept_, node.core->source_index);
}

bool Candidates::has_undecided() const
{
    const auto is_undecided = [](const Candidate& candidate) {
        return candidate.device->allocator->survey &&
               candidate.operators.size() >= static_cast<size_t>(get_op_count());
    };
    return !has_surveyed_ && std::any_of(candidates_.begin(), candidates_.end(), is_undecided);
}

// Refuses an affinity to a device that the graph does not have, which would leave its nodes to the
// default device.
int Candidates::check_affinities(const graph& graph) const
{
    const vector_t* affinities = graph.core->source ? graph.core->source->core->affinity : nullptr;
    for (int i = 0; affinities && i < get_vector_num(affinities); ++i) {
        const auto* affinity = static_cast<ir_affinity_t*>(get_vector_data(affinities, i));
        const bool fits =
            affinity->is_hint || *affinity->devices == '!' ||
            std::any_of(candidates_.begin(), candidates_.end(), [&](const Candidate& candidate) {
                return allows_ir_affinity(affinity->devices, candidate.device->name);
            });
        if (!fits)
            return tengine_error_set(
                TENGINE_ENOENT,
                "affinity of nodes '%s': the graph has no device '%s'; add it to the context",
                affinity->nodes, affinity->devices);
    }
    return TENGINE_OK;
}

size_t Candidates::index_of(const struct device* device) const
{
    size_t index = 0;
    while (index < size() && candidates_[index].device != device)
        ++index;
    return index;
}

bool Candidates::has_handed_back(const struct device* device, const node& node) const
{
    return std::any_of(handed_back_.begin(), handed_back_.end(), [&](const HandedBack& each) {
        return each.device == device && each.source_node == node.core->source_index &&
               each.op_type == node.op.type;
    });
}

ir_verdict_t Candidates::ask(const Candidate& candidate, const node& node) const
{
    ir_verdict_t verdict = {};
    struct device* device = candidate.device;
    const bool is_default = device == find_default_device();
    const char* op = get_ir_node_op(&node);
    const ir_affinity_t* affinity = find_ir_execution_rule(&node);
    if (!is_default && affinity && !allows_ir_affinity(affinity->devices, device->name)) {
        refuse_ir_node(&verdict, IR_REASON_AFFINITY, "", affinity->devices,
                       "excluded by %saffinity '%s'", affinity->is_hint ? "the model's " : "",
                       affinity->devices);
        return verdict;
    }
    if (candidate.failure.verdict != IR_VERDICT_YES) return candidate.failure;
    if (has_handed_back(device, node)) {
        refuse_ir_node(&verdict, IR_REASON_HANDBACK, "", "",
                       "the device handed it back after seeing a whole part");
        return verdict;
    }
    if (is_default && describe_byte_code(node, &verdict)) return verdict;
    if (!contains(candidate.operators, node.op.type)) {
        refuse_ir_node(&verdict, IR_REASON_OPERATOR, "", op, "the device has no %s", op);
        return verdict;
    }
    if (node.core->custom_kernel && !find_custom_kernel(&node, device->name)) {
        fail_without_kernel(node, *device);
        refuse_ir_node(&verdict, IR_REASON_OPERATOR, "", op, "%s", tengine_error_message());
        tengine_error_clear();
        return verdict;
    }
    if (!is_default && is_rounded_by_default_device(node, &verdict)) return verdict;
    // Only the default device runs nodes whose shapes, and so perhaps types, are known late.
    if (!is_default && (!has_known_shapes(node, &verdict) ||
                        !has_listed_types(candidate.precision, node, &verdict)))
        return verdict;
    if (has_surveyed_ || !device->allocator->survey) ask_inspect(device, node, &verdict);
    return verdict;
}

// The default device also gets kept nodes, as ONNX's: the graph of their part is lowered when it is
// detached.
ir_verdict_t Candidates::ask_for_place(const Candidate& candidate, const node& node) const
{
    const bool is_lowered =
        candidate.device == find_default_device() && keeps(node) && node.op.method->lower;
    return is_lowered ? ir_verdict_t{} : ask(candidate, node);
}

bool Candidates::lists(const struct device* device, int data_type) const
{
    const size_t index = index_of(device);
    if (index == size() || candidates_[index].failure.verdict != IR_VERDICT_YES) return false;
    return is_in_int_list(candidates_[index].precision.get(), data_type);
}

bool Candidates::takes(const struct device* device, const node& node) const
{
    const size_t index = index_of(device);
    return index < size() && ask(candidates_[index], node).verdict == IR_VERDICT_YES;
}

size_t Candidates::find_taker(const node& node) const
{
    size_t index = 0;
    while (index < size() && ask(candidates_[index], node).verdict != IR_VERDICT_YES)
        ++index;
    return index;
}

int get_affinity_group(const node& node)
{
    const char* affinity = find_ir_execution_affinity(&node);
    return affinity ? get_ir_affinity_group(affinity, node.device->name) : 0;
}

void Candidates::find_group(node& node) const
{
    const size_t index = index_of(node.device);
    ir_verdict_t verdict = {};
    if (index < size()) verdict = ask(candidates_[index], node);
    node.core->group = verdict.verdict == IR_VERDICT_YES ? verdict.group : 0;
}

int Candidates::place(node& node, size_t begin) const
{
    node.device = nullptr;
    node.core->group = 0;
    node.core->predicted_ns = -1;
    for (size_t i = begin; i < size(); ++i) {
        const ir_verdict_t verdict = ask_for_place(candidates_[i], node);
        if (verdict.verdict == IR_VERDICT_YES) {
            node.device = candidates_[i].device;
            const int requested = get_affinity_group(node);
            node.core->group = requested != 0 ? requested : verdict.group;
            return TENGINE_OK;
        }
        TENGINE_RETURN_IF_ERROR(add_ir_node_refusal(&node, candidates_[i].device, &verdict));
    }
    return TENGINE_OK;
}

bool Candidates::has_other(const node& node) const
{
    for (size_t i = index_of(node.device) + 1; i < size(); ++i)
        if (ask_for_place(candidates_[i], node).verdict == IR_VERDICT_YES) return true;
    return false;
}

int Candidates::move_on(node& node, const ir_verdict_t& refusal) const
{
    const size_t present = index_of(node.device);
    TENGINE_RETURN_IF_ERROR(add_ir_node_refusal(&node, node.device, &refusal));
    return place(node, present + 1);
}

}  // namespace tengine
