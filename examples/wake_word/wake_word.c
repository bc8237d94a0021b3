// SPDX-License-Identifier: Apache-2.0
// Listens for a spoken word in a WAV file or a pipe from a microphone (audio.h), with three
// networks in a stream (listener.h), and prints when it is spoken. docs/wake_word.md describes it,
// examples/python/wake_word.py is the same program in Python.
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "audio.h"
#include "listener.h"
#include "message.h"

const char kProgram[] = "wake_word";

static const char kUsage[] =
    "wake_word [options] NETWORKS AUDIO\n"
    "Prints the time, in seconds, and the probability whenever \"hey jarvis\" is spoken. NETWORKS "
    "is\n"
    "the folder of openWakeWord's files. AUDIO is a WAV file with 16000 samples of 16 bits a "
    "second,\n"
    "or - for standard input: such a file, or samples of one channel without header, as from\n"
    "arecord -t raw -f S16_LE -r 16000. Options come first.\n"
    "  -w MODEL     the network for another word\n"
    "  -l LEVEL     the probability from which on the word is spoken, default 0.5\n"
    "  -a           print time and probability of every 80 ms\n"
    "  -p PRECISION of the last two networks: fp32 (default), fp16 or bf16\n" RUN_OPTIONS_HELP
    "  -h           print this text\n";

enum
{
    kPauseChunks = 25,  // 2 s after a word in which it is not printed again
    kTailChunks = 12    // of silence after the end: the answer may be a second late
};

struct arguments
{
    const char* networks;
    const char* audio;
    const char* word;  // NULL: that of the folder
    float level;
    int prints_all;
    struct run_options options;
};

struct recording
{
    struct audio audio;
    struct listener listener;
    int chunk_num;  // heard so far
    int pause;      // chunks left in which no word is printed
};

static int hear(const struct arguments* arguments, struct recording* recording,
                const float samples[kChunk])
{
    float probability;
    if (listener_hear(&recording->listener, samples, &probability) < 0) return -1;
    const int is_word = probability >= arguments->level && recording->pause == 0;
    const double seconds = (double)++recording->chunk_num * kChunk / kSampleRate;
    if (is_word)
        recording->pause = kPauseChunks;
    else if (recording->pause > 0)
        --recording->pause;
    if (is_word || arguments->prints_all) printf("%.2f %.3f\n", seconds, probability);
    // The reader of a pipe wants to know at once.
    return fflush(stdout) == 0 ? 0 : fail("cannot write the results");
}

static int hear_all(const struct arguments* arguments, struct recording* recording)
{
    float samples[kChunk];
    int count = kChunk;
    while (count == kChunk) {
        count = audio_read(&recording->audio, samples, kChunk);
        if (count < 0) return -1;
        for (int i = count; i < kChunk; ++i)
            samples[i] = 0;
        if (hear(arguments, recording, samples) < 0) return -1;
    }
    for (int i = 0; i < kChunk; ++i)
        samples[i] = 0;
    for (int i = 0; i < kTailChunks; ++i)
        if (hear(arguments, recording, samples) < 0) return -1;
    return 0;
}

static int listen(const struct arguments* arguments)
{
    struct recording recording = {0};
    int status = audio_open(arguments->audio, &recording.audio);
    if (status == 0)
        status = listener_open(arguments->networks, arguments->word, &arguments->options,
                               &recording.listener);
    if (status == 0) status = hear_all(arguments, &recording);
    listener_close(&recording.listener);
    audio_close(&recording.audio);
    return status;
}

static int set_level(const char* value, struct arguments* arguments)
{
    char* end;
    arguments->level = strtof(value, &end);
    if (end == value || *end != '\0' || !(arguments->level > 0 && arguments->level <= 1))
        return fail("-l %s: expected a probability above 0, at most 1", value);
    return 0;
}

static int take_option(int letter, const char* value, struct arguments* arguments)
{
    switch (letter) {
        case 'w':
            arguments->word = value;
            return 0;
        case 'l':
            return set_level(value, arguments);
        case 'a':
            arguments->prints_all = 1;
            return 0;
        case 'p':
            return run_options_set_precision(value, &arguments->options);
        case 't':
        case 'd':
            return run_options_set(letter, value, &arguments->options);
        default:
            return fail("option -%c: unknown, or without its value; wake_word -h explains", optopt);
    }
}

// Returns 1 when the program is to run, 0 after the help, -1 after a message.
static int parse(int argc, char** argv, struct arguments* out_arguments)
{
    const struct arguments defaults = {.level = 0.5f};
    int letter;
    *out_arguments = defaults;
    run_options_init(&out_arguments->options);
    opterr = 0;
    while ((letter = getopt(argc, argv, ":w:l:ap:" RUN_OPTIONS "h")) != -1) {
        if (letter == 'h') return fputs(kUsage, stdout), 0;
        if (take_option(letter, optarg, out_arguments) < 0) return -1;
    }
    if (argc - optind != 2)
        return fail("%d arguments, expected NETWORKS and AUDIO; wake_word -h explains",
                    argc - optind);
    out_arguments->networks = argv[optind];
    out_arguments->audio = argv[optind + 1];
    return 1;
}

int main(int argc, char** argv)
{
    struct arguments arguments;
    const int parsed = parse(argc, argv, &arguments);
    if (parsed <= 0) return parsed < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
    if (init_tengine() < 0) return EXIT_FAILURE;
    const int status = listen(&arguments);
    release_tengine();
    return status < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
