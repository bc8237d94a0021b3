// SPDX-License-Identifier: Apache-2.0
// The time from the start of a process to the first result of a compiled model, beside the least
// that it can take: reading the file, and a run.
//   first_result [-n ROUNDS] MODEL [SHAPE]
// SHAPE, such as 1x3x224x224, is that of the first input. In each of ROUNDS (default 9), a new
// process reads the bytes of the file, another one runs the model until a run has its usual time,
// and a third one starts, loads the model, runs it once and ends, so that what else the machine
// does affects all three. It prints the least time of each in ms of the processor, and of the third
// one on the clock, and the ratio of the third to the sum of the others. One thread computes.
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <sys/wait.h>

#include "tengine/c_api.h"

enum
{
    MOST_INPUTS = 16,
    STEADY_RUNS = 6
};

static int fail(const char* what)
{
    fprintf(stderr, "first_result: %s: %s\n", what, get_tengine_error());
    return 1;
}

static double read_clock(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

// ---- the processes; each writes a time to its standard output, or nothing ----

static int read_file(const char* path)
{
    static char piece[1 << 20];
    const double begin = read_clock(CLOCK_PROCESS_CPUTIME_ID);
    const int file = open(path, O_RDONLY);
    ssize_t bytes;
    while ((bytes = read(file, piece, sizeof piece)) > 0)
        ;
    if (bytes < 0) return fail(path);
    printf("%f\n", read_clock(CLOCK_PROCESS_CPUTIME_ID) - begin);
    return 0;
}

static int set_shape(tensor_t input, const char* text)
{
    int dims[MAX_SHAPE_DIM_NUM], rank = 0;
    for (char* end; *text && rank < MAX_SHAPE_DIM_NUM; text = *end ? end + 1 : end)
        dims[rank++] = (int)strtol(text, &end, 10);
    return set_tensor_shape(input, dims, rank);
}

static int prepare(const char* path, const char* shape, graph_t* out_graph)
{
    if (init_tengine() != 0) return fail("start");
    const graph_t graph = create_graph(NULL, "tengine", path);
    if (!graph) return fail("load");
    if (shape && set_shape(get_graph_input_tensor(graph, 0, 0), shape) != 0) return fail("shape");
    const struct options options = {1, TENGINE_CLUSTER_ALL, TENGINE_MODE_FP32, 0};
    if (prerun_graph_multithread(graph, options) != 0) return fail("prepare");
    for (int i = 0; i < MOST_INPUTS && i < get_graph_input_node_number(graph); ++i) {
        const tensor_t input = get_graph_input_tensor(graph, i, 0);
        const int bytes = get_tensor_buffer_size(input);
        void* values = calloc(1, (size_t)bytes);
        if (!values || set_tensor_buffer(input, values, bytes) != 0) return fail("input");
    }
    *out_graph = graph;
    return 0;
}

static int run_first(const char* path, const char* shape)
{
    graph_t graph;
    if (prepare(path, shape, &graph) != 0) return 1;
    if (run_graph(graph, 1) != 0) return fail("run");
    printf("%f\n", read_clock(CLOCK_PROCESS_CPUTIME_ID));
    fflush(stdout);
    return 0;
}

static int run_often(const char* path, const char* shape)
{
    graph_t graph;
    double least = 1e30;
    if (prepare(path, shape, &graph) != 0) return 1;
    for (int i = 0; i < STEADY_RUNS; ++i) {
        const double begin = read_clock(CLOCK_PROCESS_CPUTIME_ID);
        if (run_graph(graph, 1) != 0) return fail("run");
        const double time = read_clock(CLOCK_PROCESS_CPUTIME_ID) - begin;
        if (time < least) least = time;
    }
    printf("%f\n", least);
    return 0;
}

// ---- the parent ----

// Starts this program as `mode`. The times are the one that it prints, and that until it prints.
static int start(char* program, char* mode, char* path, char* shape, double* out_time,
                 double* out_clock)
{
    int ends[2], status;
    char text[64] = "";
    char* const words[] = {program, mode, path, shape, NULL};
    if (pipe(ends) != 0) return fail("pipe");
    const double begin = read_clock(CLOCK_MONOTONIC);
    const pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        execv("/proc/self/exe", words);
        _exit(127);
    }
    close(ends[1]);
    const ssize_t bytes = read(ends[0], text, sizeof text - 1);
    *out_clock = read_clock(CLOCK_MONOTONIC) - begin;
    *out_time = strtod(text, NULL);
    close(ends[0]);
    if (child < 0 || bytes < 0 || waitpid(child, &status, 0) != child || status != 0)
        return fail(mode);
    return 0;
}

static void take_least(double* least, double time)
{
    if (time < *least) *least = time;
}

static int measure(char* program, char* path, char* shape, int rounds)
{
    double read = 1e30, run = 1e30, first = 1e30, clock = 1e30, time, unused;
    for (int i = 0; i < rounds; ++i) {
        if (start(program, "--read", path, NULL, &time, &unused) != 0) return 1;
        take_least(&read, time);
        if (start(program, "--often", path, shape, &time, &unused) != 0) return 1;
        take_least(&run, time);
        double until;
        if (start(program, "--first", path, shape, &time, &until) != 0) return 1;
        take_least(&first, time);
        take_least(&clock, until);
    }
    printf("%-28s read %8.2f  run %8.2f  first %8.2f (clock %8.2f)  ratio %.2f\n", path, read, run,
           first, clock, first / (read + run));
    return 0;
}

int main(int count, char** words)
{
    const char* mode = count > 2 ? words[1] : "";
    const char* shape = count > 3 ? words[3] : NULL;
    if (strcmp(mode, "--read") == 0) return read_file(words[2]);
    if (strcmp(mode, "--often") == 0) return run_often(words[2], shape);
    if (strcmp(mode, "--first") == 0) return run_first(words[2], shape);
    int rounds = 9, next = 1;
    if (strcmp(mode, "-n") == 0) {
        rounds = atoi(words[2]);
        next = 3;
    }
    if (next >= count || rounds < 1) {
        fprintf(stderr, "usage: first_result [-n ROUNDS] MODEL [SHAPE]\n");
        return 2;
    }
    return measure(words[0], words[next], next + 1 < count ? words[next + 1] : NULL, rounds);
}
