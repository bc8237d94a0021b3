// SPDX-License-Identifier: Apache-2.0
// The release of TensorFlow Lite that a model needs, as its converter states it in the metadata
// (tensorflow/tensorflow, runtime_version.cc has the releases of operators).
#include <cstdlib>
#include <cstring>

#include "serializer/tflite/writing.h"

namespace tengine::tflite {
namespace {

// The releases that brought version 1 of an operator, version 2 and so on; "-": no release has it.
struct Releases
{
    int16_t code;
    const char* of_versions;
};

// The operators that graphs of other formats become.
constexpr Releases kReleases[] = {
    {0, "1.5.0 1.14.0 2.4.0 2.6.0"},                                  // ADD
    {1, "1.5.0 1.14.0 2.3.0"},                                        // AVERAGE_POOL_2D
    {2, "1.5.0 1.14.0 2.3.0"},                                        // CONCATENATION
    {3, "1.5.0 1.14.0 1.14.0 2.3.0 2.4.0 2.9.0"},                     // CONV_2D
    {4, "1.5.0 1.12.0 1.14.0 2.2.0 2.3.0 2.3.0"},                     // DEPTHWISE_CONV_2D
    {5, "2.1.0 2.5.0"},                                               // DEPTH_TO_SPACE
    {6, "1.13.1 1.14.0 1.15.0 2.2.0 2.7.0"},                          // DEQUANTIZE
    {8, "1.9.0"},                                                     // FLOOR
    {9, "1.5.0 1.10.0 1.14.0 1.14.0 2.0.0 2.1.0 2.3.0 2.3.0 2.3.0"},  // FULLY_CONNECTED
    {14, "1.14.0 1.14.0 2.3.0"},                                      // LOGISTIC
    {17, "1.5.0 1.14.0 2.3.0"},                                       // MAX_POOL_2D
    {18, "1.5.0 1.14.0 1.15.0 2.3.0 2.6.0"},                          // MUL
    {19, "1.5.0 2.1.0 2.5.0"},                                        // RELU
    {20, "1.5.0"},                                                    // RELU_N1_TO_1
    {21, "1.5.0 1.14.0 2.5.0"},                                       // RELU6
    {22, "1.5.0"},                                                    // RESHAPE
    {23, "1.7.0 1.14.0 2.2.0 2.5.0"},                                 // RESIZE_BILINEAR
    {25, "1.5.0 1.14.0 2.3.0"},                                       // SOFTMAX
    {26, "1.5.0 1.14.0"},                                             // SPACE_TO_DEPTH
    {28, "1.14.0 1.14.0 2.3.0"},                                      // TANH
    {34, "1.5.0 1.14.0 2.4.0 2.6.0"},                                 // PAD
    {36, "1.6.0 1.14.0 1.15.0 2.4.0 2.5.0"},                          // GATHER
    {39, "1.6.0 1.14.0 1.15.0 2.3.0 2.4.0"},                          // TRANSPOSE
    {40, "1.6.0 1.14.0 2.4.0"},                                       // MEAN
    {41, "1.6.0 1.14.0 2.3.0 2.4.0 2.4.0"},                           // SUB
    {42, "1.6.0 2.3.0"},                                              // DIV
    {45, "1.6.0 1.14.0 2.1.0 2.2.0 2.5.0 2.6.0"},                     // STRIDED_SLICE
    {47, "1.7.0"},                                                    // EXP
    {48, "1.7.0 1.14.0"},                                             // TOPK_V2
    {49, "1.5.0 1.14.0 1.14.0 2.3.0"},                                // SPLIT
    {50, "1.14.0 1.14.0"},                                            // LOG_SOFTMAX
    {53, "1.5.0 2.7.0 2.8.0 2.9.0"},                                  // CAST
    {54, "1.8.0"},                                                    // PRELU
    {55, "1.14.0 1.14.0 2.3.0 2.3.0"},                                // MAXIMUM
    {56, "1.9.0 1.14.0 2.9.0"},                                       // ARG_MAX
    {57, "1.14.0 1.14.0 2.3.0 2.3.0"},                                // MINIMUM
    {58, "1.14.0 1.14.0"},                                            // LESS
    {59, "1.9.0"},                                                    // NEG
    {60, "1.9.0 1.14.0 2.4.0 2.6.0"},                                 // PADV2
    {61, "1.14.0 1.14.0"},                                            // GREATER
    {62, "1.14.0 1.14.0"},                                            // GREATER_EQUAL
    {63, "1.14.0 1.14.0"},                                            // LESS_EQUAL
    {65, "1.14.0 1.14.0 1.14.0 2.4.0 2.5.0"},                         // SLICE
    {66, "1.9.0"},                                                    // SIN
    {67, "1.9.0 2.2.0 2.3.0"},                                        // TRANSPOSE_CONV
    {69, "1.10.1 2.2.0 2.8.0"},                                       // TILE
    {71, "1.14.0 1.14.0 2.3.0"},                                      // EQUAL
    {72, "1.14.0 1.14.0 2.3.0"},                                      // NOT_EQUAL
    {73, "1.14.0"},                                                   // LOG
    {74, "1.10.0 1.15.0"},                                            // SUM
    {75, "1.10.0"},                                                   // SQRT
    {78, "1.10.0"},                                                   // POW
    {79, "1.9.0 1.14.0 2.9.0"},                                       // ARG_MIN
    {81, "1.11.0 2.6.0"},                                             // REDUCE_PROD
    {82, "1.11.0 1.14.0 2.5.0"},                                      // REDUCE_MAX
    {84, "1.11.0"},                                                   // LOGICAL_OR
    {86, "1.11.0"},                                                   // LOGICAL_AND
    {87, "1.11.0"},                                                   // LOGICAL_NOT
    {89, "1.11.0 1.14.0 2.5.0"},                                      // REDUCE_MIN
    {95, "1.13.0"},                                                   // FLOOR_MOD
    {97, "1.13.1 1.14.0 2.3.0 2.4.0"},                                // RESIZE_NEAREST_NEIGHBOR
    {98, "1.13.1 2.3.0"},                                             // LEAKY_RELU
    {100, "1.13.1 2.3.0"},                                            // MIRROR_PAD
    {101, "1.13.0 2.4.0 2.5.0 2.6.0"},                                // ABS
    {102, "1.13.1 2.3.0"},                                            // SPLIT_V
    {104, "1.14.0"},                                                  // CEIL
    {107, "1.14.0 2.3.0 2.5.0"},                                      // GATHER_ND
    {108, "1.14.0"},                                                  // COS
    {111, "1.14.0"},                                                  // ELU
    {114, "1.14.0 1.15.0 2.7.0"},                                     // QUANTIZE
    {116, "1.14.0"},                                                  // ROUND
    {117, "1.15.0"},                                                  // HARD_SWISH
    {118, "1.15.0"},                                                  // IF
    {119, "1.15.0"},                                                  // WHILE
    {123, "2.2.0"},                                                   // SELECT_V2
    {126, "2.3.0 2.3.0 2.4.0 2.5.0"},                                 // BATCH_MATMUL
    {128, "2.4.0"},                                                   // CUMSUM
    {129, "2.5.0"},                                                   // CALL_ONCE
    {130, "- 2.5.0 2.5.0"},                                           // BROADCAST_TO
    {142, "2.6.0"},                                                   // VAR_HANDLE
    {143, "2.6.0"},                                                   // READ_VARIABLE
    {144, "2.6.0"},                                                   // ASSIGN_VARIABLE
    {150, "2.9.0 2.9.0"},                                             // GELU
};

// Three numbers; zeros: it is not known.
struct Release
{
    int numbers[3] = {};

    bool is_before(const Release& other) const
    {
        return std::lexicographical_compare(numbers, numbers + 3, other.numbers, other.numbers + 3);
    }
};

Release read_release(const char* text)
{
    Release release;
    char* end = nullptr;
    for (int& number : release.numbers) {
        number = static_cast<int>(std::strtol(text, &end, 10));
        text = *end == '.' ? end + 1 : end;
    }
    return release;
}

Release find_release(int code, int version)
{
    for (const Releases& releases : kReleases) {
        const char* text = releases.of_versions;
        for (int i = 1; releases.code == code && text; ++i) {
            if (i == version) return read_release(text);
            text = std::strchr(text, ' ');
            if (text) ++text;
        }
    }
    return {};
}

}  // namespace

String find_runtime_version(const Writing& writing)
{
    Release needed;
    for (const auto& [key, place] : writing.known_codes) {
        const Release release = find_release(std::get<0>(key), std::get<2>(key));
        if (needed.is_before(release)) needed = release;
    }
    const int* numbers = needed.numbers;
    return numbers[0] > 0 ? print_text("%d.%d.%d", numbers[0], numbers[1], numbers[2]) : String();
}

}  // namespace tengine::tflite
