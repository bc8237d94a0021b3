# SPDX-License-Identifier: Apache-2.0
# 64-bit Arm with musl as the C library, for small programs that are wholly static.
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(TENGINE_TRIPLET aarch64-linux-gnu)
set(TENGINE_EMULATOR qemu-aarch64)
include(${CMAKE_CURRENT_LIST_DIR}/debian.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/musl.cmake)
