// SPDX-License-Identifier: Apache-2.0
// Parameters of TfIdfVectorizer (tfidf_ops.c), and the layout of its pool of n-grams.
#pragma once

#include "operator/operator.h"

TENGINE_EXTERN_C_BEGIN

struct tfidf_param
{
    int min_gram_length;
    int max_gram_length;
    int max_skip_count;
    char* mode;                      // TF, IDF, TFIDF
    struct op_ints ngram_counts;     // the beginnings of the 1-grams, 2-grams ... in the pool
    struct op_ints ngram_indexes;    // index of every n-gram in the output
    struct op_ints pool_int64s;      // the n-grams of int64, without gaps
    struct op_strings pool_strings;  // or those of strings
    struct op_floats weights;        // one for every n-gram; absent: 1
};

static inline int get_pool_num(const struct tfidf_param* param)
{
    return param->pool_strings.num > 0 ? param->pool_strings.num : param->pool_int64s.num;
}

// Returns the end of the n-grams of `length` in the pool.
static inline int64_t get_ngram_end(const struct tfidf_param* param, int length)
{
    return length < param->ngram_counts.num ? param->ngram_counts.values[length]
                                            : get_pool_num(param);
}

TENGINE_EXTERN_C_END
