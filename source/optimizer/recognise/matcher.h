// SPDX-License-Identifier: Apache-2.0
// The search for a pattern in a graph.
#pragma once

#include <algorithm>

#include "optimizer/recognise/pattern.h"
#include "tengine/ir.h"

namespace tengine {

struct Match
{
    static constexpr int kMostNodes = 20;

    node* nodes[kMostNodes];  // each once, the first one writes the result
    int node_num = 0;
    tensor* operands[kOperandNum] = {};  // null: the pattern does not name it
    bool is_interleaved = false;         // pieces

    node& last() const { return *nodes[0]; }
    bool has(const node* node) const
    {
        return std::find(nodes, nodes + node_num, node) != nodes + node_num;
    }
};

// Whether `last` writes the result of the pattern, which can be replaced: nothing reads what the
// other nodes write, no user wants the nodes to differ in device or precision, and shapes are
// known.
bool find_pattern(const Pattern& pattern, node& last, Match* out_match);

// The value of a constant of one element.
float read_pattern_number(const tensor& constant);

}  // namespace tengine
