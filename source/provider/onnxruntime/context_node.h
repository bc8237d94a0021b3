// SPDX-License-Identifier: Apache-2.0
// Parts that a device has compiled, in models that ONNX Runtime writes and loads again: nodes
// EPContext of the domain com.microsoft. Each holds a tmfile: the part's graph, its
// constants, and what its devices made of it (model.keep_parts).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "graph_build.h"
#include "graph_view.h"
#include "part.h"
#include "settings.h"

namespace tengine::provider {

// Whether the node holds a part that this provider has made.
bool is_our_context_node(const ViewedNode& node);

// The graph that the node of `view` holds, the only one of it. Throws Failure: neither the node's
// attributes nor the bytes are to be trusted.
GraphPointer load_context_node(const GraphView& view, const Settings& settings);

// `graph` as one of a tmfile, whose compiled parts can be kept. Throws Failure where an input has a
// free dimension, `free_input`, for a tmfile has one set of shapes; "": none has.
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
    // Moves a file to where it is one of these, and replaces what is there. Throws
    // std::exception: it stays where it is.
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

// A node that holds the part, in the place of `fused`. Where it
// is not embedded, the part goes into a file beside what the host makes of `model`. `notes` is for
// those who read the file.
NodePointer make_context_node(const Part& part, const OrtNode* fused, const Settings& settings,
                              const std::string& model, const std::string& notes,
                              WrittenFiles* files);

// The conditions of such nodes, as the host keeps them with a model, and their verdict here.
std::string describe_compatibility(const Settings& settings);
OrtCompiledModelCompatibility judge_compatibility(const std::string& description);

}  // namespace tengine::provider
