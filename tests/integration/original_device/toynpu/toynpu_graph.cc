// SPDX-License-Identifier: Apache-2.0
// Each part of a graph has an engine of its own.
#include "toynpu_graph.hpp"

#include "toynpu_executor.hpp"

extern "C" {
#include "graph/subgraph.h"
}

int toynpu_dev_init(struct device* dev)
{
    (void)dev;
    return 0;
}

int toynpu_dev_prerun(struct device* dev, struct subgraph* subgraph, void* options)
{
    subgraph->device_graph = new ToyNPUEngine;
    auto engine = (ToyNPUEngine*)subgraph->device_graph;

    return engine->PreRun(subgraph);
}

int toynpu_dev_run(struct device* dev, struct subgraph* subgraph)
{
    auto engine = (ToyNPUEngine*)subgraph->device_graph;

    return engine->Run(subgraph);
}

int toynpu_dev_postrun(struct device* dev, struct subgraph* subgraph)
{
    auto engine = (ToyNPUEngine*)subgraph->device_graph;
    delete engine;

    return 0;
}

int toynpu_dev_release(struct device* dev)
{
    (void)dev;
    return 0;
}
