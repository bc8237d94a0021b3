# SPDX-License-Identifier: Apache-2.0
# 32-bit Arm with floating-point registers: ARMv7-A with NEON of VFPv4 (Cortex-A7 and later).
set(CMAKE_SYSTEM_PROCESSOR armv7l)
set(TENGINE_TRIPLET arm-linux-gnueabihf)
set(TENGINE_EMULATOR qemu-arm)
# Debian's compiler defaults to VFPv3-D16, which has no NEON: vector kernels would silently be
# scalar.
set(flags "-mfpu=neon-vfpv4 -mfp16-format=ieee")
set(CMAKE_C_FLAGS_INIT ${flags})
set(CMAKE_CXX_FLAGS_INIT ${flags})
include(${CMAKE_CURRENT_LIST_DIR}/debian.cmake)
