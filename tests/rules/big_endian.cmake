# SPDX-License-Identifier: Apache-2.0
# What configure asks, for the byte order that is given.
include(${CMAKE_CURRENT_LIST_DIR}/../../cmake/compiler.cmake)
tengine_require_little_endian()
