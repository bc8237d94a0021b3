// SPDX-License-Identifier: Apache-2.0
#include "serializer/onnx/zip_map.h"

#include <unordered_set>

#include "base/log.h"
#include "serializer/onnx/message.h"

namespace tengine {
namespace {

using ::onnx::GraphProto;
using ::onnx::NodeProto;
using ::onnx::ValueInfoProto;

bool is_zip_map(const NodeProto& node)
{
    return node.domain() == "ai.onnx.ml" && node.op_type() == "ZipMap" && node.input_size() == 1 &&
           node.output_size() == 1;
}

}  // namespace

void drop_zip_maps(OnnxModel* model)
{
    GraphProto& graph = model->graph;
    std::unordered_map<std::string, ValueInfoProto*> outputs;
    for (ValueInfoProto& output : *graph.mutable_output())
        outputs.emplace(output.name(), &output);
    std::unordered_set<std::string> read;
    for (const NodeProto& node : graph.node())
        read.insert(node.input().begin(), node.input().end());
    int kept = 0;
    for (int i = 0; i < graph.node_size(); ++i) {
        const NodeProto& node = graph.node(i);
        const auto output = is_zip_map(node) ? outputs.find(node.output(0)) : outputs.end();
        if (output == outputs.end() || read.count(node.output(0))) {
            graph.mutable_node()->SwapElements(kept++, i);
            continue;
        }
        TLOG_NOTICE("%s is left out: the graph's output is its input %s, a row for each sample",
                    node_label(node.op_type(), node.name()).c_str(),
                    quote_name(node.input(0)).c_str());
        output->second->set_name(node.input(0));
        output->second->clear_type();
    }
    graph.mutable_node()->DeleteSubrange(kept, graph.node_size() - kept);
}

}  // namespace tengine
