# SPDX-License-Identifier: Apache-2.0
# The check that configure makes, for the given byte order.
include(${CMAKE_CURRENT_LIST_DIR}/../../cmake/compiler.cmake)
tengine_require_little_endian()
