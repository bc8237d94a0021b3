// SPDX-License-Identifier: Apache-2.0
// The ways in which a program provides code for a node, each computing the function of mask.h.
#pragma once

#include <string>

#include "tengine/c_api.h"

namespace tengine {

struct MaskKind
{
    const char* name;
    const char* domain;  // and operator, of the node that it computes
    const char* op;
    bool (*enter)();               // called before the model is loaded; null: nothing to do
    bool (*put_on)(node_t node);   // called for the node itself; null: nothing to do
    const char* device = nullptr;  // that graphs use besides the CPU
    void (*leave)() = nullptr;     // called after all graphs; null: nothing to do
    int output_num = 1;            // two: the kept elements, and twice the others

    bool takes_bytes = true;  // not only floats
    // whether it computes the node in a run of another precision than fp32
    bool takes_halves = true;

    bool has_bodies() const { return !put_on; }
};

extern const MaskKind kMaskKinds[];
extern const int kMaskKindNum;

}  // namespace tengine
