// SPDX-License-Identifier: Apache-2.0
// Opens a model in ONNX Runtime with a device of Tengine, and prints which node is where:
//     run_on_tengine libonnxruntime.so.1 /where/it/is/libtengine_ort_ep.so CPU net.onnx
// A program that is linked with ONNX Runtime calls OrtGetApiBase() and needs no dlopen(). The path
// of the provider is absolute: ONNX Runtime looks for others beside its own library.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "onnxruntime_c_api.h"

static const OrtApi* ort;

static void check(OrtStatus* status)
{
    if (!status) return;
    fprintf(stderr, "%s\n", ort->GetErrorMessage(status));
    exit(1);
}

static const OrtApi* load_api(const char* library)
{
    const OrtApiBase* (*get_base)(void) = NULL;
    void* handle = dlopen(library, RTLD_NOW);
    if (handle) *(void**)&get_base = dlsym(handle, "OrtGetApiBase");
    return get_base ? get_base()->GetApi(ORT_API_VERSION) : NULL;
}

// The provider has an entry for each device; its name is in the metadata.
static const OrtEpDevice* find_device(OrtEnv* env, const char* name)
{
    const OrtEpDevice* const* devices;
    size_t count;
    check(ort->GetEpDevices(env, &devices, &count));
    for (size_t i = 0; i < count; ++i) {
        const char* value = ort->GetKeyValue(ort->EpDevice_EpMetadata(devices[i]), "device");
        if (value && strcmp(value, name) == 0) return devices[i];
    }
    fprintf(stderr, "the provider has no device '%s'\n", name);
    exit(1);
}

static void print_nodes(const OrtSession* session)
{
    const OrtEpAssignedSubgraph* const* parts;
    const OrtEpAssignedNode* const* nodes;
    const char *provider, *type, *name;
    size_t part_count, count;
    check(ort->Session_GetEpGraphAssignmentInfo(session, &parts, &part_count));
    for (size_t i = 0; i < part_count; ++i) {
        check(ort->EpAssignedSubgraph_GetEpName(parts[i], &provider));
        check(ort->EpAssignedSubgraph_GetNodes(parts[i], &nodes, &count));
        for (size_t j = 0; j < count; ++j) {
            check(ort->EpAssignedNode_GetOperatorType(nodes[j], &type));
            check(ort->EpAssignedNode_GetName(nodes[j], &name));
            printf("part %zu on %s: %s %s\n", i, provider, type, name);
        }
    }
}

int main(int argc, char** argv)
{
    OrtEnv* env;
    OrtSession* session;
    OrtSessionOptions* options;
    if (argc != 5 || !(ort = load_api(argv[1]))) return 2;
    check(ort->CreateEnv(ORT_LOGGING_LEVEL_ERROR, "example", &env));
    check(ort->RegisterExecutionProviderLibrary(env, "tengine", argv[2]));
    const OrtEpDevice* device = find_device(env, argv[3]);
    check(ort->CreateSessionOptions(&options));
    check(ort->AddSessionConfigEntry(options, "session.record_ep_graph_assignment_info", "1"));
    check(ort->SessionOptionsAppendExecutionProvider_V2(options, env, &device, 1, NULL, NULL, 0));
    check(ort->CreateSession(env, argv[4], options, &session));
    print_nodes(session);  // from now on Run() runs it, as in any session
    ort->ReleaseSession(session);
    ort->ReleaseSessionOptions(options);
    ort->ReleaseEnv(env);
    return 0;
}
