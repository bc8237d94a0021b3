// SPDX-License-Identifier: Apache-2.0
// For programs written for Tengine Lite that include it. The device "OPENDLA" has no option struct:
// they pass NULL and 0 to set_context_device().
#pragma once
