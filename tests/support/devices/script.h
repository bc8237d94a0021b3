// SPDX-License-Identifier: Apache-2.0
// The script of a scripted device (scripted_device.h), and its members as options by key.
#pragma once

#include "tengine/device.h"

#ifdef __cplusplus
extern "C" {
#endif

// All zero: a device that takes no node and has no faults. Each member is also the key of an option
// of the device ("A.fail_run=3"), which overrides the script in its graph. Lists are ONNX operators
// separated by commas. Runs are counted over the lifetime of the device, from 1.
typedef struct script
{
    const char* operators;  // the operators that it takes
    const char* refuse;     // "group:2", "dilations:[2,2]": refuses nodes with this attribute value
    int verdict;            // the answer of inspect() for other nodes
    // The time of a node is a sum of three: for every node, for each multiply-accumulate, and a
    // share of the default device's time. Only with enable_scripted_estimate().
    double estimate_ms;
    double estimate_ns_per_mac;
    double estimate_percent;
    const char* hand_back;   // evaluation() hands these back
    int garbage_evaluation;  // nonzero: evaluation() hands back nodes and tensors that do not exist
    // Parts that pre_run() fails to compile: those with more nodes than this (0: any number), those
    // with one of these operators, all of them.
    int max_nodes;
    const char* cannot_compile;
    int fail_pre_run;
    // The number of the run that fails, and whether all fail.
    int fail_run;
    int fail_all_runs;
    int status;  // of the failure; 0: a proper code with a message
    // The time for which runs hang before their work, -1: until release_scripted_hangs(); the
    // number of the run that hangs, 0: all.
    int hang_ms;
    int hang_run;
    int hang_pre_run_ms;  // the same for pre_run
} script_t;

// For the device's check_option.
int check_script_option(struct device* device, const char* key, const char* value);

// Overrides `script` with the options that the graph's context has for the device; the result has a
// bit for each member that was set.
unsigned read_script_options(struct device* device, const struct graph* graph, script_t* script);

// Copies the members of `options` whose bits are in `members` to `script`.
void overlay_script(script_t* script, const script_t* options, unsigned members);

// Whether a comma-separated list, or NULL, contains the word.
bool is_in_script_list(const char* list, const char* word);

// Appends the operators of such a list.
int push_script_list(const char* list, struct vector* ops);

// Refuses the node if its attribute matches the rule (script_t.refuse).
void refuse_by_attribute(const struct node* node, const char* rule, ir_verdict_t* verdict);

#ifdef __cplusplus
}
#endif
