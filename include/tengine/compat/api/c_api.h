// SPDX-License-Identifier: Apache-2.0
// Lets programs that spell the header "api/c_api.h" compile unchanged: the folder above this one is
// on the include path of whoever links the library.
#pragma once

#include "tengine/c_api.h"
