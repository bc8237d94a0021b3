// SPDX-License-Identifier: Apache-2.0
// Tmfiles that the library writes from graphs in the tree, for tests that also read the samples.
#pragma once

#include <string>
#include <vector>

namespace tengine::test {

// digits: the shipped ONNX network, saved with Tengine's operators. quantised: convolutions in
// uint8 with int8 weights. operators: every operator of Tengine once, with random parameters.
// compiled: "quantised" with the parts that two devices have compiled. variants: that with two
// variants, which have the second part.
std::vector<std::string> own_tmfile_names();

// Returns the bytes of one of these; "" for another name. The modules must be initialised.
std::string make_own_tmfile(const std::string& name);

}  // namespace tengine::test
