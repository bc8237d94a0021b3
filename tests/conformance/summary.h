// SPDX-License-Identifier: Apache-2.0
// Many test folders at once, for developers: a line for each and a table by operator.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "conformance/not_supported.h"
#include "conformance/test_folder.h"

namespace tengine::conformance {

// Returns the test folders in or below `folders`, in order; throws tools::Failure for one without
// any.
std::vector<std::filesystem::path> find_tests(const std::vector<std::string>& folders);

// Returns the operators of the nodes of a test's model, also in graphs of attributes: "Conv",
// "com.microsoft.QGemm".
std::set<std::string> operators_of(const std::filesystem::path& folder);

// Runs every test folder in or below `folders` and prints the outcomes. They run in a process that
// is replaced if one of them crashes it, so that a crash costs one line. With a device the last
// line has the number of nodes that ran there. The library must not be initialised. Returns the
// number of failures; throws tools::Failure for a folder without tests.
int run_all(const std::vector<std::string>& folders, const RunSettings& settings,
            const NotSupportedList& list);

}  // namespace tengine::conformance
