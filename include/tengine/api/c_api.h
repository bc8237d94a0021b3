// SPDX-License-Identifier: Apache-2.0
// Lets programs that spell the header "api/c_api.h" compile unchanged.
#pragma once

#include "tengine/c_api.h"
