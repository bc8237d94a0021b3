// SPDX-License-Identifier: Apache-2.0
// The operators of operator/onnx/string_ops.c.
#include <algorithm>
#include <atomic>
#include <cstring>

#include "base/containers.hpp"
#include "device/cpu/kernel_table.h"
#include "device/cpu/reference/learning/texts.h"
#include "device/cpu/reference/vector/elementwise.h"
#include "graph/graph.h"
#include "operator/onnx/string_param.h"

namespace tengine::cpu {
namespace {

// ---- StringConcat ----

int run_concat(KernelContext& context)
{
    std::atomic<int> status{TENGINE_OK};
    const auto join = [&context, &status](const char* a, const char* b) -> const char* {
        const String text = String(a) + b;
        const char* joined = a;
        const int added = intern_ir_string(context.node->graph, text.data(), text.size(), &joined);
        if (added < 0) status = added;
        return joined;
    };
    combine_broadcast<const char*, const char*>(context, context.input(0), context.input(1), join);
    return status;
}

// ---- StringSplit ----

using Parts = Vector<std::string_view>;

bool is_blank(char letter)
{
    return letter == ' ' || (letter >= '\t' && letter <= '\r');
}

// Splits as Python does without a separator: at ASCII white space; the rest after `most` splits
// keeps its trailing blanks.
void split_at_blanks(std::string_view text, int most, Parts* parts)
{
    size_t at = 0;
    for (int number = 0;; ++number) {
        while (at < text.size() && is_blank(text[at]))
            ++at;
        if (at == text.size()) return;
        size_t end = at;
        while (end < text.size() && !is_blank(text[end]))
            ++end;
        if (most != SPLIT_ALL && number == most) end = text.size();
        parts->push_back(text.substr(at, end - at));
        at = end;
    }
}

void split_at(std::string_view text, std::string_view delimiter, int most, Parts* parts)
{
    for (int number = 0; most == SPLIT_ALL || number < most; ++number) {
        const size_t at = text.find(delimiter);
        if (at == std::string_view::npos) break;
        parts->push_back(text.substr(0, at));
        text.remove_prefix(at + delimiter.size());
    }
    parts->push_back(text);
}

int give(const KernelContext& context, int index, int data_type, const int64_t* dims, int rank)
{
    if (!context.output(index)) return TENGINE_OK;
    TENGINE_RETURN_IF_ERROR(set_node_output(context.node, index, data_type, dims, rank));
    return allocate_ir_tensor(context.output(index));
}

int run_split(KernelContext& context)
{
    const auto& param = context.param<string_split_param>();
    const tensor* input = context.input(0);
    const std::string_view delimiter = param.delimiter ? param.delimiter : "";
    Vector<Parts> all(static_cast<size_t>(input->elem_num));
    int64_t dims[MAX_SHAPE_DIM_NUM] = {};
    std::copy_n(input->dims, input->dim_num, dims);
    size_t width = 0;
    for (size_t i = 0; i < all.size(); ++i) {
        const std::string_view text = texts_of(input)[i];
        if (delimiter.empty())
            split_at_blanks(text, param.maxsplit, &all[i]);
        else
            split_at(text, delimiter, param.maxsplit, &all[i]);
        width = std::max(width, all[i].size());
    }
    TENGINE_RETURN_IF_ERROR(give(context, 1, TENGINE_DT_INT64, dims, input->dim_num));
    dims[input->dim_num] = static_cast<int64_t>(width);
    TENGINE_RETURN_IF_ERROR(give(context, 0, TENGINE_DT_STRING, dims, input->dim_num + 1));
    for (size_t i = 0; i < all.size(); ++i) {
        if (context.output(1)) context.output(1)->i64[i] = static_cast<int64_t>(all[i].size());
        for (size_t k = 0; context.output(0) && k < width; ++k)
            TENGINE_RETURN_IF_ERROR(write_text(context, static_cast<int64_t>(i * width + k),
                                               k < all[i].size() ? all[i][k] : ""));
    }
    return TENGINE_OK;
}

// ---- StringNormalizer ----

// Changes the case of letters of Latin, Greek, Cyrillic and Armenian whose other case is one
// character.
uint32_t change_case(uint32_t letter, bool lower)
{
    struct Range
    {
        uint32_t first, last;  // upper case
        uint32_t distance;     // to lower case; 0: alternating, upper case at even or odd letters
    };
    constexpr Range kRanges[] = {
        {'A', 'Z', 32},      {0xc0, 0xd6, 32},    {0xd8, 0xde, 32},   {0x100, 0x12e, 0},
        {0x132, 0x136, 0},   {0x139, 0x147, 0},   {0x14a, 0x176, 0},  {0x179, 0x17d, 0},
        {0x391, 0x3a1, 32},  {0x3a3, 0x3ab, 32},  {0x410, 0x42f, 32}, {0x400, 0x40f, 80},
        {0x460, 0x480, 0},   {0x48a, 0x4be, 0},   {0x4d0, 0x52e, 0},  {0x531, 0x556, 48},
        {0x1e00, 0x1e94, 0}, {0x1ea0, 0x1efe, 0},
    };
    for (const Range& range : kRanges) {
        const uint32_t distance = range.distance == 0 ? 1 : range.distance;
        const uint32_t upper = lower ? letter : letter - distance;
        const bool is_pair = range.distance != 0 || (upper - range.first) % 2 == 0;
        if (upper >= range.first && upper <= range.last && is_pair)
            return lower ? letter + distance : upper;
    }
    return letter;
}

void append_letter(uint32_t letter, String* text)
{
    const int more = letter < 0x80 ? 0 : letter < 0x800 ? 1 : letter < 0x10000 ? 2 : 3;
    constexpr unsigned kFirst[] = {0, 0xc0, 0xe0, 0xf0};
    *text += static_cast<char>(kFirst[more] | letter >> (6 * more));
    for (int i = more - 1; i >= 0; --i)
        *text += static_cast<char>(0x80 | (letter >> (6 * i) & 0x3f));
}

// Strings of a graph are valid UTF-8.
String in_case(const char* text, bool lower)
{
    String changed;
    for (const auto* at = reinterpret_cast<const unsigned char*>(text); *at;) {
        const int more = *at >= 0xf0 ? 3 : *at >= 0xe0 ? 2 : *at >= 0xc0 ? 1 : 0;
        uint32_t letter = more == 0 ? *at : *at & (0x3fu >> more);
        ++at;
        for (int i = 0; i < more; ++i)
            letter = letter << 6 | (*at++ & 0x3fu);
        append_letter(change_case(letter, lower), &changed);
    }
    return changed;
}

bool is_stop_word(const string_normalizer_param& param, const char* text)
{
    for (int i = 0; i < param.stopwords.num; ++i) {
        const char* word = param.stopwords.values[i];
        const bool same = param.is_case_sensitive ? std::strcmp(text, word) == 0
                                                  : in_case(text, true) == in_case(word, true);
        if (same) return true;
    }
    return false;
}

int run_normalizer(KernelContext& context)
{
    const auto& param = context.param<string_normalizer_param>();
    const tensor* input = context.input(0);
    Vector<const char*> kept;
    for (int64_t i = 0; i < input->elem_num; ++i)
        if (!is_stop_word(param, texts_of(input)[i])) kept.push_back(texts_of(input)[i]);
    if (kept.empty()) kept.push_back("");
    const auto number = static_cast<int64_t>(kept.size());
    const int64_t dims[] = {input->dim_num == 1 ? number : 1, number};
    TENGINE_RETURN_IF_ERROR(give(context, 0, TENGINE_DT_STRING, dims, input->dim_num));
    const bool changes = std::strcmp(param.case_change_action, "NONE") != 0;
    const bool lower = std::strcmp(param.case_change_action, "LOWER") == 0;
    for (int64_t i = 0; i < number; ++i) {
        const char* text = kept[static_cast<size_t>(i)];
        TENGINE_RETURN_IF_ERROR(changes
                                    ? write_text(context, i, std::string_view(in_case(text, lower)))
                                    : write_text(context, i, text));
    }
    return TENGINE_OK;
}

// ---- CategoryMapper ----

int run_mapper(KernelContext& context)
{
    const auto& param = context.param<category_mapper_param>();
    const tensor* input = context.input(0);
    const int number = param.cats_strings.num;
    for (int64_t i = 0; i < input->elem_num; ++i) {
        int place = 0;
        if (input->data_type == TENGINE_DT_STRING) {
            const char* text = texts_of(input)[i];
            while (place < number && std::strcmp(text, param.cats_strings.values[place]) != 0)
                ++place;
            context.output(0)->i64[i] =
                place < number ? param.cats_int64s.values[place] : param.default_int64;
            continue;
        }
        while (place < number && input->i64[i] != param.cats_int64s.values[place])
            ++place;
        TENGINE_RETURN_IF_ERROR(write_text(
            context, i, place < number ? param.cats_strings.values[place] : param.default_string));
    }
    return TENGINE_OK;
}

constexpr Kernel string_rows[] = {
    {"StringConcat", "reference", nullptr, run_concat},
    {"StringNormalizer", "reference", nullptr, run_normalizer},
    {"StringSplit", "reference", nullptr, run_split},
    {"ai.onnx.ml.CategoryMapper", "reference", nullptr, run_mapper},
};

}  // namespace

extern const KernelTable string_reference;
const KernelTable string_reference = make_table<string_rows>();

}  // namespace tengine::cpu
