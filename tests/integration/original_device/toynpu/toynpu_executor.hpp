// SPDX-License-Identifier: Apache-2.0
// A part of a graph on the chip; one function an operator, in op/.
#pragma once

extern "C" {
#include "device/device.h"
#include "graph/tensor.h"
#include "graph/node.h"
#include "graph/graph.h"
#include "graph/subgraph.h"
#include "operator/op.h"
#include "utility/log.h"
#include "utility/sys_port.h"
}

#include <cstdint>
#include <map>

#include "toynpu_sdk.h"

class ToyNPUEngine
{
public:
    ToyNPUEngine() : net(toynpu_create()) {}
    ~ToyNPUEngine() { toynpu_destroy(net); }

    int PreRun(struct subgraph* subgraph);
    int Run(struct subgraph* subgraph);

private:
    int Build(struct subgraph* subgraph);
    int TensorMap(struct graph* ir_graph, int ir_tensor_idx);

    bool AddConvolutionNode(struct node* ir_node);
    bool AddEltwiseNode(struct node* ir_node);
    bool AddReluNode(struct node* ir_node);

    toynpu_net* net;
    std::map<int, int> tensor_map; // index in the graph to the chip's id
};
