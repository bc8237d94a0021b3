// SPDX-License-Identifier: Apache-2.0
// Whether a handler of SIGBUS learns which address has no page. qemu-arm adds its own offset to the
// address, so that nothing can be put there.
#pragma once

namespace tengine::test {

bool faults_have_addresses();

}  // namespace tengine::test
