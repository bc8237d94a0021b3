// SPDX-License-Identifier: Apache-2.0
// Arguments [NAME=]VALUE, whose names are those of a model's inputs or outputs: --input, --shape,
// --expect.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace tengine::tools {

// The values that the arguments of `option` give the tensors `names`, by their name. `role` is the
// word for such a tensor. With one tensor NAME= may be left out, and with several before a file of
// arrays (.npz), which is for all that no other argument names. Throws Failure: a name that is none
// of these, one that comes twice.
std::map<std::string, std::string> name_values(const std::string& option,
                                               const std::vector<std::string>& arguments,
                                               const std::vector<std::string>& names,
                                               const std::string& role);

// "'a', 'b'"
std::string quoted_list(const std::vector<std::string>& words);

}  // namespace tengine::tools
