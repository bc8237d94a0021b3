// SPDX-License-Identifier: Apache-2.0
// A part of the host's graph that the library runs for a fused node.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "graph_build.h"

namespace tengine::provider {

class Part
{
  public:
    // `inputs` and `outputs` are in the host's order, with the names of the graph's tensors. If the
    // graph's inputs have complete shapes, it is prepared. Throws Failure.
    Part(GraphPointer graph, const std::vector<std::string>& inputs,
         const std::vector<std::string>& outputs, const options_t& options, bool has_shapes);
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;

    // Runs on the host's values; one run at a time, on any thread. The graph is prepared again for
    // other shapes; the library keeps the last few preparations. Throws Failure.
    void compute(OrtKernelContext* context);

    graph_t graph() const { return graph_.get(); }

  private:
    bool bind_input(OrtKernelContext* context, size_t index);
    void bind_output(OrtKernelContext* context, size_t index);
    bool is_late(size_t index) const;
    void copy_output(OrtKernelContext* context, size_t index);
    void prepare();

    const GraphPointer graph_;
    const options_t options_;
    std::vector<tensor_t> inputs_, outputs_;
    std::vector<size_t> late_;  // outputs whose shapes are known after the run only
    bool is_prepared_ = false;
    std::mutex mutex_;
};

}  // namespace tengine::provider
