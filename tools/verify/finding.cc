// SPDX-License-Identifier: Apache-2.0
#include "verify/finding.h"

#include <algorithm>

namespace tengine::tools {

const char* verdict_text(Verdict verdict)
{
    static const char* const texts[] = {"passed", "failed", "skipped"};
    return texts[static_cast<int>(verdict)];
}

std::map<std::string, Tally> Verification::tally() const
{
    std::map<std::string, Tally> by_check;
    for (const Finding& finding : findings_) {
        Tally& tally = by_check[finding.check];
        tally.passed += finding.verdict == Verdict::kPassed;
        tally.failed += finding.verdict == Verdict::kFailed;
        tally.skipped += finding.verdict == Verdict::kSkipped;
    }
    return by_check;
}

int Verification::failed_number() const
{
    return static_cast<int>(
        std::count_if(findings_.begin(), findings_.end(),
                      [](const Finding& finding) { return finding.verdict == Verdict::kFailed; }));
}

int Verification::taken_number() const
{
    return static_cast<int>(std::count_if(claims_.begin(), claims_.end(),
                                          [](const Claim& claim) { return claim.is_taken; }));
}

}  // namespace tengine::tools
