// SPDX-License-Identifier: Apache-2.0
// The findings of `tengine verify`: claims of a device, and the outcome of each check of them.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace tengine::tools {

enum class Verdict
{
    kPassed,
    kFailed,
    kSkipped  // could not be checked; the detail gives the reason
};

// "passed", "failed", "skipped"
const char* verdict_text(Verdict verdict);

struct Finding
{
    std::string check;  // "values", "threads", "memory"
    // The case's properties; "" where they do not apply.
    std::string op;
    std::string types;
    std::string shape_class;
    std::string subject;  // "Conv 1x3x7x7 #4x3x3x3 pads=1,1,1,1", a layer of a model
    Verdict verdict = Verdict::kPassed;
    std::string detail;  // one line with values; may be ""
    // For a comparison, the largest error as a share of the allowed one, which is then 1, or other
    // numbers that the detail explains. Negative: does not apply.
    double error = -1;
    double bound = -1;
    std::string kernels = {};       // as the device names them; "" if it does not
    std::string reproduction = {};  // a command line; "": --only with the subject and the types
};

// The device's decision on a case.
struct Claim
{
    std::string op;
    std::string types;
    std::string shape_class;
    std::string subject;
    bool is_taken = false;
    std::string reason;  // the refusal's; "" where it is taken
};

// The number of each outcome of a check.
struct Tally
{
    int passed = 0;
    int failed = 0;
    int skipped = 0;
};

class Verification
{
  public:
    void add(const Finding& finding) { findings_.push_back(finding); }
    void add(const Claim& claim) { claims_.push_back(claim); }

    // An operator that the device lists, and for which no case is claimed or refused.
    void add_unverified(const std::string& op) { unverified_.push_back(op); }

    const std::vector<Finding>& findings() const { return findings_; }
    const std::vector<Claim>& claims() const { return claims_; }
    const std::vector<std::string>& unverified() const { return unverified_; }

    // By check.
    std::map<std::string, Tally> tally() const;
    int failed_number() const;
    bool has_failed() const { return failed_number() > 0; }
    int taken_number() const;

  private:
    std::vector<Finding> findings_;
    std::vector<Claim> claims_;
    std::vector<std::string> unverified_;
};

}  // namespace tengine::tools
