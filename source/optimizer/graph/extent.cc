// SPDX-License-Identifier: Apache-2.0
#include "optimizer/graph/extent.h"

#include <algorithm>
#include <cstring>

#include "base/minimal.h"
#include "graph/graph.h"
#include "operator/operator.h"

namespace tengine {
namespace {

bool is_source_only(const node& node)
{
    return node.op.method->domain && std::strcmp(node.op.method->domain, "tengine") == 0 &&
           (node.op.method->traits & OP_LEGACY) && !node.op.method->lower;
}

// Whether the user feeds the result of the node, and perhaps none of its inputs.
bool is_fed_by_user(const node& node)
{
    for (int i = 0; i < node.output_num; ++i) {
        const struct tensor* output = get_ir_node_output(&node, i);
        if (output && output->tensor_type == TENSOR_TYPE_INPUT) return true;
    }
    return false;
}

bool is_computed(const node& node)
{
    return !is_source_only(node) && !is_fed_by_user(node);
}

class Search
{
  public:
    explicit Search(const graph& source)
        : has_tensor_(static_cast<size_t>(source.tensor_num)),
          has_node_(static_cast<size_t>(source.node_num))
    {
        add(source.input_tensors, source.input_tensor_num);
        add(source.output_tensors, source.output_tensor_num);
        // The loop appends to the list that it walks.
        for (size_t i = 0; i < found_.tensors.size(); ++i) {
            const int32_t producer = source.tensor_list[found_.tensors[i]]->producer;
            if (producer >= 0) add(*source.node_list[producer]);
        }
        std::sort(found_.tensors.begin(), found_.tensors.end());
        std::sort(found_.nodes.begin(), found_.nodes.end());
    }

    Extent take() { return std::move(found_); }

  private:
    void add(const int32_t* tensors, int number)
    {
        for (int i = 0; i < number; ++i) {
            if (tensors[i] < 0 || has_tensor_[static_cast<size_t>(tensors[i])]) continue;
            has_tensor_[static_cast<size_t>(tensors[i])] = true;
            found_.tensors.push_back(tensors[i]);
        }
    }

    void add(const node& node)
    {
        if (has_node_[static_cast<size_t>(node.index)] || !is_computed(node)) return;
        has_node_[static_cast<size_t>(node.index)] = true;
        found_.nodes.push_back(node.index);
        add(node.input_tensors, node.input_num);
        add(node.output_tensors, node.output_num);
    }

    Extent found_;
    Vector<bool> has_tensor_, has_node_;
};

}  // namespace

Extent find_extent(const graph& source)
{
    return IS_MINIMAL ? list_all(source) : Search(source).take();
}

Extent list_all(const graph& source)
{
    Extent all;
    for (int32_t i = 0; i < source.tensor_num; ++i)
        all.tensors.push_back(i);
    for (int32_t i = 0; i < source.node_num; ++i)
        if (is_computed(*source.node_list[i])) all.nodes.push_back(i);
    return all;
}

}  // namespace tengine
