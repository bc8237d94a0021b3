// SPDX-License-Identifier: Apache-2.0
// The times of nodes over many runs, for `tengine bench --profile`. docs/benchmark.md describes the
// JSON.
#pragma once

#include <string>
#include <vector>

#include "json_file.h"
#include "tengine/c_api.h"

namespace tengine::tools {

struct Report;

// A node of the prepared graph, all nodes of an operator together, or the nodes of a part whose
// device does not report their times.
struct ProfileRow
{
    std::string name;    // "" for an operator; "part 1" for a part
    std::string op;      // "" for a part
    std::string device;  // "CPU, TPU" for an operator on several devices
    int nodes = 1;
    bool simulated = false;  // the time by the device's clock
    double ms = 0;           // median over the runs; for an operator the sum of these
    double share = 0;        // share of the run
    int64_t macs = 0;
    int64_t bytes = 0;  // read and written, constants included, as far as shapes are known
    bool knows_bytes = true;
    std::string kernel = "";  // of a node, if its device reports one
};

struct Profile
{
    int runs = 0;
    std::vector<ProfileRow> nodes;  // slowest first, as the next ones
    std::vector<ProfileRow> operators;
    std::vector<ProfileRow> parts;     // with the nodes whose device does not report their times
    std::vector<std::string> untimed;  // these nodes
    double total_ms = 0;               // sum over nodes and parts
    double run_ms = 0;  // a run, with simulated devices by their own clocks; not below total_ms
};

// Collects the times of a prepared graph whose context has run.profile=1.
class Profiler
{
  public:
    // Throws Failure, as add_run() does.
    explicit Profiler(graph_t graph);

    // Adds the run that has just ended, which took `ms`.
    void add_run(double ms);

    Profile result() const;

  private:
    struct PartTimes
    {
        int owner = -1;             // the node whose body has it
        std::vector<double> whole;  // for each run, as the next one
        std::vector<double> known;  // for its nodes that have a time
        std::vector<double> rest;   // for the runs in which some of its nodes had none
    };

    void add_parts(const std::vector<double>& nodes, std::vector<double>* own);
    double run_ms(const std::vector<bool>& simulated) const;
    // Returns for each part whether it is simulated.
    std::vector<bool> add_part_rows(const Report& report, Profile* profile) const;
    void add_node_rows(const Report& report, const std::vector<bool>& simulated,
                       Profile* profile) const;

    graph_t graph_;
    std::vector<std::vector<double>> times_;  // for each node
    std::vector<int> owners_;  // the node whose body has it; -1: a node of the graph itself
    std::vector<int> part_of_;
    std::vector<PartTimes> parts_;
    std::vector<double> runs_;
};

Json to_json(const Profile& profile);

// Two tables: the operators, and the `top` slowest nodes. Time that belongs to no node is the first
// line.
std::string profile_text(const Profile& profile, int top);

}  // namespace tengine::tools
