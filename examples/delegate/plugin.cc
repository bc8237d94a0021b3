// SPDX-License-Identifier: Apache-2.0
// The delegate as a plug-in, for the command line and for programs in C.
#include "elementwise.hpp"

TENGINE_DELEGATE_PLUGIN("elementwise", "1.0", elementwise::Delegate);
