// SPDX-License-Identifier: Apache-2.0
// Takes the provider's library in and out of ONNX Runtime, over and over:
//     ort_cycles LIBONNXRUNTIME PROVIDER DEVICE MODEL COUNT
// Each time it registers the library, opens the model on the device, runs it on zeros, and takes
// all down in the order that ONNX Runtime asks for. The program links neither library, so that the
// provider's is unloaded each time. The exit status is 1 when the results change, when the provider
// has no node, or when memory grows by more than a page and a half a cycle once all is warm.
#include <dlfcn.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "leak_check.h"
#include "onnxruntime_c_api.h"

enum
{
    MAX_RANK = 8,
    ALLOWED_GROWTH = 2 << 20
};

static const OrtApi* api;

static void check(OrtStatus* status)
{
    if (!status) return;
    fprintf(stderr, "ort_cycles: %s\n", api->GetErrorMessage(status));
    api->ReleaseStatus(status);
    exit(1);
}

static void fail(const char* reason, const char* name)
{
    fprintf(stderr, "ort_cycles: %s '%s'\n", reason, name);
    exit(1);
}

static const OrtEpDevice* find_device(OrtEnv* environment, const char* name)
{
    const OrtEpDevice* const* devices = NULL;
    size_t count = 0;
    check(api->GetEpDevices(environment, &devices, &count));
    for (size_t i = 0; i < count; ++i) {
        const char* value = api->GetKeyValue(api->EpDevice_EpMetadata(devices[i]), "device");
        if (value && strcmp(value, name) == 0) return devices[i];
    }
    fail("the provider has no device", name);
    return NULL;
}

static OrtSession* open_model(OrtEnv* environment, const char* device, const char* model)
{
    const OrtEpDevice* chosen = find_device(environment, device);
    OrtSessionOptions* options = NULL;
    OrtSession* session = NULL;
    check(api->CreateSessionOptions(&options));
    check(api->SetIntraOpNumThreads(options, 1));
    check(api->AddSessionConfigEntry(options, "session.record_ep_graph_assignment_info", "1"));
    check(api->SessionOptionsAppendExecutionProvider_V2(options, environment, &chosen, 1, NULL,
                                                        NULL, 0));
    check(api->CreateSession(environment, model, options, &session));
    api->ReleaseSessionOptions(options);
    return session;
}

static size_t count_own_nodes(const OrtSession* session)
{
    const OrtEpAssignedSubgraph* const* parts = NULL;
    size_t part_count = 0, own = 0;
    check(api->Session_GetEpGraphAssignmentInfo(session, &parts, &part_count));
    for (size_t i = 0; i < part_count; ++i) {
        const OrtEpAssignedNode* const* nodes = NULL;
        const char* provider = NULL;
        size_t count = 0;
        check(api->EpAssignedSubgraph_GetEpName(parts[i], &provider));
        check(api->EpAssignedSubgraph_GetNodes(parts[i], &nodes, &count));
        if (strcmp(provider, "TengineExecutionProvider") == 0) own += count;
    }
    return own;
}

// Makes the session's first input, with 1 for a free dimension.
static OrtValue* make_zeros(const OrtSession* session, OrtAllocator* allocator)
{
    OrtTypeInfo* info = NULL;
    const OrtTensorTypeAndShapeInfo* tensor = NULL;
    ONNXTensorElementDataType type;
    int64_t dims[MAX_RANK];
    size_t rank = 0, size = 0;
    OrtValue* value = NULL;
    void* data = NULL;
    check(api->SessionGetInputTypeInfo(session, 0, &info));
    check(api->CastTypeInfoToTensorInfo(info, &tensor));
    check(api->GetTensorElementType(tensor, &type));
    check(api->GetDimensionsCount(tensor, &rank));
    if (rank > MAX_RANK) fail("the first input has too many dimensions", "");
    check(api->GetDimensions(tensor, dims, rank));
    for (size_t i = 0; i < rank; ++i)
        dims[i] = dims[i] < 0 ? 1 : dims[i];
    api->ReleaseTypeInfo(info);
    check(api->CreateTensorAsOrtValue(allocator, dims, rank, type, &value));
    check(api->GetTensorSizeInBytes(value, &size));
    check(api->GetTensorMutableData(value, &data));
    memset(data, 0, size);
    return value;
}

// Returns the FNV-1a hash of the first output's bytes.
static uint64_t run(OrtSession* session)
{
    OrtAllocator* allocator = NULL;
    char *input_name = NULL, *output_name = NULL;
    OrtValue* output = NULL;
    const void* data = NULL;
    size_t size = 0;
    uint64_t hash = 14695981039346656037u;
    check(api->GetAllocatorWithDefaultOptions(&allocator));
    check(api->SessionGetInputName(session, 0, allocator, &input_name));
    check(api->SessionGetOutputName(session, 0, allocator, &output_name));
    OrtValue* input = make_zeros(session, allocator);
    check(api->Run(session, NULL, (const char* const*)&input_name, (const OrtValue* const*)&input,
                   1, (const char* const*)&output_name, 1, &output));
    check(api->GetTensorSizeInBytes(output, &size));
    check(api->GetTensorData(output, &data));
    for (size_t i = 0; i < size; ++i)
        hash = (hash ^ ((const unsigned char*)data)[i]) * 1099511628211u;
    api->ReleaseValue(input);
    api->ReleaseValue(output);
    check(api->AllocatorFree(allocator, input_name));
    check(api->AllocatorFree(allocator, output_name));
    return hash;
}

static int is_mapped(const char* path)
{
    char line[4096];
    int found = 0;
    FILE* maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps))
        found = found || strstr(line, path);
    if (maps) fclose(maps);
    return found;
}

// Returns the heap in use, in bytes.
static size_t heap_in_use(void)
{
    const struct mallinfo2 heap = mallinfo2();
    return heap.uordblks + heap.hblkhd;
}

static uint64_t cycle(OrtEnv* environment, char** arguments)
{
    check(api->RegisterExecutionProviderLibrary(environment, "tengine", arguments[2]));
    OrtSession* session = open_model(environment, arguments[3], arguments[4]);
    if (count_own_nodes(session) == 0) fail("the provider has no node of", arguments[4]);
    const uint64_t hash = run(session);
    api->ReleaseSession(session);
    check(api->UnregisterExecutionProviderLibrary(environment, "tengine"));
    if (is_mapped(arguments[2])) fail("still loaded after it was unregistered:", arguments[2]);
    return hash;
}

// The registration ends while the session exists, which computes as before; then both are made
// again.
static void end_registration_early(OrtEnv* environment, char** arguments, uint64_t expected)
{
    for (int i = 0; i < 2; ++i) {
        check(api->RegisterExecutionProviderLibrary(environment, "tengine", arguments[2]));
        OrtSession* session = open_model(environment, arguments[3], arguments[4]);
        check(api->UnregisterExecutionProviderLibrary(environment, "tengine"));
        if (run(session) != expected) fail("other results without a registration of", arguments[4]);
        api->ReleaseSession(session);
    }
}

static const OrtApi* load_api(const char* library)
{
    void* handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    const OrtApiBase* (*get_base)(void) = NULL;
    if (!handle) fail("cannot load", library);
    *(void**)&get_base = dlsym(handle, "OrtGetApiBase");
    return get_base ? get_base()->GetApi(ORT_API_VERSION) : NULL;
}

int main(int argc, char** argv)
{
    OrtEnv* environment = NULL;
    uint64_t first = 0;
    size_t warm = 0;
    if (argc != 6) fail("usage: LIBONNXRUNTIME PROVIDER DEVICE MODEL COUNT, of", argv[0]);
    const int count = atoi(argv[5]);
    api = load_api(argv[1]);
    if (!api) fail("ONNX Runtime is older than version 24 of its API:", argv[1]);
    SUSPEND_LEAK_CHECK();
    OrtStatus* status = api->CreateEnv(ORT_LOGGING_LEVEL_ERROR, "ort_cycles", &environment);
    RESUME_LEAK_CHECK();
    check(status);
    for (int i = 0; i < count; ++i) {
        const uint64_t hash = cycle(environment, argv);
        if (i == 0) first = hash;
        if (i == count / 2) warm = heap_in_use();
        if (hash != first) fail("other results in a later cycle of", argv[4]);
    }
    const long growth = (long)(heap_in_use() - warm);
    end_registration_early(environment, argv, first);
    api->ReleaseEnv(environment);
    printf("%d cycles, %zu bytes of heap, %ld more than half-way\n", count, heap_in_use(), growth);
    exit_without_leaks(growth > ALLOWED_GROWTH ? 1 : 0);
}
