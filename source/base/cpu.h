// SPDX-License-Identifier: Apache-2.0
// The abilities of the processor: cores, clusters, instruction sets, caches.
// Sources: cpu_feature.c and cpu_topology.c. Any thread.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "tengine/export.h"

TENGINE_EXTERN_C_BEGIN

// X(name, bit, text). Bits of one processor family are only ever set on that family.
#define CPU_FEATURE_LIST(X)                       \
    X(CPU_FEATURE_SSE4_2, 0, "sse4.2")            \
    X(CPU_FEATURE_AVX, 1, "avx")                  \
    X(CPU_FEATURE_AVX2, 2, "avx2")                \
    X(CPU_FEATURE_FMA, 3, "fma")                  \
    X(CPU_FEATURE_F16C, 4, "f16c")                \
    X(CPU_FEATURE_AVX512F, 5, "avx512f")          \
    X(CPU_FEATURE_AVX512BW, 6, "avx512bw")        \
    X(CPU_FEATURE_AVX512VL, 7, "avx512vl")        \
    X(CPU_FEATURE_AVX512DQ, 8, "avx512dq")        \
    X(CPU_FEATURE_AVX512_VNNI, 9, "avx512_vnni")  \
    X(CPU_FEATURE_AVX512_BF16, 10, "avx512_bf16") \
    X(CPU_FEATURE_AVX512_FP16, 11, "avx512_fp16") \
    X(CPU_FEATURE_AVX_VNNI, 12, "avx_vnni")       \
    X(CPU_FEATURE_AMX_INT8, 13, "amx_int8")       \
    X(CPU_FEATURE_AMX_BF16, 14, "amx_bf16")       \
    X(CPU_FEATURE_SHA, 15, "sha")                 \
    X(CPU_FEATURE_NEON, 16, "neon")               \
    X(CPU_FEATURE_ARM_FP16, 17, "fp16")           \
    X(CPU_FEATURE_ARM_DOTPROD, 18, "asimddp")     \
    X(CPU_FEATURE_ARM_I8MM, 19, "i8mm")           \
    X(CPU_FEATURE_ARM_BF16, 20, "bf16")           \
    X(CPU_FEATURE_SVE, 21, "sve")                 \
    X(CPU_FEATURE_SVE2, 22, "sve2")               \
    X(CPU_FEATURE_ARM_FHM, 23, "asimdfhm")        \
    X(CPU_FEATURE_RISCV_VECTOR, 24, "v")          \
    X(CPU_FEATURE_ARM_SHA2, 25, "sha2")           \
    X(CPU_FEATURE_AVX512_VBMI, 26, "avx512_vbmi")

enum cpu_feature
{
#define CPU_FEATURE_ENUM(name, bit, text) name = 1 << (bit),
    CPU_FEATURE_LIST(CPU_FEATURE_ENUM)
#undef CPU_FEATURE_ENUM
};

// Returns the OR of cpu_feature: features that the processor has and the operating system lets
// programs use. AMX counts as usable although Linux requires each process to request it with
// arch_prctl() first.
uint64_t get_cpu_features(void);

// For tests: sets the result of get_cpu_features() from now on, in all threads; NULL restores the
// real one. No kernel may be running.
void force_cpu_features(const uint64_t* features);

// Returns the names of the processor's features, as in "sse4.2 avx avx2 fma"; "" when there is
// none. Constant.
const char* get_cpu_feature_text(void);

// Returns the number of cores that the calling thread may run on, at least 1.
int get_cpu_count(void);

// The values of c_api.h's TENGINE_CLUSTER_*.
enum cpu_cluster
{
    CPU_CLUSTER_ALL = 0,
    CPU_CLUSTER_BIG = 1,
    CPU_CLUSTER_MEDIUM = 2,
    CPU_CLUSTER_LITTLE = 3
};

// Bit i set: core i is of that cluster and the calling thread may run on it. Big cores have a
// maximal frequency within 10 % of the highest, little ones within 10 % of the lowest, medium ones
// lie between. All cores that may be used when the machine has no such cluster, does not report it,
// or `cluster` is none of the last three. Only cores 0..63 can be named; all ones when the system
// names none of them. Frequencies are read once.
uint64_t get_cluster_mask(int cluster);

// The rule of get_cluster_mask() by itself: frequencies of cores 0..cpu_num-1 in any unit, 0 where
// unknown, and the cores that may be used.
uint64_t select_cluster(const uint64_t* frequencies, int cpu_num, uint64_t usable, int cluster);

// Data or unified cache that one core of the machine's big cluster sees, in bytes; 0: no cache of
// that level. Typical sizes if the system does not report them. Read once: always the same, from
// any thread.
typedef struct cpu_cache_size
{
    size_t l1d;
    size_t l2;
    size_t l3;
} cpu_cache_size_t;

cpu_cache_size_t get_cpu_cache_size(void);

TENGINE_EXTERN_C_END
