// SPDX-License-Identifier: Apache-2.0
// The models that run while allocations fail.
#pragma once

#include <string>

namespace tengine::ort_host {

// Each has the input x of floats, which has the shape [N], and the output y.
std::string make_fixed_model();     // N is 6
std::string make_free_model();      // N is free, and the results' shape depends on data
std::string make_choosing_model();  // an If, with nodes in and around its bodies

}  // namespace tengine::ort_host
