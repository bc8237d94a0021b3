// SPDX-License-Identifier: Apache-2.0
// The provider of one session: the nodes that it takes, and their compilation.
#pragma once

#include "settings.h"

namespace tengine::provider {

// To be released with delete_session_provider(). Throws Failure.
OrtEp* create_session_provider(Settings settings, const OrtLogger* logger);
void delete_session_provider(OrtEp* provider) noexcept;

}  // namespace tengine::provider
