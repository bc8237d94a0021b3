// SPDX-License-Identifier: Apache-2.0
// Where the time of a run goes: the times of every node over many runs, for `tengine bench
// --profile`. docs/benchmark.md describes the JSON.
#pragma once

#include <string>
#include <vector>

#include "json_file.h"
#include "tengine/c_api.h"

namespace tengine::tools {

// A node of the prepared graph, or all nodes of an operator together.
struct ProfileRow
{
    std::string name;  // of an operator: ""
    std::string op;
    std::string device;  // of an operator on several devices: "CPU, TPU"
    int nodes = 1;
    bool simulated = false;  // the time is the device's own
    double ms = 0;           // median over the runs; of an operator the sum of these
    double share = 0;        // of all nodes
    int64_t macs = 0;
    int64_t bytes = 0;  // read and written, constants included, as far as shapes are known
    bool knows_bytes = true;
};

struct Profile
{
    int runs = 0;
    std::vector<ProfileRow> nodes;  // slowest first, as the next ones
    std::vector<ProfileRow> operators;
    std::vector<std::string> untimed;  // nodes whose device does not tell their time
    double total_ms = 0;               // sum over the nodes
};

// Collects the times of a prepared graph whose context has run.profile=1.
class Profiler
{
  public:
    // Throws Failure, as add_run() does.
    explicit Profiler(graph_t graph);

    // The run that has just ended.
    void add_run();

    Profile result() const;

  private:
    graph_t graph_;
    std::vector<std::vector<double>> times_;  // of each node
    std::vector<int> owners_;  // in whose body it is; -1: it is a node of the graph itself
};

Json to_json(const Profile& profile);

// Two tables: the operators, and the `top` slowest nodes.
std::string profile_text(const Profile& profile, int top);

}  // namespace tengine::tools
