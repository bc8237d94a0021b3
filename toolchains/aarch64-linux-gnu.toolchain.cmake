# SPDX-License-Identifier: Apache-2.0
# 64-bit Arm, as in Raspberry Pi OS (64-bit): every ARMv8-A.
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(TENGINE_TRIPLET aarch64-linux-gnu)
set(TENGINE_EMULATOR qemu-aarch64)
include(${CMAKE_CURRENT_LIST_DIR}/debian.cmake)
