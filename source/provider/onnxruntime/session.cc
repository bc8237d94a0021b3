// SPDX-License-Identifier: Apache-2.0
#include "session.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "context_node.h"
#include "log.h"
#include "part.h"
#include "placement.h"
#include "report.h"
#include "tengine/file.h"

namespace tengine::provider {
namespace {

struct SessionProvider : OrtEp
{
    SessionProvider(Settings wanted, const OrtLogger* session_logger)
        : OrtEp{},
          settings(std::move(wanted)),
          logger(session_logger),
          compatibility(describe_compatibility(settings))
    {
    }

    const Settings settings;
    const OrtLogger* const logger;
    const std::string compatibility;
    std::string summary;  // the placement's
};

SessionProvider& of(OrtEp* provider)
{
    return *static_cast<SessionProvider*>(provider);
}

const char* get_name(const OrtEp*) noexcept
{
    return kProviderName;
}

// ---- choice of nodes ----

void ask_for(OrtEpGraphSupportInfo* info, const std::vector<const OrtNode*>& nodes)
{
    OrtNodeFusionOptions options = {};
    options.ort_version_supported = ORT_API_VERSION;
    // The part copies its constants, so the host need not keep them.
    options.drop_constant_initializers = true;
    check(runtime().provider->EpGraphSupportInfo_AddNodesToFuse(info, nodes.data(), nodes.size(),
                                                                &options));
}

// Takes the nodes EPContext of a compiled model; its other nodes were left to the host.
bool ask_for_compiled(const SessionProvider& self, const GraphView& view,
                      OrtEpGraphSupportInfo* info)
{
    size_t number = 0;
    for (const ViewedNode& node : view.nodes) {
        if (!is_our_context_node(node)) continue;
        ask_for(info, {node.node});
        ++number;
    }
    if (number > 0 && self.settings.kept_parts.is_wanted)
        throw Failure("the model has compiled parts already: compile the one it was made from");
    return number > 0;
}

std::vector<std::vector<const OrtNode*>> parts_of(const GraphView& view, const Placement& placement)
{
    std::vector<std::vector<const OrtNode*>> parts(static_cast<size_t>(placement.part_num));
    for (size_t i = 0; i < view.nodes.size(); ++i)
        if (placement.parts[i] != kNoPart)
            parts[static_cast<size_t>(placement.parts[i])].push_back(view.nodes[i].node);
    return parts;
}

// Logs a warning for nodes left to the host, since the program has requested a device.
void tell(SessionProvider& self, const GraphView& view, const Placement& placement)
{
    const bool has_all = std::count(placement.parts.begin(), placement.parts.end(), kNoPart) == 0;
    self.summary = describe_placement(view, placement, self.settings);
    log_line(self.logger, has_all ? ORT_LOGGING_LEVEL_INFO : ORT_LOGGING_LEVEL_WARNING,
             self.summary.c_str());
    if (self.settings.report.empty() || view.is_nested) return;
    const std::string report = report_placement(view, placement, self.settings);
    if (tengine_file_replace(self.settings.report.c_str(), report.data(), report.size()) < 0)
        fail_library("option report");
}

OrtStatus* get_capability(OrtEp* provider, const OrtGraph* graph,
                          OrtEpGraphSupportInfo* info) noexcept
{
    SessionProvider& self = of(provider);
    OrtStatus* status = guarded([&] {
        const GraphView view = read_graph(graph);
        if (ask_for_compiled(self, view, info)) return;
        const Placement placement = place_graph(view, self.settings);
        tell(self, view, placement);
        for (const auto& nodes : parts_of(view, placement))
            ask_for(info, nodes);
    });
    // The host would only log the failure and run all nodes itself.
    if (status)
        log_line(self.logger, ORT_LOGGING_LEVEL_ERROR, runtime().api->GetErrorMessage(status));
    return status;
}

// ---- compilation ----

struct FusedNode : OrtNodeComputeInfo
{
    FusedNode() : OrtNodeComputeInfo{} {}
    std::unique_ptr<Part> part;
    NodePointer context_node;  // until the host owns it
};

OrtStatus* create_state(OrtNodeComputeInfo* info, OrtNodeComputeContext*, void** state)
{
    *state = static_cast<FusedNode*>(info)->part.get();
    return nullptr;
}

OrtStatus* compute(OrtNodeComputeInfo*, void* state, OrtKernelContext* context)
{
    return guarded([&] { static_cast<Part*>(state)->compute(context); });
}

void release_state(OrtNodeComputeInfo*, void*) {}  // of the fused node

// The first input with a dimension that the host does not know, "" when there is none.
std::string find_free_input(const GraphView& view, const std::vector<std::string>& names)
{
    for (const std::string& name : names) {
        const int index = view.find(name);
        if (index == kAbsent) return name;
        const std::vector<int64_t>& dims = view.values[static_cast<size_t>(index)].dims;
        if (std::any_of(dims.begin(), dims.end(), [](int64_t dim) { return dim < 0; })) return name;
    }
    return "";
}

struct Request
{
    GraphView view;
    std::vector<std::string> inputs, outputs;
    std::string free_input;
};

Request read_request(const OrtGraph* graph, const OrtNode* fused)
{
    Request request = {read_graph(graph), input_names(fused), output_names(fused), ""};
    request.free_input = find_free_input(request.view, request.inputs);
    return request;
}

std::unique_ptr<FusedNode> compile(const SessionProvider& self, const OrtGraph* graph,
                                   const OrtNode* fused, WrittenFiles* files)
{
    auto made = std::make_unique<FusedNode>();
    made->ort_version_supported = ORT_API_VERSION;
    made->CreateState = create_state;
    made->Compute = compute;
    made->ReleaseState = release_state;
    const Request request = read_request(graph, fused);
    GraphPointer built;
    if (request.view.nodes.size() == 1 && is_our_context_node(request.view.nodes[0])) {
        built = load_context_node(request.view, self.settings);
    } else {
        const std::vector<bool> all(request.view.nodes.size(), true);
        built = build_graph(request.view, all, self.settings, false).graph;
        if (self.settings.kept_parts.is_wanted)
            built = compile_for_context_node(built, self.settings, request.free_input);
    }
    made->part = std::make_unique<Part>(built, request.inputs, request.outputs,
                                        self.settings.options, request.free_input.empty());
    if (self.settings.kept_parts.is_wanted)
        made->context_node = make_context_node(*made->part, fused, self.settings, request.view.path,
                                               self.summary, files);
    return made;
}

// The host owns nothing before all parts are compiled.
OrtStatus* compile_all(OrtEp* provider, const OrtGraph** graphs, const OrtNode** fused,
                       size_t number, OrtNodeComputeInfo** infos, OrtNode** context_nodes) noexcept
{
    return guarded([&] {
        std::vector<std::unique_ptr<FusedNode>> made;
        WrittenFiles files;
        for (size_t i = 0; i < number; ++i)
            made.push_back(compile(of(provider), graphs[i], fused[i], &files));
        files.keep();
        for (size_t i = 0; i < number; ++i) {
            if (made[i]->context_node) context_nodes[i] = made[i]->context_node.release();
            infos[i] = made[i].release();
        }
    });
}

void release_infos(OrtEp*, OrtNodeComputeInfo** infos, size_t number) noexcept
{
    for (size_t i = 0; i < number; ++i)
        delete static_cast<FusedNode*>(infos[i]);
}

const char* get_compatibility(OrtEp* provider, const OrtGraph*) noexcept
{
    return of(provider).compatibility.c_str();
}

OrtStatus* is_concurrent_run_supported(OrtEp*, bool* supported) noexcept
{
    *supported = true;  // one run of a part at a time; parts run concurrently
    return nullptr;
}

}  // namespace

OrtEp* create_session_provider(Settings settings, const OrtLogger* logger)
{
    auto made = std::make_unique<SessionProvider>(std::move(settings), logger);
    made->ort_version_supported = ORT_API_VERSION;
    made->GetName = get_name;
    made->GetCapability = get_capability;
    made->Compile = compile_all;
    made->ReleaseNodeComputeInfos = release_infos;
    made->GetCompiledModelCompatibilityInfo = get_compatibility;
    made->IsConcurrentRunSupported = is_concurrent_run_supported;
    return made.release();
}

void delete_session_provider(OrtEp* provider) noexcept
{
    delete static_cast<SessionProvider*>(provider);
}

}  // namespace tengine::provider
