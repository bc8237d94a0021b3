// SPDX-License-Identifier: Apache-2.0
// `tengine verify`: whether a device computes what it claims to. The cases are those of
// tools/cases, the error bounds are in bound.h, each check is in a file.
#include <cstdio>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "command.h"
#include "command_line.h"
#include "interrupt.h"
#include "json_file.h"
#include "model.h"
#include "output_path.h"
#include "progress.h"
#include "tensor_file/failure.h"
#include "text.h"
#include "verify/behaviour.h"
#include "verify/graph_of_case.h"
#include "verify/layers.h"
#include "verify/manifest.h"
#include "verify/report_json.h"
#include "verify/report_page.h"
#include "verify/values.h"

namespace tengine::tools {
namespace {

struct VerifyOptions
{
    Target target;
    std::string only;
    LayerOptions layers;
    std::string manifest;
    std::string json;
    std::string page;
    bool quiet = false;
};

void print_claims(const Target& target, const Verification& report)
{
    std::set<std::string> operators, types;
    for (const Claim& claim : report.claims()) {
        if (!claim.is_taken) continue;
        operators.insert(claim.op);
        types.insert(claim.types);
    }
    const int taken = report.taken_number();
    const int refused = static_cast<int>(report.claims().size()) - taken;
    std::printf("device %s claims %d cases of %zu operators in %zu types, and refuses %d\n",
                target.device.c_str(), taken, operators.size(), types.size(), refused);
    if (taken == 0) std::printf("  it takes nothing, so there is nothing to verify\n");
    if (report.unverified().empty()) return;
    std::printf("claimed, not verified: no case for %zu operators\n%s", report.unverified().size(),
                paragraph_text(report.unverified(), 2).c_str());
}

void print_failures(const Target& target, const Verification& report)
{
    for (const Finding& finding : report.findings()) {
        if (finding.verdict == Verdict::kPassed) continue;
        std::printf("%s: %s %s %s, %s\n  %s\n  %s\n", verdict_text(finding.verdict),
                    finding.check.c_str(), finding.op.c_str(), finding.types.c_str(),
                    finding.shape_class.c_str(), finding.subject.c_str(), finding.detail.c_str());
        if (finding.verdict == Verdict::kFailed)
            std::printf("  %s\n", reproduction_text(target, finding).c_str());
    }
}

void print_tally(const Verification& report)
{
    Rows rows = {{"check", ">passed", ">failed", ">skipped"}};
    for (const auto& [check, tally] : report.tally())
        rows.push_back({check, std::to_string(tally.passed), std::to_string(tally.failed),
                        std::to_string(tally.skipped)});
    if (rows.size() > 1) std::printf("%s", table_text(rows).c_str());
}

// Ctrl-C: the findings so far are reported.
struct Interrupted
{
};

ShowProgress show_until_interrupted(Progress* progress)
{
    return [progress](int done, int total) {
        if (was_interrupted()) throw Interrupted();
        progress->show(done, total);
    };
}

void check_everything(const VerifyOptions& options, Verification* report)
{
    Progress progress("verify " + options.target.device, progress_output(options.quiet));
    const ShowProgress show = show_until_interrupted(&progress);
    const std::vector<TypedCase> cases = list_typed_cases(options.target, options.only);
    const std::vector<TypedCase> taken = make_manifest(options.target, cases, report, show);
    if (options.only.empty()) add_unverified(options.target, report);
    check_values(options.target, taken, report, show);
    check_behaviour(options.target, taken, report, show);
    check_faults(options.target, cases, report, show);
}

void check_model(const VerifyOptions& options, Verification* report)
{
    Progress progress("verify " + options.target.device, progress_output(options.quiet));
    check_layers(options.target, options.layers, report, show_until_interrupted(&progress));
}

std::string command_text(const VerifyOptions& options)
{
    if (!options.layers.model.empty()) return layers_text(options.target, options.layers);
    return target_text(options.target) +
           (options.only.empty() ? "" : " --only '" + options.only + "'");
}

// Cases have no float nodes between quantised tensors.
void check_precision(const VerifyOptions& options)
{
    const int precision = options.target.precision;
    if (precision == TENGINE_MODE_HYBRID_INT8)
        throw Misuse(
            "--precision hybrid_int8 is none of verify's: its bounds know nothing of weights that "
            "a run quantises. `tengine run --expect` compares the outputs of a model");
    const bool is_integer = precision == TENGINE_MODE_INT8 || precision == TENGINE_MODE_UINT8;
    if (is_integer && options.layers.model.empty())
        throw Misuse(
            "--precision int8 and uint8 need --model: they verify the layers of a quantised "
            "model. Quantised operators, as QLinearConv, have cases of their own, which are "
            "verified without --precision");
}

void verify(const VerifyOptions& options)
{
    check_precision(options);
    check_output_path("--json", options.json);
    check_output_path("--manifest", options.manifest);
    check_output_path("--page", options.page);
    for (const auto& [option, path] : {std::pair{"--json", options.json},
                                       {"--manifest", options.manifest},
                                       {"--page", options.page}})
        check_spares_file(option, path, options.layers.model);
    // Wrong names of devices and options are errors and not findings, and so is a build that lacks
    // the plain kernels, such as a minimal one.
    destroy_context(create_target_context(options.target));
    destroy_context(create_target_context(reference_target()));
    const bool is_model = !options.layers.model.empty();
    Verification report;
    catch_interrupt();
    try {
        (is_model ? check_model : check_everything)(options, &report);
    } catch (const Interrupted&) {
        std::fprintf(stderr,
                     "tengine: interrupted: the cases that were not reached are not verified\n");
    }
    if (!options.manifest.empty())
        write_json(options.manifest, {{"version", 1},
                                      {"device", options.target.device},
                                      {"claims", manifest_json(report)},
                                      {"not_verified", report.unverified()}});
    if (!options.json.empty()) write_json(options.json, report_json(options.target, report));
    if (!options.page.empty())
        write_text(options.page, report_page(options.target, command_text(options), report));
    if (options.json != "-" && options.manifest != "-" && options.page != "-") {
        if (!is_model) print_claims(options.target, report);
        print_failures(options.target, report);
        print_tally(report);
    }
    if (was_interrupted()) end_interrupted();
    if (!is_model && report.claims().empty() && !options.only.empty())
        throw Failure("--only '" + options.only + "': no case of an operator and a type that " +
                      options.target.device + " lists has all these words");
    if (report.has_failed())
        throw Failure("device " + options.target.device +
                      " does not pass: " + std::to_string(report.failed_number()) + " of " +
                      std::to_string(report.findings().size()) + " checks failed");
}

void add_target_options(Command* command, Target* target)
{
    command->add_option("--device", &target->device, "Device to verify")
        .required()
        .value_name("NAME");
    command
        ->add_option("--option", &target->options,
                     "Option, or option of a device, NAME.KEY=VALUE; may be repeated. `tengine "
                     "devices` lists the keys")
        .value_name("KEY=VALUE")
        .repeatable()
        .checked_by([](const std::string& text) { return judge_pair(text, "KEY=VALUE"); });
    add_threads_option(command, &target->threads);
    command
        ->add_option(
            "--precision",
            [target](const std::string& text) { target->precision = parse_precision(text); },
            "Verify nodes in fp32 that are computed in this precision: fp16 or bf16; with --model "
            "also int8 or uint8, layers of a quantised model in integers. Default: nodes in each "
            "type that the device lists")
        .value_name("P");
}

// With a model, the tables of cases are left out: --only and --manifest are about these.
void add_layer_options(Command* command, LayerOptions* layers)
{
    command
        ->add_option("--model", &layers->model,
                     "Verify the layers of this model, each with the values it has in the model, "
                     "instead of the cases. The first that is beyond its bound is written to "
                     "--layer-folder as a model of one node")
        .value_name("FILE");
    add_shape_option(command, &layers->inputs);
    add_input_options(command, &layers->inputs);
    command->add_option("--layer-folder", &layers->folder, "Where that model and its inputs go")
        .value_name("DIR")
        .shows_default();
}

}  // namespace

void add_verify_command(CommandLine* line)
{
    const auto options = std::make_shared<VerifyOptions>();
    Command command = line->add_command(
        "verify", "Check the operators that a device claims against plain kernels");
    add_target_options(&command, &options->target);
    command
        .add_option("--only", &options->only,
                    "Only cases that have all these words in their operator, types, shape class "
                    "or name: 'Conv fp32 dilated'")
        .value_name("WORDS");
    add_layer_options(&command, &options->layers);
    command
        .add_option("--manifest", &options->manifest,
                    "File to write the claims of the device to; - for standard output")
        .value_name("FILE");
    command
        .add_option("--json", &options->json, "File to write the report to; - for standard output")
        .value_name("FILE");
    command.add_option("--page", &options->page, "File to write the report to as a page of HTML")
        .value_name("FILE");
    command.add_flag("--quiet", &options->quiet, "Do not show progress");
    command.set_work([options] { verify(*options); });
}

}  // namespace tengine::tools
