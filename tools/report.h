// SPDX-License-Identifier: Apache-2.0
// What `tengine inspect` shows of a prepared graph, as data and as JSON.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "json_file.h"
#include "model.h"

namespace tengine::tools {

struct Refusal
{
    std::string device;
    std::string reason;
    std::string attribute;
    std::string value;
    std::string message;
};

struct PlacedNode
{
    std::string name;
    std::string op;
    std::string device;
    int part = 0;
    int64_t macs = 0;
    std::vector<Refusal> refused;  // in the order of the devices
};

struct Part
{
    std::string device;
    int nodes = 0;
    int inputs = 0;
    int outputs = 0;
    int64_t macs = 0;
};

struct Report
{
    std::string model;
    std::vector<Tensor> inputs;  // without data, as outputs
    std::vector<Tensor> outputs;
    int node_number = 0;                   // of the model, as the next one
    std::map<std::string, int> operators;  // nodes by operator
    int64_t macs = 0;
    int64_t parameters = 0;
    int64_t constant_bytes = 0;
    int64_t arena_bytes = 0;
    std::vector<std::string> devices;  // those asked for, then the others that got a node
    std::vector<Part> parts;           // in the order they run, as the nodes
    std::vector<PlacedNode> nodes;     // what the preparation made of the model's
};

// `graph` must be prepared. Throws Failure.
Report make_report(const std::string& model, const std::vector<std::string>& devices,
                   graph_t graph);

Json to_json(const Report& report);

}  // namespace tengine::tools
