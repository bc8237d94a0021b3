// SPDX-License-Identifier: Apache-2.0
// The claims of a device: the cases and types that it takes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cases/case.h"
#include "json_file.h"
#include "verify/finding.h"
#include "verify/target.h"

namespace tengine::tools {

// A case in one of its types.
struct TypedCase
{
    Case of;
    int data_type = TENGINE_DT_FP32;   // the graph's
    int value_type = TENGINE_DT_FP32;  // that the device computes in
    std::string types;                 // "fp32", "fp32 in bf16"

    // The name for it in reports and for --only.
    std::string text() const { return of.op + " " + types + " " + of.shape_class; }
};

// The finding of `check` on the case, to be completed.
Finding begin_finding(const std::string& check, const TypedCase& typed);

// Whether each word of `only` is one of the operator, the types, the shape class or the case's
// name.
// "" lets all pass.
bool is_wanted(const std::string& only, const TypedCase& typed);

// The cases in every type that the target's device lists or, with a precision, the fp32 cases in
// that precision.
std::vector<TypedCase> list_typed_cases(const Target& target, const std::string& only);

// Called with the number of cases that are done, and the number of all.
using ShowProgress = std::function<void(int, int)>;

// Prepares each and adds the device's decision on it to the report, and a failed finding where the
// preparation fails. Returns those the device takes.
std::vector<TypedCase> make_manifest(const Target& target, const std::vector<TypedCase>& cases,
                                     Verification* report, const ShowProgress& show);

// Adds the operators that the device lists and that the report has no claim of: no case of the
// tables has them, none in a type that the device lists, or the preparation always computes them.
void add_unverified(const Target& target, Verification* report);

// Operator, types, shape class; the numbers of cases that are taken and refused, with reasons.
Json manifest_json(const Verification& report);

}  // namespace tengine::tools
