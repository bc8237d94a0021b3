// SPDX-License-Identifier: Apache-2.0
// Two devices that compute the function of mask.h: one is a vendor's compiler and dispatch,
// "MASKC", which takes nodes whose names end in "mask"; the other hosts the custom operator
// com.example.Mask, "MASKH".
#pragma once

namespace tengine {

bool enter_compiler();
void leave_compiler();

bool enter_host();
void leave_host();

}  // namespace tengine
