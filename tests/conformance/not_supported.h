// SPDX-License-Identifier: Apache-2.0
// The lists of tests that are known not to pass, with the reason of each: not_supported.txt for the
// installed suite, not_supported_newer.txt for newer cases. They may only shrink: a listed test
// that passes is a failure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "conformance/test_folder.h"

namespace tengine::conformance {

// Reason by test name. A line is "<category>/<test> <reason>"; lines that begin with # and empty
// lines are comments. Throws tools::Failure: a line without reason, a test named twice or out of
// alphabetical order.
using NotSupportedList = std::map<std::string, std::string>;
NotSupportedList read_not_supported(const std::vector<std::string>& paths);

// Returns the outcome of a test with regard to the list. kNotSupported: it is listed, and the
// library refused it as not supported (or, if the list calls it random or a matter of rounding,
// gave values of its own).
Outcome judge(const std::string& name, const Outcome& outcome, const NotSupportedList& list);

}  // namespace tengine::conformance
