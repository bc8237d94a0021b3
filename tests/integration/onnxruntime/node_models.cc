// SPDX-License-Identifier: Apache-2.0
// Runs the suite's models and counts. The contract is in node_models.h.
#include "node_models.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "conformance/not_supported.h"
#include "conformance/random_case.h"
#include "node_model.h"
#include "tensor_file/failure.h"

namespace tengine::ort_host {
namespace {

namespace fs = std::filesystem;

struct Counts
{
    int models[static_cast<int>(Verdict::kNumber)] = {};
    int own_models[static_cast<int>(Verdict::kNumber)] = {};  // with nodes on the provider
    Placement placement;
};

constexpr const char* kVerdicts[] = {
    "agree with the suite",
    "agree with ONNX Runtime alone, not with the suite",
    "have random or noisy results",
    "differ",
    "are not opened by ONNX Runtime alone either",
    "are not run by ONNX Runtime alone either",
    "have inputs or results that are not tensors here",
};

std::vector<fs::path> find_models(const std::vector<std::string>& folders)
{
    std::vector<fs::path> found;
    for (const std::string& folder : folders) {
        if (!fs::is_directory(folder)) throw tools::Failure("there is no folder '" + folder + "'");
        for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
            if (entry.path().filename() == "model.onnx")
                found.push_back(entry.path().parent_path());
        }
    }
    std::sort(found.begin(), found.end());
    return found;
}

// Whether the numbers are random, or listed as computed differently from the suite.
bool are_numbers_loose(const conformance::NotSupportedList& list, const fs::path& folder)
{
    if (conformance::RandomCase::is_one(folder.filename().string())) return true;
    const auto listed = list.find(conformance::test_name(folder.string()));
    return listed != list.end() && listed->second.rfind("rounding", 0) == 0;
}

void add(const Outcome& outcome, Counts* counts)
{
    const int index = static_cast<int>(outcome.verdict);
    ++counts->models[index];
    counts->own_models[index] += outcome.placement.own_nodes > 0;
    counts->placement.nodes += outcome.placement.nodes;
    counts->placement.own_nodes += outcome.placement.own_nodes;
    counts->placement.own_parts += outcome.placement.own_parts;
    for (const auto& [type, count] : outcome.placement.left)
        counts->placement.left[type] += count;
}

void print(const std::string& name, const Outcome& outcome,
           const std::vector<std::string>& messages)
{
    std::printf("%s: %d of %d nodes, %s%s%s\n", name.c_str(), outcome.placement.own_nodes,
                outcome.placement.nodes, kVerdicts[static_cast<int>(outcome.verdict)],
                outcome.reason.empty() ? "" : ": ", outcome.reason.c_str());
    for (const std::string& message : messages)
        std::printf("    %s\n", message.c_str());
}

void print(const Counts& counts, size_t model_count)
{
    std::printf("%zu models, %d nodes, of which %d on %s in %d parts\n", model_count,
                counts.placement.nodes, counts.placement.own_nodes, kProvider,
                counts.placement.own_parts);
    for (int i = 0; i < static_cast<int>(Verdict::kNumber); ++i)
        std::printf("%6d %s, %d of them with nodes there\n", counts.models[i], kVerdicts[i],
                    counts.own_models[i]);
    std::printf("left to ONNX Runtime:");
    for (const auto& [type, count] : counts.placement.left)
        std::printf(" %s %d", type.c_str(), count);
    std::printf("\n");
}

}  // namespace

int run_node_models(Runtime* runtime, const std::vector<std::string>& folders,
                    const NodeModelOptions& options)
{
    const conformance::NotSupportedList list =
        conformance::read_not_supported({TENGINE_CONFORMANCE_DIR "/not_supported.txt",
                                         TENGINE_CONFORMANCE_DIR "/not_supported_newer.txt"});
    const std::vector<fs::path> models = find_models(folders);
    Counts counts;
    for (const fs::path& folder : models) {
        const bool is_loose = are_numbers_loose(list, folder);
        const Outcome outcome = run_node_model(runtime, folder, options.request, is_loose);
        add(outcome, &counts);
        const std::vector<std::string> messages = runtime->take_messages();
        if (options.verbose || outcome.verdict == Verdict::kDiffers)
            print(folder.filename().string(), outcome, messages);
    }
    print(counts, models.size());
    const int agreed = counts.own_models[static_cast<int>(Verdict::kAgrees)];
    if (agreed < options.at_least)
        std::printf("%d models with nodes on %s agree, expected at least %d\n", agreed, kProvider,
                    options.at_least);
    const bool ok = counts.models[static_cast<int>(Verdict::kDiffers)] == 0;
    return ok && agreed >= options.at_least ? 0 : 1;
}

}  // namespace tengine::ort_host
