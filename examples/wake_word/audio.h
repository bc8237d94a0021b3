// SPDX-License-Identifier: Apache-2.0
// Samples of a WAV file, or of a pipe from a microphone.
#pragma once

#include <stdint.h>
#include <stdio.h>

enum
{
    kSampleRate = 16000
};

struct audio
{
    const char* name;
    FILE* file;
    int channel_num;
    int64_t byte_num;          // that are left; INT64_MAX: to the end of the stream
    unsigned char pending[4];  // of a stream without header, its first bytes
    int pending_num;
};

// Opens a WAV file, or standard input for "-": a WAV stream, or 16-bit samples of one channel
// without header, little-endian. A WAV has 16-bit samples of PCM, 1 to 8 channels and kSampleRate
// samples a second. Returns 0, or -1 after a message; audio_close is legal in both cases.
int audio_open(const char* path, struct audio* out_audio);
void audio_close(struct audio* audio);

// Reads up to `count` samples, -32768 to 32767, the average of the channels. Returns their number,
// less than `count` at the end only, or -1 after a message: a file that ends early.
int audio_read(struct audio* audio, float* out_samples, int count);
