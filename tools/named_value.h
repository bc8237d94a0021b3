// SPDX-License-Identifier: Apache-2.0
// Arguments [NAME=]VALUE, whose names are those of a model's inputs or outputs: --input, --shape,
// --expect.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace tengine::tools {

// The values that the arguments of `option` give the tensors `names`, by name. `role` describes
// such a tensor. NAME= may be left out with one tensor, and with several before a file of arrays
// (.npz), which is for all tensors that no other argument names. Throws Failure: an unknown name,
// or one that occurs twice.
std::map<std::string, std::string> name_values(const std::string& option,
                                               const std::vector<std::string>& arguments,
                                               const std::vector<std::string>& names,
                                               const std::string& role);

// "'a', 'b'"
std::string quoted_list(const std::vector<std::string>& words);

}  // namespace tengine::tools
