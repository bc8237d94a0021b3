// SPDX-License-Identifier: Apache-2.0
#include "verify/manifest.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "model.h"
#include "tengine/inspect.h"
#include "tensor_file/failure.h"
#include "text.h"
#include "verify/case_inputs.h"
#include "verify/graph_of_case.h"

namespace tengine::tools {
namespace {

std::vector<int> list_device_types(const std::string& device)
{
    std::vector<int> types;
    const int number = tengine_device_get_data_type_number(device.c_str());
    if (number < 0) fail_api("--device " + device);
    for (int i = 0; i < number; ++i)
        types.push_back(tengine_device_get_data_type(device.c_str(), i));
    return types;
}

std::set<std::string> list_device_operators(const std::string& device)
{
    std::set<std::string> names;
    for (int i = 0; i < tengine_device_get_operator_number(device.c_str()); ++i)
        names.insert(tengine_device_get_operator(device.c_str(), i));
    return names;
}

// As devices list them.
std::string without_domain(const std::string& op)
{
    return op.substr(op.rfind('.') + 1);
}

template <class Item>
bool contains(const std::vector<Item>& items, const Item& item)
{
    return std::find(items.begin(), items.end(), item) != items.end();
}

void add_types(const Case& of, const std::vector<int>& types, std::vector<TypedCase>* cases)
{
    for (const int type : of.types)
        if (contains(types, type))
            cases->push_back({of, type, type, tengine_data_type_get_name(type)});
}

void add_in_precision(const Case& of, int type, std::vector<TypedCase>* cases)
{
    if (contains(of.types, TENGINE_DT_FP32))
        cases->push_back({of, TENGINE_DT_FP32, type,
                          std::string("fp32 in ") + tengine_data_type_get_name(type)});
}

Finding failed_preparation(const TypedCase& typed, const std::string& detail)
{
    Finding finding = begin_finding("prepare", typed);
    finding.verdict = Verdict::kFailed;
    finding.detail = detail;
    return finding;
}

// Whether the device takes the case.
bool add_claim(const Target& target, const TypedCase& typed, Verification* report)
{
    const std::vector<Tensor> inputs = make_inputs(typed.of, typed.data_type, typed.value_type, 1);
    try {
        CaseGraph graph(typed.of, typed.data_type, inputs, target);
        graph.prepare();
        const Placement placement = graph.placement();
        if (placement.is_removed) return false;
        report->add(Claim{typed.of.op, typed.types, typed.of.shape_class, typed.of.name(),
                          placement.is_taken, placement.reason});
        return placement.is_taken;
    } catch (const Failure& failure) {
        report->add(failed_preparation(typed, failure.what()));
        return false;
    }
}

}  // namespace

Finding begin_finding(const std::string& check, const TypedCase& typed)
{
    Finding finding;
    finding.check = check;
    finding.op = typed.of.op;
    finding.types = typed.types;
    finding.shape_class = typed.of.shape_class;
    finding.subject = typed.of.name();
    return finding;
}

bool is_wanted(const std::string& only, const TypedCase& typed)
{
    const std::vector<std::string> words = words_of(typed.text() + " " + typed.of.name());
    const std::vector<std::string> wanted = words_of(only);
    return std::all_of(wanted.begin(), wanted.end(),
                       [&](const std::string& word) { return contains(words, word); });
}

std::vector<TypedCase> list_typed_cases(const Target& target, const std::string& only)
{
    const std::vector<int> types = list_device_types(target.device);
    const std::set<std::string> operators = list_device_operators(target.device);
    const int in_precision = type_of_precision(target.precision);
    std::vector<TypedCase> all, chosen;
    for (const Case& of : list_cases()) {
        if (operators.count(without_domain(of.op)) == 0) continue;
        in_precision == TENGINE_DT_FP32 ? add_types(of, types, &all)
                                        : add_in_precision(of, in_precision, &all);
    }
    std::copy_if(all.begin(), all.end(), std::back_inserter(chosen),
                 [&](const TypedCase& typed) { return is_wanted(only, typed); });
    return chosen;
}

std::vector<TypedCase> make_manifest(const Target& target, const std::vector<TypedCase>& cases,
                                     Verification* report, const ShowProgress& show)
{
    std::vector<TypedCase> taken;
    for (const TypedCase& typed : cases) {
        show(static_cast<int>(&typed - cases.data()), static_cast<int>(cases.size()));
        if (add_claim(target, typed, report)) taken.push_back(typed);
    }
    return taken;
}

void add_unverified(const Target& target, Verification* report)
{
    std::set<std::string> known;
    for (const Claim& claim : report->claims())
        known.insert(without_domain(claim.op));
    for (const std::string& op : list_device_operators(target.device))
        if (known.count(op) == 0) report->add_unverified(op);
}

Json manifest_json(const Verification& report)
{
    struct Count
    {
        int taken = 0, refused = 0;
        std::set<std::string> reasons;
    };
    std::map<std::tuple<std::string, std::string, std::string>, Count> counts;
    for (const Claim& claim : report.claims()) {
        Count& count = counts[{claim.op, claim.types, claim.shape_class}];
        ++(claim.is_taken ? count.taken : count.refused);
        if (!claim.is_taken) count.reasons.insert(claim.reason);
    }
    Json list = Json::array();
    for (const auto& [key, count] : counts) {
        const std::vector<std::string> reasons(count.reasons.begin(), count.reasons.end());
        list.push_back({{"operator", std::get<0>(key)},
                        {"types", std::get<1>(key)},
                        {"shape_class", std::get<2>(key)},
                        {"taken", count.taken},
                        {"refused", count.refused},
                        {"reasons", reasons}});
    }
    return list;
}

}  // namespace tengine::tools
