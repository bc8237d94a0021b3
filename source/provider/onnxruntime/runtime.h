// SPDX-License-Identifier: Apache-2.0
// ONNX Runtime as this provider sees it: its tables of functions, its statuses as exceptions, and
// exceptions as its statuses. Nothing thrown leaves a callback.
#pragma once

#include <new>
#include <stdexcept>
#include <string>

#include "onnxruntime_c_api.h"

namespace tengine::provider {

// The interface of the runtime that loaded this library, in the version that it is compiled for.
// Set before anything else is called.
struct Runtime
{
    const OrtApi* api;
    const OrtEpApi* provider;
    const OrtModelEditorApi* editor;
};
const Runtime& runtime();
// False when the runtime is older than ORT_API_VERSION.
bool set_runtime(const OrtApiBase* base);

class Failure : public std::runtime_error
{
  public:
    explicit Failure(const std::string& sentence, OrtErrorCode code = ORT_EP_FAIL)
        : std::runtime_error(sentence), code_(code)
    {
    }
    OrtErrorCode code() const { return code_; }

  private:
    OrtErrorCode code_;
};

// Throws Failure with the library's record of its last failure on this thread.
[[noreturn]] void fail_library(const std::string& what);

// Throws the failure that a function of the runtime returned, if it did.
void check(OrtStatus* status);

OrtStatus* make_status(OrtErrorCode code, const char* sentence) noexcept;

// Calls `work` and returns its failure as a status.
template <class Work>
OrtStatus* guarded(const Work& work) noexcept
{
    try {
        work();
        return nullptr;
    } catch (const Failure& failure) {
        return make_status(failure.code(), failure.what());
    } catch (const std::exception& failure) {
        const bool is_memory = dynamic_cast<const std::bad_alloc*>(&failure) != nullptr;
        return make_status(ORT_EP_FAIL, is_memory ? "out of memory" : failure.what());
    } catch (...) {
        return make_status(ORT_EP_FAIL, "unexpected exception: not a std::exception");
    }
}

// A copy of a string that belongs to the runtime; NULL is "".
inline std::string text_of(const char* text)
{
    return text ? text : "";
}

}  // namespace tengine::provider
