// SPDX-License-Identifier: Apache-2.0
// The provider of one session: which nodes it asks for, and what it makes of those that it gets.
#pragma once

#include "settings.h"

namespace tengine::provider {

// To be released with delete_session_provider(). Throws Failure.
OrtEp* create_session_provider(Settings settings, const OrtLogger* logger);
void delete_session_provider(OrtEp* provider) noexcept;

}  // namespace tengine::provider
