// SPDX-License-Identifier: Apache-2.0
// The report of `tengine verify` as one self-contained page of HTML: failures first, then the
// checks, and the device's claims by operator, type and shape class.
#pragma once

#include <string>

#include "verify/finding.h"
#include "verify/target.h"

namespace tengine::tools {

// `command`: the command line that made the report.
std::string report_page(const Target& target, const std::string& command,
                        const Verification& report);

}  // namespace tengine::tools
