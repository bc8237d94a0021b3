// SPDX-License-Identifier: Apache-2.0
// The report of `tengine verify` as JSON; docs/verify.md describes the members.
#pragma once

#include "json_file.h"
#include "verify/finding.h"
#include "verify/target.h"

namespace tengine::tools {

Json report_json(const Target& target, const Verification& report);

// The command line for the target: "tengine verify --plugin npu.so --device NPU".
std::string target_text(const Target& target);

// The command line that repeats a finding.
std::string reproduction_text(const Target& target, const Finding& finding);

}  // namespace tengine::tools
