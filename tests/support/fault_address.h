// SPDX-License-Identifier: Apache-2.0
// Whether a handler of SIGBUS gets the address without a page. qemu-arm adds its own offset to the
// address, so that no page can be mapped there.
#pragma once

namespace tengine::test {

bool faults_have_addresses();

}  // namespace tengine::test
