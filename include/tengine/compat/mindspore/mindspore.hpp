// SPDX-License-Identifier: Apache-2.0
// The names of MindSpore Lite for delegates that are written for it; docs/delegates.md says what
// differs. The headers beside this one, with this folder in the include path, are this one.
//
// DelegateModel is the plain class of the published guide. Code for the later headers, where it is
// a template over schema::Primitive, defines MINDSPORE_DELEGATE_MODEL_TEMPLATE.
#pragma once

#include <sstream>

#include "tengine/delegate.hpp"
#include "tengine/log.h"

namespace mindspore {

using tengine::delegate::Context;
using tengine::delegate::CPUDeviceInfo;
using tengine::delegate::DataType;
using tengine::delegate::Delegate;
using tengine::delegate::KernelIter;
using tengine::delegate::Model;
using tengine::delegate::ModelType;
using tengine::delegate::MSTensor;
using tengine::delegate::QuantParam;
using tengine::delegate::SchemaVersion;
using tengine::delegate::Status;
using tengine::delegate::StatusCode;

using AbstractDelegate = tengine::delegate::Delegate;
using LiteDelegateGraph = tengine::delegate::DelegateModel;
#ifdef MINDSPORE_DELEGATE_MODEL_TEMPLATE
template <class T>
using DelegateModel = tengine::delegate::DelegateModel;
#else
using tengine::delegate::DelegateModel;
#endif

using tengine::delegate::Format;
using tengine::delegate::NCHW;
using tengine::delegate::NHWC;

using tengine::delegate::kLiteError;
using tengine::delegate::kLiteFileError;
using tengine::delegate::kLiteInputTensorError;
using tengine::delegate::kLiteMemoryFailed;
using tengine::delegate::kLiteNotSupport;
using tengine::delegate::kLiteNullptr;
using tengine::delegate::kLiteParamInvalid;
using tengine::delegate::kLiteUninitializedObj;
using tengine::delegate::kSuccess;

using tengine::delegate::kMindIR;
using tengine::delegate::kMindIR_Lite;
using tengine::delegate::kONNX;
using tengine::delegate::kTengine;

using tengine::delegate::SCHEMA_CUR;
using tengine::delegate::SCHEMA_INVALID;
using tengine::delegate::SCHEMA_V0;

namespace kernel {
using tengine::delegate::kernel::Kernel;
}  // namespace kernel

namespace schema {
using namespace tengine::delegate::schema;
}  // namespace schema

namespace lite {
constexpr int RET_OK = 0;
constexpr int RET_ERROR = -1;
}  // namespace lite

// As the published guide writes them.
using lite::RET_ERROR;
using lite::RET_OK;

// Levels of MS_LOG.
enum class LogLevel : int
{
    DEBUG_ = TENGINE_LOG_DEBUG,
    INFO_ = TENGINE_LOG_INFO,
    WARNING_ = TENGINE_LOG_WARNING,
    ERROR_ = TENGINE_LOG_ERR,
};

// One line of the log, which is written when the object is destroyed.
class LogLine
{
  public:
    explicit LogLine(LogLevel level) : level_(level) {}
    LogLine(const LogLine&) = delete;
    LogLine& operator=(const LogLine&) = delete;
    ~LogLine() { tengine_log(static_cast<int>(level_), "%s", text_.str().c_str()); }
    std::ostream& Stream() { return text_; }

  private:
    LogLevel level_;
    std::ostringstream text_;
};

}  // namespace mindspore

// MS_LOG(ERROR) << "no unit " << number; the levels are DEBUG, INFO, WARNING and ERROR, and lines
// go to Tengine's log (tengine/log.h).
#define MS_LOG(level) ::mindspore::LogLine(::mindspore::LogLevel::level##_).Stream()
