// SPDX-License-Identifier: Apache-2.0
// Nodes of .tflite files with byte code for the vendor's chip: each is a part of its own, which was
// compiled before.
#include <algorithm>
#include <cstring>

#include "adapter/vendor_device.h"

namespace tengine::adapter {
namespace {

// Above the groups of a compiler, which are below 2^30.
constexpr int kFirstGroup = 1 << 30;

char lower(char letter)
{
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

bool is_same_word(const char* a, const char* b)
{
    while (*a && lower(*a) == lower(*b))
        ++a, ++b;
    return lower(*a) == lower(*b);
}

bool is_maker(const VendorDevice& vendor, const char* maker)
{
    const char* driver = vendor.dispatch->manufacturer;
    const char* compiler = vendor.compiler->manufacturer;
    return *maker == '\0' || (driver && is_same_word(driver, maker)) ||
           (compiler && is_same_word(compiler, maker));
}

}  // namespace

bool is_dispatch(const struct node& node)
{
    return std::strcmp(get_ir_node_op(&node), "DISPATCH_OP") == 0 &&
           std::strcmp(get_ir_node_domain(&node), "tflite") == 0;
}

const struct node* find_dispatch(const struct subgraph& part)
{
    const struct node* node =
        part.node_num == 1 ? get_ir_graph_node(part.graph, part.node_list[0]) : nullptr;
    return node && is_dispatch(*node) ? node : nullptr;
}

void judge_dispatch(const VendorDevice& vendor, const struct node& node, ir_verdict_t* out_verdict)
{
    const char* maker = get_ir_node_text(&node, "manufacturer", "");
    const char* model = get_ir_node_text(&node, "soc_model", "");
    const char* own_model = find_soc_model(vendor, *node.graph);
    if (!is_maker(vendor, maker))
        refuse_ir_node(out_verdict, IR_REASON_COMPILER, "manufacturer", maker,
                       "its byte code is for a chip of %s", maker);
    else if (*model && own_model && !is_same_word(model, own_model))
        refuse_ir_node(out_verdict, IR_REASON_COMPILER, "soc_model", model,
                       "its byte code is for the chip %s, this one is %s", model, own_model);
    else if (!vendor.dispatch)
        refuse_ir_node(out_verdict, IR_REASON_COMPILER, "", "",
                       "no dispatch: %s runs no byte code here", vendor.name.c_str());
    else
        out_verdict->group = kFirstGroup + node.index;
}

int take_dispatch(VendorDevice& vendor, const struct node& node, Call* out_call)
{
    const struct tensor* bytes = get_ir_node_input(&node, node.input_num - 1);
    out_call->entry_point = get_ir_node_text(&node, "name", "");
    return load_shared_module(vendor, bytes->data, get_ir_tensor_bytes(bytes), &out_call->module);
}

}  // namespace tengine::adapter
