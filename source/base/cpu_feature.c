// SPDX-License-Identifier: Apache-2.0
// Instruction sets. The contract is in cpu.h; cores and caches are in cpu_topology.c.
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "base/cpu.h"

#if defined(__x86_64__) || defined(__i386__)

#include <cpuid.h>

typedef struct cpuid_leaf
{
    unsigned int a, b, c, d;
} cpuid_leaf_t;

static cpuid_leaf_t read_cpuid(unsigned int leaf, unsigned int subleaf)
{
    cpuid_leaf_t result = {0, 0, 0, 0};
    __get_cpuid_count(leaf, subleaf, &result.a, &result.b, &result.c, &result.d);
    return result;
}

// XCR0: the register states that the operating system saves. Without its bit an instruction set
// faults although CPUID lists it.
static uint32_t read_saved_states(cpuid_leaf_t basic)
{
    if (!(basic.c & bit_OSXSAVE)) return 0;
    uint32_t low;
    uint32_t high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

// One row per feature: the bit of a CPUID register, and the states that must be saved.
typedef struct x86_feature
{
    uint64_t feature;
    unsigned int reg;  // index in x86_registers
    unsigned int bit;
    uint32_t states;
} x86_feature_t;

enum
{
    LEAF1_C,
    LEAF7_B,
    LEAF7_C,
    LEAF7_D,
    LEAF7_1_A,
    X86_REGISTER_NUM
};

enum
{
    STATE_AVX = 0x6,      // xmm, ymm
    STATE_AVX512 = 0xe6,  // and masks, upper halves, upper registers
    STATE_AMX = 0x60000   // tile configuration and data
};

// Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, CPUID.
static const x86_feature_t x86_features[] = {
    {CPU_FEATURE_SSE4_2, LEAF1_C, 20, 0},
    {CPU_FEATURE_AVX, LEAF1_C, 28, STATE_AVX},
    {CPU_FEATURE_AVX2, LEAF7_B, 5, STATE_AVX},
    {CPU_FEATURE_FMA, LEAF1_C, 12, STATE_AVX},
    {CPU_FEATURE_F16C, LEAF1_C, 29, STATE_AVX},
    {CPU_FEATURE_AVX512F, LEAF7_B, 16, STATE_AVX512},
    {CPU_FEATURE_AVX512BW, LEAF7_B, 30, STATE_AVX512},
    {CPU_FEATURE_AVX512VL, LEAF7_B, 31, STATE_AVX512},
    {CPU_FEATURE_AVX512DQ, LEAF7_B, 17, STATE_AVX512},
    {CPU_FEATURE_AVX512_VNNI, LEAF7_C, 11, STATE_AVX512},
    {CPU_FEATURE_AVX512_VBMI, LEAF7_C, 1, STATE_AVX512},
    {CPU_FEATURE_AVX512_BF16, LEAF7_1_A, 5, STATE_AVX512},
    {CPU_FEATURE_AVX512_FP16, LEAF7_D, 23, STATE_AVX512},
    {CPU_FEATURE_AVX_VNNI, LEAF7_1_A, 4, STATE_AVX},
    {CPU_FEATURE_SHA, LEAF7_B, 29, 0},
    {CPU_FEATURE_AMX_INT8, LEAF7_D, 25, STATE_AMX},
    {CPU_FEATURE_AMX_BF16, LEAF7_D, 22, STATE_AMX},
};

static uint64_t detect_features(void)
{
    const cpuid_leaf_t basic = read_cpuid(1, 0);
    const cpuid_leaf_t extended = read_cpuid(7, 0);
    const cpuid_leaf_t further = extended.a >= 1 ? read_cpuid(7, 1) : (cpuid_leaf_t){0, 0, 0, 0};
    const uint32_t saved = read_saved_states(basic);
    const unsigned int registers[X86_REGISTER_NUM] = {basic.c, extended.b, extended.c, extended.d,
                                                      further.a};
    uint64_t features = 0;
    for (size_t i = 0; i < sizeof x86_features / sizeof x86_features[0]; ++i) {
        const x86_feature_t* row = &x86_features[i];
        const bool present = registers[row->reg] >> row->bit & 1;
        if (present && (saved & row->states) == row->states) features |= row->feature;
    }
    return features;
}

#elif defined(__linux__) && (defined(__aarch64__) || defined(__arm__) || defined(__riscv))

#include <sys/auxv.h>

// Bits of the kernel's AT_HWCAP and AT_HWCAP2, written out because old headers lack the newer
// names.
typedef struct hwcap_feature
{
    uint64_t feature;
    unsigned long vector;  // AT_HWCAP or AT_HWCAP2
    unsigned int bit;
} hwcap_feature_t;

static const hwcap_feature_t hwcap_features[] = {
#if defined(__aarch64__)
    {CPU_FEATURE_NEON, AT_HWCAP, 1},          // ASIMD
    {CPU_FEATURE_ARM_SHA2, AT_HWCAP, 6},      // SHA2
    {CPU_FEATURE_ARM_FP16, AT_HWCAP, 10},     // ASIMDHP
    {CPU_FEATURE_ARM_DOTPROD, AT_HWCAP, 20},  // ASIMDDP
    {CPU_FEATURE_SVE, AT_HWCAP, 22},          // SVE
    {CPU_FEATURE_ARM_FHM, AT_HWCAP, 23},      // ASIMDFHM
    {CPU_FEATURE_SVE2, AT_HWCAP2, 1},         // SVE2
    {CPU_FEATURE_ARM_I8MM, AT_HWCAP2, 13},    // I8MM
    {CPU_FEATURE_ARM_BF16, AT_HWCAP2, 14},    // BF16
#elif defined(__arm__)
    {CPU_FEATURE_NEON, AT_HWCAP, 12},         // NEON
    {CPU_FEATURE_ARM_FP16, AT_HWCAP, 23},     // ASIMDHP
    {CPU_FEATURE_ARM_DOTPROD, AT_HWCAP, 24},  // ASIMDDP
    {CPU_FEATURE_ARM_FHM, AT_HWCAP, 25},      // ASIMDFHM
    {CPU_FEATURE_ARM_BF16, AT_HWCAP, 26},     // ASIMDBF16
    {CPU_FEATURE_ARM_I8MM, AT_HWCAP, 27},     // I8MM
#else
    {CPU_FEATURE_RISCV_VECTOR, AT_HWCAP, 'v' - 'a'},
#endif
};

static uint64_t detect_features(void)
{
    uint64_t features = 0;
    for (size_t i = 0; i < sizeof hwcap_features / sizeof hwcap_features[0]; ++i) {
        const hwcap_feature_t* row = &hwcap_features[i];
        if (getauxval(row->vector) >> row->bit & 1) features |= row->feature;
    }
    return features;
}

#else

static uint64_t detect_features(void)
{
    return 0;
}

#endif

enum
{
    FEATURE_TEXT_SIZE = 256  // all words of CPU_FEATURE_LIST together are shorter
};

typedef struct feature_word
{
    uint64_t feature;
    const char* text;
} feature_word_t;

static const feature_word_t feature_words[] = {
#define FEATURE_WORD(name, bit, text) {name, text},
    CPU_FEATURE_LIST(FEATURE_WORD)
#undef FEATURE_WORD
};

#define FEATURE_WORD_SIZE(name, bit, text) +sizeof(text)
_Static_assert(0 CPU_FEATURE_LIST(FEATURE_WORD_SIZE) < FEATURE_TEXT_SIZE,
               "all feature words fit into the string");
#undef FEATURE_WORD_SIZE

static pthread_once_t detection = PTHREAD_ONCE_INIT;
static uint64_t detected_features;
static uint64_t used_features;  // equal to the real ones except in tests
static char feature_text[FEATURE_TEXT_SIZE];

static void detect_once(void)
{
    detected_features = used_features = detect_features();
    for (size_t i = 0; i < sizeof feature_words / sizeof feature_words[0]; ++i) {
        if (!(detected_features & feature_words[i].feature)) continue;
        if (feature_text[0] != '\0') strcat(feature_text, " ");
        strcat(feature_text, feature_words[i].text);
    }
}

uint64_t get_cpu_features(void)
{
    pthread_once(&detection, detect_once);
    return used_features;
}

void force_cpu_features(const uint64_t* features)
{
    pthread_once(&detection, detect_once);
    used_features = features ? *features : detected_features;
}

const char* get_cpu_feature_text(void)
{
    pthread_once(&detection, detect_once);
    return feature_text;
}
