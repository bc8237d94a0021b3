// SPDX-License-Identifier: Apache-2.0
// Looks operators up; the error about missing ones lists them.
#include "serializer/onnx/opset.h"

#include <algorithm>
#include <climits>
#include <utility>

#include "module/module.h"
#include "operator/custom/op.h"
#include "operator/selection.h"
#include "serializer/onnx/message.h"

namespace tengine {
namespace {

// Room for the list inside the 1023 bytes of a message.
constexpr size_t kMaxListLength = 880;

// An operator without description, and the nodes that use it.
struct Missing
{
    std::string what;  // "com.example.Foo (opset 3"
    bool is_left_out;  // left out of this build
    std::vector<int> nodes;
};

// A file must not contain the node types that mark a graph's inputs, constants and custom kernels.
bool is_mark(const std::string& domain, const std::string& type)
{
    return domain == "tengine" && (type == "InputOp" || type == "Const" || type == "Custom");
}

// Whether the domain is one of the library's, all of whose operators a build may leave out, or one
// with an operator that has a description. Any other domain is the program's own.
bool is_known_domain(const std::string& domain)
{
    for (const char* own : {"", "com.microsoft", "tengine", "ai.onnx.ml", "ai.onnx.preview",
                            "ai.onnx.preview.training"})
        if (domain == own) return true;
    for (int i = 0; i < get_op_method_count(); ++i) {
        const char* known = find_op_method_via_index(i)->domain;
        if (domain == (known ? known : "")) return true;
    }
    return false;
}

std::string describe(const Missing& missing, const std::vector<std::string>& names,
                     size_t max_names)
{
    std::string text = missing.what;
    size_t count = 0;
    for (const int node : missing.nodes) {
        if (count == max_names) break;
        text += (count++ == 0 ? ": " : ", ") + quote_name(names[static_cast<size_t>(node)]);
    }
    const std::string left = std::to_string(missing.nodes.size() - count);
    if (count == 0) return text + ": " + left + " nodes)";
    if (count < missing.nodes.size()) text += " and " + left + " more";
    return text + ")";
}

// Joins the list with at most `max_names` nodes per operator; entries that do not fit are counted.
std::string join(const std::vector<Missing>& list, const std::vector<std::string>& names,
                 size_t max_names, bool* out_complete)
{
    std::string text;
    size_t count = 0;
    for (const Missing& missing : list) {
        const std::string entry = describe(missing, names, max_names);
        if (count > 0 && text.size() + entry.size() > kMaxListLength) break;
        text += (count++ == 0 ? "" : "; ") + entry;
    }
    *out_complete = count == list.size() && text.size() <= kMaxListLength;
    if (count < list.size()) text += " and " + std::to_string(list.size() - count) + " more";
    return text;
}

// Operators matter more than nodes: a long list names fewer nodes of each.
int refuse(const std::vector<Missing>& list, const std::vector<std::string>& names)
{
    std::string text;
    bool complete = false;
    for (const size_t max_names : {5, 2, 1, 0}) {
        if (!complete) text = join(list, names, max_names, &complete);
    }
    const bool any_left_out = std::any_of(
        list.begin(), list.end(), [](const Missing& missing) { return missing.is_left_out; });
    return tengine_error_set(
        TENGINE_EOPERATOR,
        "%zu operator%s of the model %s not supported%s: %s; a custom operator can be registered",
        list.size(), list.size() == 1 ? "" : "s", list.size() == 1 ? "is" : "are",
        any_left_out ? ", or left out of this build (CMake option TENGINE_OPERATORS)" : "",
        text.c_str());
}

// Describes the opsets for which an operator has a description.
std::string describe_other_opset(int type, int version)
{
    const struct method* newest = find_op_method(type, 0);
    const int last = newest->until ? newest->until : NEWEST_KNOWN_OPSET;
    if (version > last) {
        if (!newest->ended_by) return ", known up to opset " + std::to_string(last);
        return ", changed by opset " + std::to_string(last + 1) + ", " + newest->ended_by;
    }
    int first = version;
    while (!find_op_method(type, first))
        ++first;
    return ", known from opset " + std::to_string(first) + " on";
}

// The reason why one of ONNX's operators is missing in every build; "" for any other.
const char* find_reason(const std::string& name)
{
    static const std::pair<const char*, const char*> reasons[] = {
        {"ImageDecoder", ", which decodes the formats of pictures"},
        {"RegexFullMatch", ", which needs a matcher of RE2's expressions"},
        {"ai.onnx.preview.training.Gradient", ", which needs the derivatives of other nodes"},
    };
    for (const auto& [op, reason] : reasons)
        if (name == op) return reason;
    return "";
}

Missing describe_missing(const std::string& domain, const std::string& type, int version)
{
    const std::string name = domain.empty() ? type : domain + "." + type;
    Missing missing = {clean_name(name) + " (opset " + std::to_string(version), false, {}};
    if (is_mark(domain, type)) return missing;
    missing.is_left_out = is_left_out(name.c_str());
    const int known = get_op_type(domain.c_str(), type.c_str());
    if (missing.is_left_out) missing.what += ", left out";
    missing.what += find_reason(name);
    if (known >= 0) missing.what += describe_other_opset(known, version);
    return missing;
}

// The error names no node: the meaning of all operators in an unknown opset is unknown.
int check_is_known(const std::string& domain, int version)
{
    if (!domain.empty() || version <= NEWEST_KNOWN_OPSET) return TENGINE_OK;
    return tengine_error_set(TENGINE_ENOTSUP,
                             "the model has opset %d, the newest supported one is %d: export the "
                             "model for that one or an older one",
                             version, NEWEST_KNOWN_OPSET);
}

}  // namespace

std::string normal_domain(const std::string& domain)
{
    return domain == "ai.onnx" ? std::string() : domain;
}

int collect_opsets(const google::protobuf::RepeatedPtrField<::onnx::OperatorSetIdProto>& list,
                   Opsets* out_opsets)
{
    for (const auto& import : list) {
        const std::string domain = normal_domain(import.domain());
        if (import.version() < 1 || import.version() > INT_MAX)
            return tengine_error_set(
                TENGINE_EFORMAT, "domain %s is imported with invalid version %lld",
                quote_name(domain).c_str(), static_cast<long long>(import.version()));
        const int version = static_cast<int>(import.version());
        const auto [entry, is_new] = out_opsets->emplace(domain, version);
        if (!is_new && entry->second != version)
            return tengine_error_set(TENGINE_EFORMAT, "domain %s is imported in versions %d and %d",
                                     quote_name(domain).c_str(), entry->second, version);
    }
    return TENGINE_OK;
}

int resolve_operators(const ::onnx::GraphProto& graph, const Imports& imports,
                      const struct context* context, const std::vector<std::string>& names,
                      std::vector<OperatorId>* out_operators)
{
    std::vector<Missing> missing;
    std::map<std::pair<std::string, std::string>, size_t> index;  // in `missing`
    for (int i = 0; i < graph.node_size(); ++i) {
        const auto& node = graph.node(i);
        const std::string domain = normal_domain(node.domain());
        const Opsets& opsets = imports.of(node);
        const auto opset = opsets.find(domain);
        if (opset == opsets.end())
            return tengine_error_set(
                TENGINE_EFORMAT, "%s: the model imports no opset of its domain %s",
                node_label(node.op_type(), names[static_cast<size_t>(i)]).c_str(),
                quote_name(domain).c_str());
        const int version = opset->second;
        TENGINE_RETURN_IF_ERROR(check_is_known(domain, version));
        const int type = get_op_type(domain.c_str(), node.op_type().c_str());
        const bool is_mark_op = is_mark(domain, node.op_type());
        const bool is_described = type >= 0 && find_op_method(type, version);
        const bool is_custom =
            !is_known_domain(domain) ||
            (!is_described && !is_mark_op &&
             has_custom_op(context, domain.c_str(), node.op_type().c_str(), version));
        if (is_custom) {
            const int generic = get_op_type("tengine", "Generic");
            if (generic < 0)
                return fail_left_out(names[static_cast<size_t>(i)].c_str(), "tengine.Generic");
            out_operators->push_back({generic, 1, true});
            continue;
        }
        out_operators->push_back({type, version, false});
        if (is_described && !is_mark_op) continue;
        const auto [entry, is_new] = index.try_emplace({domain, node.op_type()}, missing.size());
        if (is_new) missing.push_back(describe_missing(domain, node.op_type(), version));
        missing[entry->second].nodes.push_back(i);
    }
    return missing.empty() ? TENGINE_OK : refuse(missing, names);
}

}  // namespace tengine
