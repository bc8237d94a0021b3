# SPDX-License-Identifier: Apache-2.0
# 64-bit RISC-V: RV64GC.
set(CMAKE_SYSTEM_PROCESSOR riscv64)
set(TENGINE_TRIPLET riscv64-linux-gnu)
set(TENGINE_EMULATOR qemu-riscv64)
include(${CMAKE_CURRENT_LIST_DIR}/debian.cmake)
