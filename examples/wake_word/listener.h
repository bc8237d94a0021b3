// SPDX-License-Identifier: Apache-2.0
// Three networks in a stream: from samples to a spectrogram, to embeddings, to the probability that
// a word was spoken. The input of each keeps the past that it needs.
#pragma once

#include "network.h"

enum
{
    kChunk = 1280  // samples of a step: 80 ms
};

struct listener
{
    struct network spectrogram;
    struct network embedding;
    struct network word;
    int embedding_num;  // that the last network takes
};

// Opens openWakeWord's networks in a folder, and the one for a word, that of the folder if `word`
// is NULL. Returns 0, or -1 after a message; listener_close is legal in both cases, and for a
// listener that is all zero.
int listener_open(const char* folder, const char* word, const struct run_options* options,
                  struct listener* out_listener);
void listener_close(struct listener* listener);

// Hears kChunk samples, -32768 to 32767. Returns 0 and the probability that the word ends about
// here, or -1 after a message.
int listener_hear(struct listener* listener, const float samples[kChunk], float* out_probability);
