// SPDX-License-Identifier: Apache-2.0
// Graphs of Tengine's operators, as loaded from a tmfile, for the tests of this folder: inputs and
// constants are nodes.
#pragma once

#include <initializer_list>
#include <random>
#include <vector>

#include "operator/operator.h"
#include "tengine/ir.h"

namespace tengine::test {

class SyntheticGraph
{
  public:
    SyntheticGraph();
    ~SyntheticGraph();
    SyntheticGraph(const SyntheticGraph&) = delete;
    SyntheticGraph& operator=(const SyntheticGraph&) = delete;

    // The node has one output, of its name.
    struct node* add(const char* name, int type, std::initializer_list<struct tensor*> inputs);
    // x[1,3,8,8].
    struct node* add_input();
    struct tensor* add_constant(const char* name, std::vector<int> dims, int data_type);
    void set_borders(const struct node* input, const struct node* output);

    struct graph* graph;
};

// Returns Tengine's operators that a file may have, except those of inputs and constants.
std::vector<const ir_method_t*> list_written_operators();

// Sets every field that files have to a value that its row allows; a status.
int set_random_fields(struct node* node, std::mt19937& random);

}  // namespace tengine::test
