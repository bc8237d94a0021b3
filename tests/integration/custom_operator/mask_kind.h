// SPDX-License-Identifier: Apache-2.0
// The ways in which a program brings code for a node, each computing the function of mask.h.
#pragma once

#include <string>

#include "tengine/c_api.h"

namespace tengine {

struct MaskKind
{
    const char* name;
    const char* domain;  // and operator, of the node that it computes
    const char* op;
    bool (*enter)();               // before the model is loaded; null: nothing
    bool (*put_on)(node_t node);   // on the node itself; null: nothing
    const char* device = nullptr;  // that graphs have beside the CPU
    void (*leave)() = nullptr;     // after all graphs; null: nothing
    int output_num = 1;            // two: what is kept, and twice what is not

    bool takes_bytes = true;   // and not floats alone
    bool takes_halves = true;  // it computes the node also in a run of another precision than fp32

    bool has_bodies() const { return !put_on; }
};

extern const MaskKind kMaskKinds[];
extern const int kMaskKindNum;

}  // namespace tengine
