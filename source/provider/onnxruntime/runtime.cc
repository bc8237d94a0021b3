// SPDX-License-Identifier: Apache-2.0
#include "runtime.h"

#include <memory>

#include "tengine/c_api.h"

namespace tengine::provider {
namespace {

Runtime present = {};

}  // namespace

const Runtime& runtime()
{
    return present;
}

bool set_runtime(const OrtApiBase* base)
{
    const OrtApi* api = base->GetApi(ORT_API_VERSION);
    if (api) present = {api, api->GetEpApi(), api->GetModelEditorApi()};
    return api != nullptr;
}

void fail_library(const std::string& what)
{
    throw Failure(what + ": " + get_tengine_error());
}

void check(OrtStatus* status)
{
    if (!status) return;
    const std::unique_ptr<OrtStatus, void (*)(OrtStatus*)> owned(status,
                                                                 present.api->ReleaseStatus);
    throw Failure(present.api->GetErrorMessage(status), present.api->GetErrorCode(status));
}

OrtStatus* make_status(OrtErrorCode code, const char* sentence) noexcept
{
    return present.api->CreateStatus(code, sentence);
}

}  // namespace tengine::provider
