// SPDX-License-Identifier: Apache-2.0
// Query heads that share a head of keys and values are adjacent, so that (B, N, L, H) is reshaped
// to (B, N of K, heads each, L, H), and a product broadcasts.
#include "serializer/onnx/flex_attention.h"

#include <utility>

#include "operator/custom/op.h"
#include "serializer/onnx/message.h"
#include "serializer/onnx/scope.h"

namespace tengine {
namespace {

using ::onnx::AttributeProto;
using ::onnx::GraphProto;
using ::onnx::NodeProto;

constexpr const char* kDomain = "ai.onnx.preview";
constexpr const char* kType = "FlexAttention";
// The first opset with Attention; Shape with a range and Reshape with empty shapes are older.
constexpr int kOldestOpset = 23;

using Names = std::vector<std::string>;

std::string label_of(const NodeProto& node)
{
    return node_label(node.op_type(), node.name());
}

// The attribute, null if the node does not have it.
AttributeProto* find_attribute(NodeProto& node, const char* name)
{
    for (AttributeProto& attribute : *node.mutable_attribute())
        if (attribute.name() == name) return &attribute;
    return nullptr;
}

int check_graph(const NodeProto& node, const AttributeProto& attribute)
{
    const GraphProto& graph = attribute.g();
    if (attribute.has_g() && graph.input_size() == 1 && graph.output_size() == 1) return TENGINE_OK;
    return tengine_error_set(TENGINE_EGRAPH,
                             "%s: its graph %s has %d inputs and %d outputs, expected one of each",
                             label_of(node).c_str(), quote_name(attribute.name()).c_str(),
                             graph.input_size(), graph.output_size());
}

int check_node(const NodeProto& node, const Opsets& opsets)
{
    const bool has_values = node.input_size() == 3 && !node.input(0).empty() &&
                            !node.input(1).empty() && !node.input(2).empty();
    if (!has_values || node.output_size() != 1 || node.output(0).empty())
        return tengine_error_set(TENGINE_EGRAPH,
                                 "%s has %d inputs and %d outputs, expected 3 and 1",
                                 label_of(node).c_str(), node.input_size(), node.output_size());
    const auto opset = opsets.find("");
    if (opset == opsets.end() || opset->second < kOldestOpset)
        return tengine_error_set(TENGINE_ENOTSUP,
                                 "%s needs ONNX's operators of opset %d or newer, the model "
                                 "imports %d",
                                 label_of(node).c_str(), kOldestOpset,
                                 opset == opsets.end() ? 0 : opset->second);
    for (const AttributeProto& attribute : node.attribute()) {
        const std::string& name = attribute.name();
        if (name == "scale" || name == "softmax_precision") continue;
        if (name != "score_mod" && name != "prob_mod")
            return tengine_error_set(TENGINE_EFORMAT,
                                     "%s: attribute %s is not one of scale, softmax_precision, "
                                     "score_mod and prob_mod",
                                     label_of(node).c_str(), quote_name(name).c_str());
        TENGINE_RETURN_IF_ERROR(check_graph(node, attribute));
    }
    return TENGINE_OK;
}

// The nodes that replace one, in `target`.
class Expanded
{
  public:
    Expanded(NodeProto* node, const Opsets* opsets, OnnxModel* model, GraphProto* target)
        : node_(*node),
          opsets_(opsets),
          model_(*model),
          target_(*target),
          prefix_(node->output(0) + "/"),
          label_(node->name().empty() ? node->output(0) : node->name()),
          query_(node->input(0)),
          key_(node->input(1)),
          value_(node->input(2))
    {
    }

    int run()
    {
        AttributeProto* score_mod = find_attribute(node_, "score_mod");
        AttributeProto* prob_mod = find_attribute(node_, "prob_mod");
        const int precision = find_precision(score_mod, prob_mod);
        std::string scores = add_scores();
        if (precision > 0) {
            scores = add("Cast", {scores}, "precise_scores");
            set_int("to", precision);
        }
        if (score_mod) TENGINE_RETURN_IF_ERROR(move_graph(score_mod, &scores));
        std::string probabilities = add("Softmax", {scores}, "probabilities");
        set_int("axis", -1);
        if (prob_mod) TENGINE_RETURN_IF_ERROR(move_graph(prob_mod, &probabilities));
        add_results(probabilities);
        return TENGINE_OK;
    }

  private:
    // ---- nodes ----

    // Adds a node with one result, which has this name.
    std::string add(const char* type, const Names& inputs, const std::string& name)
    {
        last_ = target_.add_node();
        last_->set_op_type(type);
        last_->set_name(label_ + "/" + name);
        for (const std::string& input : inputs)
            last_->add_input(input);
        last_->add_output(prefix_ + name);
        if (opsets_) model_.imports.by_node.emplace(last_, opsets_);
        return last_->output(0);
    }

    AttributeProto* add_attribute(const char* name, AttributeProto::AttributeType type)
    {
        AttributeProto* attribute = last_->add_attribute();
        attribute->set_name(name);
        attribute->set_type(type);
        return attribute;
    }

    void set_int(const char* name, int value)
    {
        add_attribute(name, AttributeProto::INT)->set_i(value);
    }

    void set_ints(const char* name, std::initializer_list<int> values)
    {
        AttributeProto* attribute = add_attribute(name, AttributeProto::INTS);
        for (const int value : values)
            attribute->add_ints(value);
    }

    // The dimensions first to end - 1 of a value that has four.
    std::string add_dims(const std::string& value, int first, int end, const char* name)
    {
        std::string dims = add("Shape", {value}, name);
        set_int("start", first);
        set_int("end", end);
        return dims;
    }

    std::string add_reshape(const std::string& value, const Names& dims, const std::string& name)
    {
        const std::string shape = add("Concat", dims, name + "_shape");
        set_int("axis", 0);
        std::string reshaped = add("Reshape", {value, shape}, name);
        set_int("allowzero", 1);
        return reshaped;
    }

    // ---- the parts ----

    // The data type of the softmax, 0: that of the values. Where the node does not give a type,
    // that of the graph's inputs is used.
    int find_precision(const AttributeProto* score_mod, const AttributeProto* prob_mod)
    {
        const AttributeProto* precision = find_attribute(node_, "softmax_precision");
        if (precision) return static_cast<int>(precision->i());
        const AttributeProto* mod = score_mod ? score_mod : prob_mod;
        return mod->g().input(0).type().tensor_type().elem_type();
    }

    // The square root of the scale, by which both factors of the scores are multiplied.
    std::string add_scale()
    {
        std::string scale;
        if (const AttributeProto* given = find_attribute(node_, "scale")) {
            scale = add("Constant", {}, "scale");
            add_attribute("value_float", AttributeProto::FLOAT)->set_f(given->f());
        } else {
            const std::string size = add("Cast", {add_dims(query_, 3, 4, "size")}, "float_size");
            set_int("to", ::onnx::TensorProto::FLOAT);
            scale = add("Reciprocal", {add("Sqrt", {size}, "root_of_size")}, "scale");
        }
        return add("CastLike", {add("Sqrt", {scale}, "root_of_scale"), query_}, "factor");
    }

    // The heads of a key or value, each broadcast to the query heads that share it.
    std::string add_shared(const std::string& value, const char* name)
    {
        const std::string axis = add("Constant", {}, std::string(name) + "_axis");
        set_ints("value_ints", {2});
        return add("Unsqueeze", {value, axis}, name);
    }

    std::string add_scores()
    {
        const std::string factor = add_scale();
        key_heads_ = add_dims(key_, 0, 2, "key_heads");
        sharing_ = add(
            "Div", {add_dims(query_, 1, 2, "head_number"), add_dims(key_, 1, 2, "key_head_number")},
            "heads_each");
        query_length_ = add_dims(query_, 2, 3, "query_length");
        key_length_ = add_dims(key_, 2, 3, "key_length");
        query_heads_ = add_dims(query_, 0, 3, "query_heads");
        const std::string query = add_reshape(
            add("Mul", {query_, factor}, "scaled_query"),
            {key_heads_, sharing_, query_length_, add_dims(query_, 3, 4, "head_size")}, "query");
        const std::string key =
            add("Transpose", {add_shared(add("Mul", {key_, factor}, "scaled_key"), "key")},
                "key_columns");
        set_ints("perm", {0, 1, 2, 4, 3});
        return add_reshape(add("MatMul", {query, key}, "products"), {query_heads_, key_length_},
                           "scores");
    }

    void add_results(const std::string& probabilities)
    {
        const std::string weights =
            add_reshape(add("CastLike", {probabilities, value_}, "weights"),
                        {key_heads_, sharing_, query_length_, key_length_}, "shared_weights");
        const std::string sums = add("MatMul", {weights, add_shared(value_, "value")}, "sums");
        add_reshape(sums, {query_heads_, add_dims(value_, 3, 4, "value_size")}, "output");
        last_->set_output(0, node_.output(0));
        last_->set_name(label_);
    }

    // Moves the nodes of the attribute's graph, which change `*value`.
    int move_graph(AttributeProto* attribute, std::string* value)
    {
        static const std::string kUnknownPrefix;  // for names of the enclosing graph
        GraphProto& graph = *attribute->mutable_g();
        const std::string prefix = prefix_ + attribute->name() + "/";
        const Scope scope{prefix, kUnknownPrefix, nullptr, {}};
        const auto free = [](size_t) { return static_cast<int>(TENGINE_OK); };
        TENGINE_RETURN_IF_ERROR(rename_graph(scope, free, &graph));
        add("Identity", {*value}, attribute->name());
        last_->set_output(0, graph.input(0).name());
        auto& old = *make_message<GraphProto>(&model_.arena);
        old.mutable_node()->Swap(graph.mutable_node());
        for (NodeProto& node : *old.mutable_node()) {
            node.set_name(label_ + "/" + attribute->name() + "/" +
                          (node.name().empty() ? node.op_type() : node.name()));
            target_.mutable_node()->UnsafeArenaAddAllocated(&node);
        }
        target_.mutable_initializer()->MergeFrom(graph.initializer());
        target_.mutable_sparse_initializer()->MergeFrom(graph.sparse_initializer());
        target_.mutable_value_info()->MergeFrom(graph.value_info());
        *value = graph.output(0).name();
        return TENGINE_OK;
    }

    NodeProto& node_;
    const Opsets* opsets_;  // null: the model's
    OnnxModel& model_;
    GraphProto& target_;
    const std::string prefix_, label_;
    const std::string query_, key_, value_;
    NodeProto* last_ = nullptr;
    // Shapes, as values.
    std::string key_heads_, sharing_, query_length_, key_length_, query_heads_;
};

class FlexExpansion
{
  public:
    FlexExpansion(OnnxModel* model, const struct context* context)
        : model_(*model), context_(context)
    {
    }

    // The graphs of nodes come first, since moved nodes have none left.
    int expand_graph(GraphProto* graph)
    {
        auto& old = *make_message<GraphProto>(&model_.arena);
        old.mutable_node()->Swap(graph->mutable_node());
        for (NodeProto& node : *old.mutable_node()) {
            for (AttributeProto& attribute : *node.mutable_attribute())
                if (attribute.has_g()) TENGINE_RETURN_IF_ERROR(expand_graph(attribute.mutable_g()));
            if (is_flex_attention(node))
                TENGINE_RETURN_IF_ERROR(expand(&node, graph));
            else
                graph->mutable_node()->UnsafeArenaAddAllocated(&node);
        }
        return TENGINE_OK;
    }

  private:
    bool is_flex_attention(const NodeProto& node) const
    {
        if (node.op_type() != kType || node.domain() != kDomain) return false;
        const Opsets& opsets = model_.imports.of(node);
        const auto opset = opsets.find(kDomain);
        return opset != opsets.end() && opset->second == 1 &&
               !has_custom_op(context_, kDomain, kType, 1);
    }

    int expand(NodeProto* node, GraphProto* target)
    {
        TENGINE_RETURN_IF_ERROR(check_node(*node, model_.imports.of(*node)));
        if (find_attribute(*node, "score_mod") || find_attribute(*node, "prob_mod")) {
            const auto own = model_.imports.by_node.find(node);
            const Opsets* opsets = own == model_.imports.by_node.end() ? nullptr : own->second;
            return Expanded(node, opsets, &model_, target).run();
        }
        node->set_op_type("Attention");
        node->clear_domain();
        target->mutable_node()->UnsafeArenaAddAllocated(node);
        return TENGINE_OK;
    }

    OnnxModel& model_;
    const struct context* context_;
};

bool imports_preview(const Imports& imports)
{
    bool any = imports.model.count(kDomain) > 0;
    for (const Opsets& opsets : imports.functions)
        any = any || opsets.count(kDomain) > 0;
    return any;
}

}  // namespace

int expand_flex_attention(OnnxModel* model, const struct context* context)
{
    if (!imports_preview(model->imports)) return TENGINE_OK;
    return FlexExpansion(model, context).expand_graph(&model->graph);
}

}  // namespace tengine
