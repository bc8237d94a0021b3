// SPDX-License-Identifier: Apache-2.0
// Three networks in a stream, after D. Scripka's openWakeWord.
#include "listener.h"

#include <string.h>

#include "message.h"

enum
{
    kOverlap = 480,      // samples before a chunk: windows of the spectrogram reach back
    kBandNum = 32,       // values of a frame of the spectrogram
    kNewFrameNum = 8,    // frames of a chunk, each of 10 ms
    kFrameNum = 76,      // frames of an embedding
    kEmbeddingSize = 96  // values of an embedding
};

static const char kSpectrogram[] = "melspectrogram.onnx";
static const char kEmbedding[] = "embedding_model.onnx";
static const char kWord[] = "hey_jarvis_v0.1.onnx";

// The first network takes a chunk of any size, the last one the embeddings that its model states.
static int prepare(struct listener* listener)
{
    const int sample_dims[] = {1, kOverlap + kChunk};
    const int frame_dims[] = {1, kFrameNum, kBandNum, 1};
    int word_dims[3];  // 1 x embeddings x values
    tensor_t input = tengine_graph_get_input(listener->word.graph, 0);
    if (get_tensor_shape(input, word_dims, 3) != 3 || word_dims[0] != 1 || word_dims[1] < 1 ||
        word_dims[2] != kEmbeddingSize)
        return fail("%s: expected an input of 1 x embeddings x %d", listener->word.path,
                    kEmbeddingSize);
    listener->embedding_num = word_dims[1];
    float* frames = network_input(&listener->embedding, frame_dims, 4);
    if (!frames) return -1;
    for (int i = 0; i < kFrameNum * kBandNum; ++i)
        frames[i] = 1;  // as openWakeWord begins
    if (!network_input(&listener->spectrogram, sample_dims, 2)) return -1;
    return network_input(&listener->word, word_dims, 3) ? 0 : -1;
}

int listener_open(const char* folder, const char* word, const struct run_options* options,
                  struct listener* out_listener)
{
    const struct listener none = {0};
    struct run_options in_float = *options;
    in_float.precision = TENGINE_MODE_FP32;  // the squares of samples are too large for fp16
    *out_listener = none;
    if (network_open(folder, kSpectrogram, &in_float, &out_listener->spectrogram) < 0 ||
        network_open(folder, kEmbedding, options, &out_listener->embedding) < 0 ||
        network_open(word ? NULL : folder, word ? word : kWord, options, &out_listener->word) < 0)
        return -1;
    return prepare(out_listener);
}

void listener_close(struct listener* listener)
{
    network_close(&listener->spectrogram);
    network_close(&listener->embedding);
    network_close(&listener->word);
}

// Appends values to an input, whose first ones are dropped.
static void shift_in(struct network* network, const float* values, int count, int size)
{
    float* input = network->input;
    memmove(input, input + count, (size_t)(size - count) * sizeof *input);
    memcpy(input + size - count, values, (size_t)count * sizeof *input);
}

static int hear_samples(struct listener* listener, const float samples[kChunk])
{
    int dims[4];  // 1 x 1 x frames x bands
    float frames[kNewFrameNum * kBandNum];
    shift_in(&listener->spectrogram, samples, kChunk, kOverlap + kChunk);
    if (network_run(&listener->spectrogram) < 0) return -1;
    const float* decibels = network_output(&listener->spectrogram, 0, dims, 4);
    if (!decibels) return -1;
    if (dims[0] * dims[1] * dims[2] != kNewFrameNum || dims[3] != kBandNum)
        return fail("%s: a chunk has %dx%dx%dx%d values, expected %d frames of %d",
                    listener->spectrogram.path, dims[0], dims[1], dims[2], dims[3], kNewFrameNum,
                    kBandNum);
    for (int i = 0; i < kNewFrameNum * kBandNum; ++i)
        frames[i] = decibels[i] / 10 + 2;  // as the embedding was trained
    shift_in(&listener->embedding, frames, kNewFrameNum * kBandNum, kFrameNum * kBandNum);
    return 0;
}

int listener_hear(struct listener* listener, const float samples[kChunk], float* out_probability)
{
    int dims[4];       // 1 x 1 x 1 x values
    int word_dims[2];  // 1 x 1
    if (hear_samples(listener, samples) < 0 || network_run(&listener->embedding) < 0) return -1;
    const float* embedding = network_output(&listener->embedding, 0, dims, 4);
    if (!embedding) return -1;
    if (dims[3] != kEmbeddingSize)
        return fail("%s: %d values, expected %d", listener->embedding.path, dims[3],
                    kEmbeddingSize);
    shift_in(&listener->word, embedding, kEmbeddingSize, listener->embedding_num * kEmbeddingSize);
    if (network_run(&listener->word) < 0) return -1;
    const float* probability = network_output(&listener->word, 0, word_dims, 2);
    if (!probability) return -1;
    *out_probability = *probability;
    return 0;
}
