// SPDX-License-Identifier: Apache-2.0
// Expands calls from the outside in: the nodes of a body are copied, get their names and
// attributes, and are then treated like all other nodes, so that calls in functions and in graphs
// of nodes need no extra code. Copies are counted, because a few lines can call for 2^60 nodes.
#include "serializer/onnx/functions.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <set>
#include <utility>

#include "module/module.h"
#include "operator/custom/op.h"
#include "serializer/onnx/message.h"
#include "serializer/onnx/scope.h"

namespace tengine {
namespace {

using ::onnx::AttributeProto;
using ::onnx::FunctionProto;
using ::onnx::GraphProto;
using ::onnx::NodeProto;

// Limits: the nesting of graphs and functions around a node; and the bytes of all copies, where a
// node counts with its encoded bytes, names and attributes, and a call at least as a node.
constexpr size_t kMostNested = 64;
constexpr size_t kMostNodes = size_t{1} << 17;
constexpr size_t kMostBytes = size_t{64} << 20;
// Longer names of calls are cut, since they prefix every name of their function.
constexpr size_t kLongestPrefix = 1000;

// Fields that the classes of an older onnx.proto do not have.
constexpr int kOverloadOfNode = 8;
constexpr int kOverloadOfFunction = 13;
constexpr int kDefaultsOfFunction = 11;

struct Function
{
    const FunctionProto* proto = nullptr;
    const Opsets* opsets = nullptr;
    std::unordered_map<std::string, const AttributeProto*> defaults;
};

// A call during the expansion of its function.
struct Call
{
    const NodeProto& node;
    const Function& function;
    const Opsets& opsets;  // the caller's
    std::string prefix;
    Scope scope;
    std::unordered_map<std::string, const AttributeProto*> attributes;
    // Outputs that are renamed inputs or other outputs.
    std::vector<std::pair<std::string, std::string>> copies;

    Call(const NodeProto& call, const Function& called, const Opsets& bound, std::string begin)
        : node(call),
          function(called),
          opsets(bound),
          prefix(std::move(begin)),
          scope{prefix, prefix, nullptr, {}}
    {
    }
};

// A graph or a call that is being expanded. Frames are in a list, since the stack of the thread may
// be small.
struct Frame
{
    const Opsets& opsets;  // of its nodes
    GraphProto* target;
    std::unique_ptr<Call> call;   // null: a graph, which is the target
    GraphProto* nodes = nullptr;  // the original nodes of a graph
    int next = 0;
    bool has_begun = false;
    std::vector<const Function*> outer_active = {};  // for a graph that is an argument

    int count() const { return call ? call->function.proto->node_size() : nodes->node_size(); }
};

// The origin of a graph that a call passes to its function.
struct Origin
{
    const Opsets* opsets;
    size_t active_num;  // number of functions that were being expanded there
};

class Expansion
{
  public:
    Expansion(OnnxModel* model, const struct context* context) : model_(*model), context_(context)
    {
    }

    int run()
    {
        for (const FunctionProto& function : model_.header.functions())
            TENGINE_RETURN_IF_ERROR(add_function(function));
        TENGINE_RETURN_IF_ERROR(collect_names());
        push_graph(&model_.graph, model_.imports.model);
        while (!frames_.empty())
            TENGINE_RETURN_IF_ERROR(go_on());
        model_.header.clear_functions();
        return TENGINE_OK;
    }

  private:
    // ---- the contents of the model ----

    // The payloads of a field, whether the generated class has it or not.
    int read_field(const google::protobuf::MessageLite& message, int number, std::string* encoded,
                   std::vector<Encoded>* out_payloads)
    {
        *encoded = message.SerializeAsString();
        return split_message({*encoded, 0}, number, message.New(&model_.arena), out_payloads);
    }

    int read_overload(const google::protobuf::MessageLite& message, int number,
                      std::string* out_overload)
    {
        std::string encoded;
        std::vector<Encoded> payloads;
        TENGINE_RETURN_IF_ERROR(read_field(message, number, &encoded, &payloads));
        *out_overload = payloads.empty() ? "" : std::string(payloads.back().bytes);
        return TENGINE_OK;
    }

    int add_function(const FunctionProto& proto)
    {
        std::string overload;
        TENGINE_RETURN_IF_ERROR(read_overload(proto, kOverloadOfFunction, &overload));
        auto& overloads = functions_[{normal_domain(proto.domain()), proto.name()}];
        const auto [entry, is_new] = overloads.try_emplace(overload);
        if (!is_new)
            return tengine_error_set(TENGINE_EFORMAT, "function %s of domain %s is defined twice",
                                     quote_name(proto.name()).c_str(),
                                     quote_name(proto.domain()).c_str());
        Function& function = entry->second;
        function.proto = &proto;
        Opsets opsets;
        TENGINE_RETURN_IF_ERROR(collect_opsets(proto.opset_import(), &opsets));
        opsets.insert(model_.imports.model.begin(), model_.imports.model.end());
        function.opsets = &model_.imports.model;
        if (opsets != model_.imports.model)
            function.opsets = &model_.imports.functions.emplace_back(std::move(opsets));
        return read_defaults(proto, &function);
    }

    int read_defaults(const FunctionProto& proto, Function* function)
    {
        std::string encoded;
        std::vector<Encoded> payloads;
        TENGINE_RETURN_IF_ERROR(read_field(proto, kDefaultsOfFunction, &encoded, &payloads));
        for (const Encoded& payload : payloads) {
            auto& attribute = *make_message<AttributeProto>(&model_.arena);
            if (!attribute.ParseFromArray(payload.bytes.data(),
                                          static_cast<int>(payload.bytes.size())))
                return tengine_error_set(TENGINE_EFORMAT,
                                         "function %s: the default of an attribute is damaged",
                                         quote_name(proto.name()).c_str());
            function->defaults[attribute.name()] = &attribute;
        }
        return TENGINE_OK;
    }

    // Collects the names that new prefixes must not match.
    int collect_names()
    {
        for (const Encoded& encoded : model_.initializers) {
            google::protobuf::Arena arena;
            auto& proto = *make_message<::onnx::TensorProto>(&arena);
            std::vector<Encoded> raw;
            TENGINE_RETURN_IF_ERROR(
                split_message(encoded, ::onnx::TensorProto::kRawDataFieldNumber, &proto, &raw));
            taken_.insert(proto.name());
        }
        for (const auto& input : model_.graph.input())
            taken_.insert(input.name());
        for (const NodeProto& node : model_.graph.node()) {
            taken_.insert(node.output().begin(), node.output().end());
            taken_.insert(node.name());
        }
        return TENGINE_OK;
    }

    // The function that the node calls; null: none, or the operator is known here.
    int find_function(const NodeProto& node, const Opsets& opsets, const Function** out_function)
    {
        *out_function = nullptr;
        const std::string domain = normal_domain(node.domain());
        const auto overloads = functions_.find({domain, node.op_type()});
        if (overloads == functions_.end()) return TENGINE_OK;
        const auto opset = opsets.find(domain);
        if (opset != opsets.end()) {
            const int type = get_op_type(domain.c_str(), node.op_type().c_str());
            if (type >= 0 && find_op_method(type, opset->second)) return TENGINE_OK;
            if (has_custom_op(context_, domain.c_str(), node.op_type().c_str(), opset->second))
                return TENGINE_OK;
        }
        std::string overload;
        TENGINE_RETURN_IF_ERROR(read_overload(node, kOverloadOfNode, &overload));
        const auto found = overloads->second.find(overload);
        if (found != overloads->second.end()) *out_function = &found->second;
        return TENGINE_OK;
    }

    // ---- expanding ----

    // Expands the next node of the innermost frame, or ends the frame.
    int go_on()
    {
        Frame& frame = frames_.back();
        if (!frame.has_begun) TENGINE_RETURN_IF_ERROR(begin(&frame));
        if (frame.next < frame.count()) {
            const int index = frame.next++;
            if (!frame.call)
                return place(frame.nodes->mutable_node(index), frame.opsets, frame.target);
            NodeProto* copy;
            TENGINE_RETURN_IF_ERROR(copy_node(*frame.call, index, &copy));
            return place(copy, frame.opsets, frame.target);
        }
        end(&frame);
        frames_.pop_back();
        return TENGINE_OK;
    }

    int begin(Frame* frame)
    {
        frame->has_begun = true;
        if (++nested_ > kMostNested) return fail_depth();
        if (frame->call) {
            active_.push_back(&frame->call->function);
            return TENGINE_OK;
        }
        frame->nodes = make_message<GraphProto>(&model_.arena);
        frame->nodes->mutable_node()->Swap(frame->target->mutable_node());
        const auto handed = handed_over_.find(frame->target);
        if (handed == handed_over_.end()) return TENGINE_OK;
        frame->outer_active = active_;
        active_.resize(handed->second.active_num);
        return TENGINE_OK;
    }

    void end(Frame* frame)
    {
        --nested_;
        if (frame->call) {
            for (const auto& [from, to] : frame->call->copies)
                add_copy(from, to, frame->target);
            active_.pop_back();
        } else if (handed_over_.count(frame->target)) {
            active_.swap(frame->outer_active);
        }
    }

    // Node and target lie in the model's arena. Calls in the node's bodies are expanded before the
    // nodes after it.
    int place(NodeProto* node, const Opsets& opsets, GraphProto* target)
    {
        const Function* function;
        TENGINE_RETURN_IF_ERROR(find_function(*node, opsets, &function));
        if (function) return push_call(*node, *function, opsets, target);
        if (&opsets != &model_.imports.model) model_.imports.by_node.emplace(node, &opsets);
        target->mutable_node()->UnsafeArenaAddAllocated(node);
        for (int i = node->attribute_size() - 1; i >= 0; --i)
            if (node->attribute(i).has_g())
                push_body(node->mutable_attribute(i)->mutable_g(), opsets);
        return TENGINE_OK;
    }

    void push_graph(GraphProto* graph, const Opsets& opsets)
    {
        frames_.push_back({opsets, graph, nullptr});
    }

    // A graph that a call passes belongs to its caller.
    void push_body(GraphProto* graph, const Opsets& opsets)
    {
        const auto handed = handed_over_.find(graph);
        push_graph(graph, handed == handed_over_.end() ? opsets : *handed->second.opsets);
    }

    int push_call(const NodeProto& node, const Function& function, const Opsets& opsets,
                  GraphProto* target)
    {
        TENGINE_RETURN_IF_ERROR(check_call(node, function));
        auto call = std::make_unique<Call>(node, function, opsets, take_prefix(node));
        TENGINE_RETURN_IF_ERROR(bind(call.get()));
        frames_.push_back({*function.opsets, target, std::move(call)});
        return TENGINE_OK;
    }

    // Copies a node of the called function, with the attributes of the call.
    int copy_node(const Call& call, int index, NodeProto** out_copy)
    {
        const NodeProto& node = call.function.proto->node(index);
        TENGINE_RETURN_IF_ERROR(charge(node.ByteSizeLong(), 1));
        auto& copy = *make_message<NodeProto>(&model_.arena);
        copy = node;
        TENGINE_RETURN_IF_ERROR(rename_node(
            call.scope, [this](size_t bytes) { return charge(bytes); }, &copy));
        TENGINE_RETURN_IF_ERROR(set_references(call, &copy));
        const std::string name =
            copy.name().empty() ? copy.op_type() + "_" + std::to_string(index) : copy.name();
        copy.set_name(call.prefix + name);
        *out_copy = &copy;
        return TENGINE_OK;
    }

    int check_call(const NodeProto& node, const Function& function)
    {
        const std::string label = node_label(node.op_type(), node.name());
        if (std::find(active_.begin(), active_.end(), &function) != active_.end())
            return tengine_error_set(TENGINE_EGRAPH, "%s: function %s calls itself", label.c_str(),
                                     quote_name(function.proto->name()).c_str());
        if (nested_ >= kMostNested) return fail_depth();
        if (node.input_size() > function.proto->input_size() ||
            node.output_size() > function.proto->output_size())
            return tengine_error_set(
                TENGINE_EGRAPH,
                "%s has %d inputs and %d outputs, its function has at most %d and %d",
                label.c_str(), node.input_size(), node.output_size(), function.proto->input_size(),
                function.proto->output_size());
        return charge(0, 1);
    }

    static int fail_depth()
    {
        return tengine_error_set(TENGINE_ELIMIT,
                                 "functions and graphs of the model are nested more than %zu deep",
                                 kMostNested);
    }

    int charge(size_t bytes, size_t nodes = 0)
    {
        bytes_ += bytes;
        nodes_ += nodes;
        if (nodes_ <= kMostNodes && bytes_ <= kMostBytes) return TENGINE_OK;
        return tengine_error_set(TENGINE_ELIMIT,
                                 "the functions of the model become more than %zu nodes or %zu "
                                 "bytes where they are called",
                                 kMostNodes, kMostBytes);
    }

    // A prefix that only names of this call begin with.
    std::string take_prefix(const NodeProto& node)
    {
        std::string name = node.name().c_str();  // up to a NUL: the IR has C strings
        if (name.empty()) name = node.op_type().c_str();
        name.resize(std::min(name.size(), kLongestPrefix));
        std::string prefix = name + "/";
        while (is_taken(prefix))
            prefix = name + "_" + std::to_string(++last_number_) + "/";
        taken_.insert(prefix);
        return prefix;
    }

    bool is_taken(const std::string& prefix) const
    {
        const auto first = taken_.lower_bound(prefix);
        return first != taken_.end() && first->compare(0, prefix.size(), prefix) == 0;
    }

    // ---- names ----

    int bind(Call* call)
    {
        const FunctionProto& function = *call->function.proto;
        std::unordered_map<std::string, std::string>& names = call->scope.names;
        for (int i = 0; i < function.input_size(); ++i)
            names.emplace(function.input(i),
                          i < call->node.input_size() ? call->node.input(i) : "");
        for (int i = 0; i < call->node.output_size(); ++i)
            TENGINE_RETURN_IF_ERROR(bind_output(function.output(i), call->node.output(i), call));
        std::unordered_set<std::string> computed;
        for (const NodeProto& node : function.node()) {
            for (const std::string& name : node.output()) {
                TENGINE_RETURN_IF_ERROR(charge(call->prefix.size() + name.size()));
                call->scope.add(name);
                taken_.insert(call->scope.find(name));
                computed.insert(name);
            }
        }
        for (const std::string& name : function.input())
            computed.insert(name);
        for (const std::string& name : function.output())
            if (!computed.count(name))
                return tengine_error_set(
                    TENGINE_EGRAPH, "function %s: its output %s is not the output of a node",
                    quote_name(function.name()).c_str(), quote_name(name).c_str());
        for (const AttributeProto& attribute : call->node.attribute())
            call->attributes.emplace(attribute.name(), &attribute);
        return TENGINE_OK;
    }

    static int bind_output(const std::string& inner, const std::string& outer, Call* call)
    {
        if (outer.empty()) return TENGINE_OK;
        const auto [entry, is_new] = call->scope.names.emplace(inner, outer);
        if (is_new) return TENGINE_OK;
        if (entry->second.empty())
            return tengine_error_set(
                TENGINE_EGRAPH, "%s: output %s is input %s of the function, which is not given",
                node_label(call->node.op_type(), call->node.name()).c_str(),
                quote_name(outer).c_str(), quote_name(inner).c_str());
        call->copies.emplace_back(entry->second, outer);
        return TENGINE_OK;
    }

    void add_copy(const std::string& from, const std::string& to, GraphProto* target)
    {
        NodeProto* node = target->add_node();
        node->set_op_type("Identity");
        node->set_name(to);
        node->add_input(from);
        node->add_output(to);
        if (!model_.imports.model.count("")) {
            const Opsets& opsets = model_.imports.functions.emplace_back(Opsets{{"", 1}});
            model_.imports.by_node.emplace(node, &opsets);
        }
    }

    // ---- attributes ----

    // Attributes that refer to one of the function get the call's value, or its default; where
    // there is neither they are left out.
    int set_references(const Call& call, NodeProto* node)
    {
        auto* attributes = node->mutable_attribute();
        int kept = 0;
        for (int i = 0; i < attributes->size(); ++i) {
            bool is_given = true;
            TENGINE_RETURN_IF_ERROR(set_reference(call, attributes->Mutable(i), &is_given));
            if (is_given) attributes->SwapElements(kept++, i);
        }
        attributes->DeleteSubrange(kept, attributes->size() - kept);
        return TENGINE_OK;
    }

    int set_reference(const Call& call, AttributeProto* attribute, bool* out_given)
    {
        if (attribute->ref_attr_name().empty()) {
            if (!attribute->has_g()) return TENGINE_OK;
            for (NodeProto& node : *attribute->mutable_g()->mutable_node())
                TENGINE_RETURN_IF_ERROR(set_references(call, &node));
            return TENGINE_OK;
        }
        const AttributeProto* value = find_value(call, attribute->ref_attr_name());
        *out_given = value != nullptr;
        if (!value) return TENGINE_OK;
        if (value->graphs_size() > 0)
            return tengine_error_set(
                TENGINE_ENOTSUP,
                "%s: attribute %s of its function is a list of graphs, which is not supported",
                node_label(call.node.op_type(), call.node.name()).c_str(),
                quote_name(value->name()).c_str());
        TENGINE_RETURN_IF_ERROR(charge(value->ByteSizeLong()));
        const std::string name = attribute->name();
        *attribute = *value;
        attribute->set_name(name);
        if (value->has_g()) return take_graph(call, *value, *attribute);
        return TENGINE_OK;
    }

    // Copies a graph that the caller passes: it keeps the caller's names and imports.
    int take_graph(const Call& call, const AttributeProto& value, const AttributeProto& attribute)
    {
        if (call.attributes.count(value.name()) == 0)
            return tengine_error_set(
                TENGINE_ENOTSUP,
                "%s: the default of its attribute %s is a graph, which is not supported",
                node_label(call.node.op_type(), call.node.name()).c_str(),
                quote_name(value.name()).c_str());
        handed_over_[&attribute.g()] = {&call.opsets, active_.size() - 1};
        copy_origins(value.g(), attribute.g());
        return TENGINE_OK;
    }

    // Maps the origins of a graph and all graphs in it to those of a copy.
    void copy_origins(const GraphProto& from, const GraphProto& to)
    {
        const auto origin = handed_over_.find(&from);
        if (origin != handed_over_.end()) handed_over_[&to] = Origin(origin->second);
        for (int i = 0; i < from.node_size(); ++i)
            for (int k = 0; k < from.node(i).attribute_size(); ++k)
                if (from.node(i).attribute(k).has_g())
                    copy_origins(from.node(i).attribute(k).g(), to.node(i).attribute(k).g());
    }

    static const AttributeProto* find_value(const Call& call, const std::string& name)
    {
        const auto given = call.attributes.find(name);
        if (given != call.attributes.end()) return given->second;
        const auto usual = call.function.defaults.find(name);
        return usual == call.function.defaults.end() ? nullptr : usual->second;
    }

    OnnxModel& model_;
    const struct context* context_;
    // The functions by domain and name, then by overload.
    std::map<std::pair<std::string, std::string>, std::map<std::string, Function>> functions_;
    std::set<std::string> taken_;
    std::deque<Frame> frames_;             // the innermost is the last
    std::vector<const Function*> active_;  // that are being expanded
    std::unordered_map<const GraphProto*, Origin> handed_over_;
    size_t nested_ = 0;  // graphs and functions around the nodes being expanded
    size_t nodes_ = 0;
    size_t bytes_ = 0;
    int last_number_ = 0;  // the last number that made a name unique
};

}  // namespace

int expand_functions(OnnxModel* model, const struct context* context)
{
    return model->header.functions_size() == 0 ? TENGINE_OK : Expansion(model, context).run();
}

}  // namespace tengine
