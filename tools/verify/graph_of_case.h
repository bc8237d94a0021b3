// SPDX-License-Identifier: Apache-2.0
// A case as a graph of the C API that runs on a target.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cases/case.h"
#include "tengine/c_api.h"
#include "tensor_file/tensor.h"
#include "verify/target.h"

namespace tengine::tools {

// The placement of a case's node.
struct Placement
{
    bool is_taken = false;      // the target's device runs it
    bool is_removed = false;    // the preparation left nothing to run
    bool is_converted = false;  // into the precision of the run, by a Cast
    std::string reason;         // the device's for a refusal; "" if there is none
    int64_t mac_number = 0;     // multiply-accumulates of a run
    std::string kernels;        // as the device names them; "" if it does not
};

// A context with the target's device in front and its options. The caller destroys it. Throws
// Failure.
context_t create_target_context(const Target& target);

// One graph, on one thread at a time. Every function throws Failure with the library's message.
class CaseGraph
{
  public:
    // `inputs`: as make_inputs() gives them in `data_type`. Constants are copied.
    CaseGraph(const Case& of, int data_type, const std::vector<Tensor>& inputs,
              const Target& target);

    void prepare();

    // Valid after prepare().
    Placement placement() const;

    // Sets the data of the fed inputs; shapes are those the graph has.
    void feed(const std::vector<Tensor>& inputs);

    // Gives the fed inputs the shapes of `inputs`; prepare() must follow.
    void reshape(const std::vector<Tensor>& inputs);

    void run();

    // Results of the last run.
    std::vector<Tensor> outputs() const;

    // Runs that the device failed and the CPU did instead, since prepare().
    int64_t redo_number() const;

    // For calls that this class has no function for.
    graph_t graph() const { return graph_.get(); }

  private:
    struct DestroyContext
    {
        void operator()(void* context) const { destroy_context(context); }
    };
    struct DestroyGraph
    {
        void operator()(void* graph) const { destroy_graph(graph); }
    };

    void add_input(int index, const Operand& operand, const Tensor& value, node_t node);
    tensor_t add_tensor(const std::string& name, const Tensor& value, int role);
    tensor_t add_conv(tensor_t from, const Tensor& value);

    Case case_;
    Target target_;
    std::vector<int> fed_;  // indices of the fed inputs
    std::unique_ptr<void, DestroyContext> context_;
    std::unique_ptr<void, DestroyGraph> graph_;
};

}  // namespace tengine::tools
