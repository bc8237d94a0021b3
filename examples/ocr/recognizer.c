// SPDX-License-Identifier: Apache-2.0
// Reads the pictures of lines.
#include "recognizer.h"

#include <stdlib.h>
#include <string.h>

#include "message.h"

enum
{
    kDirectionWidth = 192,  // pixels of the classifier's input
    kShortestInput = 320,   // pixels of the recognition's
    kWidthStep = 32         // widths are multiples of it, so that few shapes are prepared
};

static const float kUpsideDown = 0.9f;  // the direction is believed above this probability
// The network, trained on Chinese, sees spaces but prefers the blank: there is a space between two
// characters where the probability of one reaches this.
static const float kSpace = 0.01f;

int line_is_upside_down(struct network* network, const struct picture* line)
{
    int dims[2];  // 1 x 2
    if (line_feed(network, line, kDirectionWidth) < 0 || network_run(network) < 0) return -1;
    const float* probabilities = network_output(network, 0, dims, 2);
    if (!probabilities) return -1;
    if (dims[1] != 2) return fail("%s: %d classes, expected 2", network->path, dims[1]);
    return probabilities[1] > kUpsideDown;
}

static int largest(const float* values, int count)
{
    int best = 0;
    for (int i = 1; i < count; ++i)
        if (values[i] > values[best]) best = i;
    return best;
}

static size_t longest(const struct labels* characters)
{
    size_t most = 1;
    for (int i = 0; i < characters->count; ++i) {
        const size_t length = strlen(characters->lines[i]);
        if (length > most) most = length;
    }
    return most;
}

// The most probable class of each column, without repetitions and blanks: the greedy decoding of
// CTC (A. Graves et al., "Connectionist temporal classification", ICML 2006).
static void decode(const float* scores, int column_num, const struct labels* characters,
                   struct text* out_text)
{
    const int space = characters->count + 1;
    char* end = out_text->string;
    float sum = 0, space_score = 0;
    int character_num = 0;
    for (int column = 0, previous = 0; column < column_num; ++column) {
        const float* column_scores = scores + (size_t)column * (size_t)(space + 1);
        const int best = largest(column_scores, space);
        if (best != 0 && best != previous) {
            if (character_num > 0 && space_score >= kSpace) *end++ = ' ';
            const size_t length = strlen(characters->lines[best - 1]);
            memcpy(end, characters->lines[best - 1], length);
            end += length;
            sum += column_scores[best];
            space_score = 0;
            ++character_num;
        }
        if (column_scores[space] > space_score) space_score = column_scores[space];
        previous = best;
    }
    *end = '\0';
    out_text->confidence = character_num > 0 ? sum / (float)character_num : 0;
}

int recognize_line(struct network* network, const struct labels* characters,
                   const struct picture* line, struct text* out_text)
{
    int dims[3];  // 1 x columns x classes
    const struct text none = {0};
    const int width = line_width(line) > kShortestInput ? line_width(line) : kShortestInput;
    const int padded = (width + kWidthStep - 1) / kWidthStep * kWidthStep;
    *out_text = none;
    if (line_feed(network, line, padded) < 0 || network_run(network) < 0) return -1;
    const float* scores = network_output(network, 0, dims, 3);
    if (!scores) return -1;
    if (dims[2] != characters->count + 2)
        return fail("%s: %d classes, expected %d: the characters, the blank and the space",
                    network->path, dims[2], characters->count + 2);
    out_text->string = malloc((size_t)dims[1] * (longest(characters) + 1) + 1);
    if (!out_text->string) return fail("out of memory for a line of %d columns", dims[1]);
    decode(scores, dims[1], characters, out_text);
    return 0;
}

void text_free(struct text* text)
{
    free(text->string);
}
