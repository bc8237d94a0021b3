// SPDX-License-Identifier: Apache-2.0
// The report of `tengine inspect` and `tengine run --json` about a prepared graph, as data and as
// JSON, which docs/report.md describes. dot.h draws it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "buckets.h"
#include "compiled_parts.h"
#include "counters.h"
#include "hints.h"
#include "json_file.h"
#include "memory.h"
#include "memory_plan.h"
#include "metadata.h"
#include "model.h"
#include "trace.h"
#include "variants.h"

namespace tengine::tools {

struct Refusal
{
    std::string device;
    std::string reason;
    std::string attribute;
    std::string value;
    std::string message;
};

// A tensor that a node reads, or a result of the graph.
struct Value
{
    std::string name;
    int data_type = TENGINE_DT_FP32;
    std::vector<int> shape;    // -1: not known
    bool has_rank = false;     // false: not even the rank is known before the run
    int64_t bytes = 0;         // 0 while the shape is not known
    int producer = -1;         // index of the node that writes it, -1: none does
    bool is_constant = false;  // the model's or computed by the preparation
};

struct PlacedNode
{
    std::string name;
    std::string op;
    std::string device;
    int part = 0;
    int64_t macs = 0;
    double predicted_ms = 0;
    std::optional<double> measured_ms;  // in the last run, when it was profiled
    std::string kernel, kernel_reason;  // that computes it, and the reason; both may be empty
    std::vector<Refusal> refused;       // in the order of the devices
    std::vector<Value> inputs;          // without absent ones
    std::vector<int> reads, writes;     // indices of tensors; -1: absent
    std::string scope;                  // the module of the model, by the name; may be empty
    int precision = TENGINE_DT_UNKNOWN;
    std::vector<std::pair<std::string, std::string>> attributes;
    std::vector<Counter> counters;  // in the last run
    std::string doc_string;         // the model's
};

struct Part
{
    std::string device;
    int group = 0;  // 0: none
    int nodes = 0;
    int inputs = 0;
    int outputs = 0;
    int64_t macs = 0;
    int64_t bytes_in = 0;
    int64_t bytes_out = 0;
    double predicted_ms = 0;
    std::optional<double> measured_ms;  // in the last run
    int origin = 0;                     // TENGINE_PART_*
    int64_t redone = 0;                 // runs that the CPU did in the device's place
    std::vector<Counter> counters;      // in the last run
};

struct Report
{
    std::string model;
    std::string entry;                 // of several, which `entries` has
    std::vector<std::string> entries;  // of the model's file
    Metadata metadata;
    bool is_placed = true;                // false: see describe_model()
    bool is_warm = false;                 // the measured times are those of a later run
    std::vector<Tensor> inputs;           // without data
    std::vector<DeclaredShape> declared;  // the inputs' shapes, with the names of dimensions
    std::vector<Value> outputs;           // as the model has them
    std::vector<DeclaredShape> declared_outputs;
    std::vector<bool> depends_on_data;  // whether the shape of an output does; false if not placed
    int node_num = 0;                   // the model's, as the next one
    std::map<std::string, int> operators;  // nodes by operator
    int64_t macs = 0;
    int64_t parameters = 0;
    int64_t constant_bytes = 0;
    int64_t arena_bytes = 0;
    std::vector<CompiledPart> compiled;  // that the model has with it
    std::vector<Hint> hints;             // the model's
    std::vector<Preparation> preparations;
    Buckets buckets;
    std::vector<Variant> variants;  // the model's
    GraphMemory memory;
    int threads = 0;  // that the CPU runs the graph with
    std::string scheduler;
    std::vector<std::string> devices;  // the requested devices, then the others that got a node
    std::vector<Part> parts;           // in the order they run, as the nodes
    std::vector<PlacedNode> nodes;     // the nodes that the preparation made of the model's
    std::vector<Value> results;        // the outputs once more, with their producers
    std::vector<Value> tensors;        // those of the nodes
    std::vector<int> input_tensors;    // indices of the model's inputs and outputs in the list
    std::vector<int> output_tensors;
    MemoryPlan plan;
    Trace trace;
};

// The shape as that of a tensor; "?" when not even the rank is known.
inline std::string shape_text(const Value& value)
{
    return value.has_rank ? shape_text(value.shape) : "?";
}

// `graph` must be prepared, and not running. Throws Failure.
Report make_report(const std::string& model, const std::vector<std::string>& devices,
                   graph_t graph);

// The report of a graph that cannot be prepared because its inputs have free dimensions: nodes by
// name and operator, in the model's order, and all that does not depend on shapes.
Report describe_model(const std::string& model, graph_t graph);

Json to_json(const Report& report);

}  // namespace tengine::tools
