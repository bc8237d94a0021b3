// SPDX-License-Identifier: Apache-2.0
// Steps that compute each picture of a batch by itself. Pictures are what the first dimension
// counts.
#pragma once

#include "device/cpu/plan/step.h"

namespace tengine::cpu {

struct PictureTensors
{
    int pictures = 0;             // 0: the step does not compute each by itself, or there is one
    Vector<tensor*> divided;      // that have the pictures: of the step, and of its node
    Vector<const tensor*> whole;  // inputs that each picture needs whole; not constants
};

PictureTensors find_pictures(const Step& step);

}  // namespace tengine::cpu
