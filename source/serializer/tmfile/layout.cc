// SPDX-License-Identifier: Apache-2.0
#include "serializer/tmfile/layout.h"

#include <cstring>
#include <utility>

#include "operator/infer.h"
#include "serializer/tmfile/format.h"

namespace tengine::tmfile {
namespace {

enum class Direction
{
    kFromNhwc,
    kToNhwc
};

// Copies groups of `size` words in the order n, h, w, c or n, c, h, w.
template <class Word>
void permute(Word* words, int size, Direction direction)
{
    for (int i = 0; i < size; ++i) {
        Word* group[] = {words + i, words + size + i, words + 2 * size + i, words + 3 * size + i};
        const Word second = *group[1];
        const Word third = *group[2];
        const Word fourth = *group[3];
        const bool from = direction == Direction::kFromNhwc;
        *group[1] = from ? fourth : third;
        *group[2] = from ? second : fourth;
        *group[3] = from ? third : second;
    }
}

// The position of element (a, b, y, x) of a tensor in NCHW in the file.
int64_t file_place(const int* dims, int64_t a, int64_t b, int64_t y, int64_t x)
{
    if (dims[1] == 1) return (y * dims[3] + x) * dims[0] + a;
    return ((a * dims[2] + y) * dims[3] + x) * dims[1] + b;
}

void permute_values(const struct tensor* tensor, const char* from, char* to, Direction direction)
{
    const int* dims = tensor->dims;
    const size_t size = tensor->elem_size;
    int64_t place = 0;
    for (int64_t a = 0; a < dims[0]; ++a)
        for (int64_t b = 0; b < dims[1]; ++b)
            for (int64_t y = 0; y < dims[2]; ++y)
                for (int64_t x = 0; x < dims[3]; ++x, ++place) {
                    const int64_t other = file_place(dims, a, b, y, x);
                    if (direction == Direction::kFromNhwc)
                        std::memcpy(to + place * size, from + other * size, size);
                    else
                        std::memcpy(to + other * size, from + place * size, size);
                }
}

// Softmax over the last axis of an image is over its channels.
void permute_softmax(int32_t* words, Direction direction)
{
    if (direction == Direction::kFromNhwc && words[0] == 3) words[0] = 1;
    if (direction == Direction::kToNhwc && words[0] == 1) words[0] = 3;
}

// Reductions over height and width, or over the last axis, which is the channels'. (Tengine writes
// 4 for that, which none of its kernels supports.)
void permute_reduction(int32_t* words, Direction direction)
{
    if (direction == Direction::kFromNhwc) {
        if (words[0] == 1 && words[1] == 2) {
            words[0] = 2;
            words[1] = 3;
        } else if (words[0] == -1) {
            words[0] = 1;
        }
    } else if (words[0] == 2 && words[1] == 3) {
        words[0] = 1;
        words[1] = 2;
    } else if (words[0] == 1) {
        words[0] = -1;
    }
}

void permute_words(uint32_t operator_number, int32_t* words, int number, Direction direction)
{
    if (operator_number == kSoftmax && number >= 1) permute_softmax(words, direction);
    if (operator_number == kReduction && number >= 2) permute_reduction(words, direction);
    if (operator_number == kPad && number >= 8) permute(words, 2, direction);
    if (operator_number == kStridedSlice && number >= 12) permute(words, 3, direction);
}

int permute_reshape(const struct node* node, int64_t* dims, int number, Direction direction)
{
    if (number > 4)
        return fail_node(node, TENGINE_ENOTSUP,
                         "a shape of %d dimensions in an NHWC model, expected at most 4", number);
    if (number == 3) std::swap(dims[1], dims[2]);
    if (number == 4) permute(dims, 1, direction);
    return TENGINE_OK;
}

}  // namespace

void dims_from_nhwc(int dims[4])
{
    permute(dims, 1, Direction::kFromNhwc);
}

void dims_to_nhwc(int dims[4])
{
    permute(dims, 1, Direction::kToNhwc);
}

void values_from_nhwc(const struct tensor* tensor, const char* from, char* to)
{
    permute_values(tensor, from, to, Direction::kFromNhwc);
}

void values_to_nhwc(const struct tensor* tensor, const char* from, char* to)
{
    permute_values(tensor, from, to, Direction::kToNhwc);
}

void words_from_nhwc(uint32_t operator_number, int32_t* words, int number)
{
    permute_words(operator_number, words, number, Direction::kFromNhwc);
}

void words_to_nhwc(uint32_t operator_number, int32_t* words, int number)
{
    permute_words(operator_number, words, number, Direction::kToNhwc);
}

int reshape_from_nhwc(const struct node* node, int64_t* dims, int number)
{
    return permute_reshape(node, dims, number, Direction::kFromNhwc);
}

int reshape_to_nhwc(const struct node* node, int64_t* dims, int number)
{
    return permute_reshape(node, dims, number, Direction::kToNhwc);
}

}  // namespace tengine::tmfile
