// SPDX-License-Identifier: Apache-2.0
// The options of the command line that say how networks run.
#pragma once

// For getopt, and for the help text.
#define RUN_OPTIONS "t:d:"
#define RUN_OPTIONS_HELP                                        \
    "  -t THREADS   threads, default 1; 0: one for each core\n" \
    "  -d DEVICES   devices, best first, separated by commas\n"

struct run_options
{
    int threads;          // 0: one for each core
    int precision;        // TENGINE_MODE_*
    const char* devices;  // separated by commas, best first; NULL: the default device
};

// The defaults: one thread, fp32, the default device.
void run_options_init(struct run_options* out_options);

// Takes the value of one of RUN_OPTIONS. Returns 0, or -1 after a message.
int run_options_set(int letter, const char* value, struct run_options* options);

// Sets the precision by its name. Returns 0, or -1 after a message.
int run_options_set_precision(const char* name, struct run_options* options);
