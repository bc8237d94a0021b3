#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The calls of object files to the C library and the C++ runtime. Those of the core, the CPU device
# and the tmfile serializer may not allocate memory, nor call functions that allocate
# (docs/arena.md):
#     heap.sh <nm> <file that lists object files>
set -eu
nm=$1 objects=$2

c_functions='malloc|calloc|realloc|reallocarray|free|posix_memalign|aligned_alloc|memalign|valloc'
c_functions="$c_functions|strdup|strndup|v?asprintf|qsort|qsort_r|fopen|fopen64|fdopen|tmpfile|popen"
c_functions="$c_functions|getline|getdelim|open_memstream|opendir|scandir|realpath|setlocale"
c_functions="$c_functions|newlocale|regcomp|dlopen|pthread_create"
# Mangled: operators new and delete, anything over std::allocator, streams, std::function, the
# buffer of std::stable_sort, Highway's own blocks.
cxx_names='_Zn[wa].*|_Zd[la].*|.*SaI.*|.*St6locale.*|.*St8ios_base.*|.*St8function.*'
cxx_names="$cxx_names|.*get_temporary_buffer.*|.*3hwy.*Alloc.*"

# The exceptions: the heap itself, without an arena; plug-ins; threads.
allowed='source/base/alloc.c free
source/base/alloc.c malloc
source/base/alloc.c posix_memalign
source/base/dynamic_library.c dlopen
source/base/folder.c opendir
source/base/foreign_call.cc dlopen
source/base/thread_pool.c pthread_create
source/scheduler/deadline.c pthread_create
source/scheduler/pipeline.c pthread_create
source/scheduler/watchdog.c pthread_create'

# Lines "<source> <symbol>", in order.
found=$(tr '\n' '\0' < "$objects" | xargs -0 "$nm" -A -u |
        awk -v wanted="^($c_functions|$cxx_names)\$" '$NF ~ wanted {
            file = $0
            sub(/\.o(bj)?:.*/, "", file)
            sub(/.*\.dir\/(\.\/)?/, "", file)
            print file, $NF }' | LC_ALL=C sort -u)
if [ "$found" = "$allowed" ]; then
    echo "$(wc -l < "$objects") object files checked"
    exit 0
fi
{
    echo "> takes memory past base/alloc.h and base/containers.hpp; < may do so and does not:"
    printf '%s\n' "$allowed" > "$objects.allowed"
    printf '%s\n' "$found" | diff "$objects.allowed" - | grep '^[<>]'
} >&2
exit 1
