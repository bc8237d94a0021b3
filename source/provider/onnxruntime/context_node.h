// SPDX-License-Identifier: Apache-2.0
// Compiled parts in models that ONNX Runtime writes and loads again: nodes EPContext of the domain
// com.microsoft. Each holds a tmfile: the part's graph, its constants, and the compiled parts of
// its devices (model.keep_parts).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "graph_build.h"
#include "graph_view.h"
#include "part.h"
#include "settings.h"

namespace tengine::provider {

// Whether this provider has made the part in the node.
bool is_our_context_node(const ViewedNode& node);

// The graph in the only node of `view`. Throws Failure: the node's attributes and the bytes are not
// trusted.
GraphPointer load_context_node(const GraphView& view, const Settings& settings);

// `graph` loaded from a tmfile, so that its compiled parts can be kept. Throws Failure if an input
// has a free dimension, `free_input`, since a tmfile has one set of shapes; "": none has.
GraphPointer compile_for_context_node(const GraphPointer& graph, const Settings& settings,
                                      const std::string& free_input);

// Files that are removed again unless keep() is called.
class WrittenFiles
{
  public:
    WrittenFiles() = default;
    ~WrittenFiles();
    WrittenFiles(const WrittenFiles&) = delete;
    WrittenFiles& operator=(const WrittenFiles&) = delete;

    size_t size() const { return paths_.size(); }
    // Moves one of these files to the path `to`, and replaces a file there. Throws std::exception:
    // the file was not moved.
    void move(const std::string& from, std::string to);
    void keep() { paths_.clear(); }

  private:
    std::vector<std::string> paths_;
};

struct ReleaseNode
{
    void operator()(OrtNode* node) const { runtime().api->ReleaseNode(node); }
};
using NodePointer = std::unique_ptr<OrtNode, ReleaseNode>;

// A node with the part, in place of `fused`. A part that is not embedded goes into a file beside
// the one that the host writes for `model`. `notes` are for readers of the file.
NodePointer make_context_node(const Part& part, const OrtNode* fused, const Settings& settings,
                              const std::string& model, const std::string& notes,
                              WrittenFiles* files);

// The conditions of such nodes, as the host stores them with a model, and whether they hold here.
std::string describe_compatibility(const Settings& settings);
OrtCompiledModelCompatibility judge_compatibility(const std::string& description);

}  // namespace tengine::provider
