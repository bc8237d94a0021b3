// SPDX-License-Identifier: Apache-2.0
// Samples of a WAV file (Microsoft and IBM, "Multimedia programming interface and data
// specifications 1.0", 1991), or of a pipe.
#include "audio.h"

#include <errno.h>
#include <string.h>

#include "message.h"

enum
{
    kMostChannels = 8,
    kPcm = 1,
    kExtensible = 0xfffe,
    kFormatSize = 16,      // bytes of the chunk "fmt " that are read
    kSubformatOffset = 24  // of the tag that kExtensible refers to
};

static uint32_t number_at(const unsigned char* bytes, int size)
{
    uint32_t number = 0;
    for (int i = size - 1; i >= 0; --i)
        number = number << 8 | bytes[i];
    return number;
}

static int read_bytes(struct audio* audio, void* out_bytes, size_t size)
{
    if (fread(out_bytes, 1, size, audio->file) == size) return 0;
    return fail("%s: ends within the header of a WAV file", audio->name);
}

// A stream may not be able to seek. Chunks have even sizes.
static int skip_bytes(struct audio* audio, uint32_t size)
{
    for (int64_t left = (int64_t)size + (size & 1); left > 0; --left)
        if (fgetc(audio->file) == EOF)
            return fail("%s: ends within the header of a WAV file", audio->name);
    return 0;
}

static int check_format(const struct audio* audio, uint32_t tag, const unsigned char* format)
{
    const uint32_t channel_num = number_at(format + 2, 2);
    const uint32_t rate = number_at(format + 4, 4);
    const uint32_t bits = number_at(format + 14, 2);
    if (tag != kPcm || bits != 16)
        return fail("%s: format %u with %u bits, expected PCM (%d) with 16 bits", audio->name,
                    (unsigned)tag, (unsigned)bits, kPcm);
    if (channel_num < 1 || channel_num > kMostChannels)
        return fail("%s: %u channels, expected 1 to %d", audio->name, (unsigned)channel_num,
                    kMostChannels);
    if (rate != kSampleRate)
        return fail("%s: %u samples a second, expected %d", audio->name, (unsigned)rate,
                    kSampleRate);
    return 0;
}

static int read_format(struct audio* audio, uint32_t size)
{
    unsigned char format[kSubformatOffset + 2];
    const uint32_t used = size < sizeof format ? size : sizeof format;
    if (size < kFormatSize)
        return fail("%s: a format of %u bytes, expected at least %d", audio->name, (unsigned)size,
                    kFormatSize);
    if (read_bytes(audio, format, used) < 0) return -1;
    uint32_t tag = number_at(format, 2);
    if (tag == kExtensible && used == sizeof format) tag = number_at(format + kSubformatOffset, 2);
    if (check_format(audio, tag, format) < 0) return -1;
    audio->channel_num = (int)number_at(format + 2, 2);
    return skip_bytes(audio, size - used);
}

// Reads the chunks up to the samples.
static int read_header(struct audio* audio)
{
    unsigned char head[8];
    if (read_bytes(audio, head, sizeof head) < 0) return -1;
    if (memcmp(head + 4, "WAVE", 4) != 0) return fail("%s: not a WAV file", audio->name);
    for (;;) {
        if (read_bytes(audio, head, sizeof head) < 0) return -1;
        const uint32_t size = number_at(head + 4, 4);
        if (memcmp(head, "data", 4) == 0) {
            // Programs that write to a pipe do not know the size.
            audio->byte_num = audio->file == stdin ? INT64_MAX : (int64_t)size;
            break;
        }
        const int is_format = memcmp(head, "fmt ", 4) == 0;
        if ((is_format ? read_format(audio, size) : skip_bytes(audio, size)) < 0) return -1;
    }
    if (audio->channel_num == 0) return fail("%s: samples without a format", audio->name);
    return 0;
}

int audio_open(const char* path, struct audio* out_audio)
{
    const struct audio none = {0};
    const int is_stream = strcmp(path, "-") == 0;
    *out_audio = none;
    out_audio->name = is_stream ? "standard input" : path;
    out_audio->file = is_stream ? stdin : fopen(path, "rb");
    if (!out_audio->file) return fail("%s: cannot read: %s", path, strerror(errno));
    unsigned char* pending = out_audio->pending;
    out_audio->pending_num = (int)fread(pending, 1, sizeof out_audio->pending, out_audio->file);
    if (out_audio->pending_num == 4 && memcmp(pending, "RIFF", 4) == 0) {
        out_audio->pending_num = 0;
        return read_header(out_audio);
    }
    if (!is_stream) return fail("%s: not a WAV file", path);
    out_audio->channel_num = 1;
    out_audio->byte_num = INT64_MAX;
    return 0;
}

void audio_close(struct audio* audio)
{
    if (audio->file && audio->file != stdin) fclose(audio->file);
}

// Reads a sample of all channels. Returns 1, or 0 at the end of the file.
static int read_frame(struct audio* audio, unsigned char* out_frame)
{
    const int frame_bytes = 2 * audio->channel_num;
    if (audio->byte_num < frame_bytes) return 0;
    for (int i = 0; i < frame_bytes; ++i) {
        int byte;
        if (audio->pending_num > 0) {
            byte = audio->pending[0];
            memmove(audio->pending, audio->pending + 1, sizeof audio->pending - 1);
            --audio->pending_num;
        } else {
            byte = fgetc(audio->file);
        }
        if (byte == EOF) return 0;
        out_frame[i] = (unsigned char)byte;
    }
    if (audio->byte_num != INT64_MAX) audio->byte_num -= frame_bytes;
    return 1;
}

static float average(const unsigned char* frame, int channel_num)
{
    int sum = 0;
    for (int i = 0; i < channel_num; ++i) {
        const int sample = (int)number_at(frame + 2 * i, 2);
        sum += sample < 0x8000 ? sample : sample - 0x10000;
    }
    return (float)sum / (float)channel_num;
}

int audio_read(struct audio* audio, float* out_samples, int count)
{
    unsigned char frame[2 * kMostChannels];
    int read = 0;
    while (read < count && read_frame(audio, frame))
        out_samples[read++] = average(frame, audio->channel_num);
    if (ferror(audio->file)) return fail("%s: cannot read: %s", audio->name, strerror(errno));
    if (read < count && audio->byte_num != INT64_MAX && audio->byte_num >= 2 * audio->channel_num)
        return fail("%s: ends early: %lld bytes of samples are missing", audio->name,
                    (long long)audio->byte_num);
    return read;
}
