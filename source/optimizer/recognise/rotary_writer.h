// SPDX-License-Identifier: Apache-2.0
// Writes RotaryEmbedding, whose tables have no heads and one element for each pair, in the place of
// nodes with other tables (rotary.h).
#pragma once

#include "base/containers.hpp"
#include "optimizer/graph/rewriter.h"
#include "optimizer/recognise/matcher.h"
#include "optimizer/recognise/rotary.h"

namespace tengine {

class RotaryWriter
{
  public:
    explicit RotaryWriter(Rewriter& rewriter) : rewriter_(rewriter) {}

    // Completes the operator's draft, which has a name and an output. Adds nodes and constants for
    // its inputs; an input is null after a failure.
    void draft(const Match& match, NodeDraft* draft);
    // Whether the operator's result gets the shape of x by a Reshape, and its draft.
    static bool is_reshaped(const Match& match);
    NodeDraft draft_reshape(const Match& match, tensor* rotated);

    // Tables that have been made since the last call are there for the operators that follow.
    void keep_tables() { kept_num_ = tables_.size(); }
    // They have been taken back.
    void forget_tables() { tables_.resize(kept_num_); }

  private:
    struct Table
    {
        const tensor* origin;
        bool is_interleaved;
        Vector<int> dims;
        tensor* made;
    };

    static RotaryShape shape_of(const Match& match);
    tensor* make_table(tensor& origin, const RotaryShape& shape, bool is_interleaved);
    tensor* cut_constant(const tensor& origin, const Vector<int>& dims, bool is_interleaved);
    tensor* cut(tensor& origin, const Vector<int>& dims, bool is_interleaved);
    tensor* reshape(tensor* value, const Vector<int>& dims);
    tensor* add(const char* op, const String& name, const Vector<tensor*>& inputs);

    Rewriter& rewriter_;
    Vector<Table> tables_;
    size_t kept_num_ = 0;
};

}  // namespace tengine
