// SPDX-License-Identifier: Apache-2.0
// The first check of `tengine verify`: results against the reference, within their bounds.
#pragma once

#include <vector>

#include "verify/finding.h"
#include "verify/manifest.h"
#include "verify/target.h"

namespace tengine::tools {

// Runs each case, which the target's device takes, and adds a finding.
void check_values(const Target& target, const std::vector<TypedCase>& cases, Verification* report,
                  const ShowProgress& show);

}  // namespace tengine::tools
