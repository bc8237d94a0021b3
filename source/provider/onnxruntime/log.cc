// SPDX-License-Identifier: Apache-2.0
#include "log.h"

#include <atomic>

#include "tengine/c_api.h"

namespace tengine::provider {
namespace {

std::atomic<const OrtLogger*> default_logger{nullptr};
thread_local int quiet_depth = 0;

OrtLoggingLevel level_of(int severity)
{
    if (severity <= LOG_ERR) return ORT_LOGGING_LEVEL_ERROR;
    if (severity == LOG_WARNING) return ORT_LOGGING_LEVEL_WARNING;
    return severity <= LOG_INFO ? ORT_LOGGING_LEVEL_INFO : ORT_LOGGING_LEVEL_VERBOSE;
}

void pass_on(int severity, const char* line)
{
    if (quiet_depth == 0) log_line(default_logger, level_of(severity), line);
}

}  // namespace

void open_log(const OrtLogger* logger)
{
    default_logger = logger;
    tengine_log_set_sink(pass_on);
}

void close_log()
{
    tengine_log_set_sink(nullptr);
    default_logger = nullptr;
}

void log_line(const OrtLogger* logger, OrtLoggingLevel level, const char* line)
{
    if (!logger) return;
    OrtStatus* status =
        runtime().api->Logger_LogMessage(logger, level, line, __FILE__, __LINE__, "tengine");
    if (status) runtime().api->ReleaseStatus(status);  // the line is lost
}

QuietScope::QuietScope()
{
    ++quiet_depth;
}

QuietScope::~QuietScope()
{
    --quiet_depth;
}

}  // namespace tengine::provider
