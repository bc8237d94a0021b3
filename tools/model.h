// SPDX-License-Identifier: Apache-2.0
// A model from the command line to a prepared graph: the options that run, bench and inspect share,
// and their effects.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "image_input.h"
#include "input_shape.h"
#include "tengine/c_api.h"
#include "tensor_file/tensor.h"

namespace tengine::tools {

class Command;

struct ModelOptions
{
    std::vector<std::string> devices;  // best first; empty: the default device
    int precision = TENGINE_MODE_FP32;
    std::vector<std::string> shapes;      // NAME=1x3x224x224
    std::vector<std::string> inputs;      // NAME=FILE
    std::vector<std::string> options;     // KEY=VALUE, of the context
    std::vector<std::string> affinities;  // NODES=DEVICES
    std::vector<std::string> hints;       // KEY=VALUE
    std::vector<std::string> buckets;     // NAME=4x3x224x224,NAME=4x10
    std::vector<std::string> states;      // INPUT=OUTPUT
    int cluster = TENGINE_CLUSTER_ALL;
    size_t cores = 0;  // bit i: core i; 0: all of the cluster
    ImageValues image_values;
    uint64_t seed = 0;
    std::string entry;             // of a model with several; empty: the first one
    bool is_of_several = false;    // options may name inputs of other models
    bool has_all_entries = false;  // or of other entries of the same file
    bool says_guess = true;        // on standard error, when a free first dimension is taken as 1
    std::string name;              // of the model in messages; empty: its path
};

constexpr int kMostThreads = 1024;

// Whether nodes of this operator have bodies.
bool has_bodies(const std::string& op);

// --threads, one number
void add_threads_option(Command* command, int* threads);

// For options that are pairs of the form "KEY=VALUE": the error in `text`, "" if there is none.
std::string judge_pair(const std::string& text, const char* form);

// --cluster --cores
void add_core_options(Command* command, ModelOptions* options);

// --keep-state
void add_state_option(Command* command, ModelOptions* options);

// --affinity
void add_affinity_option(Command* command, ModelOptions* options);

// --hint
void add_hint_option(Command* command, ModelOptions* options);

// --entry
void add_entry_option(Command* command, ModelOptions* options);

// --bucket
void add_bucket_option(Command* command, ModelOptions* options);

// --shape
void add_shape_option(Command* command, ModelOptions* options);

// --integer-io, of commands that write tmfiles, sets this option of the context.
void add_integer_io_option(Command* command, bool* has_integer_io);
constexpr const char* kIntegerIo = "model.integer_io=1";

// --device --option --affinity --precision --shape
void add_placement_options(Command* command, ModelOptions* options);

// The TENGINE_MODE_ of a --precision. Throws Misuse that lists them.
int parse_precision(const std::string& text);
std::string precision_name(int mode);

// --mean --scale --fit --bgr
void add_picture_options(Command* command, ImageValues* values);

// --input --mean --scale --fit --bgr --seed
void add_input_options(Command* command, ModelOptions* options);

// Throws Failure with the library's message for this thread's last failure.
[[noreturn]] void fail_api(const std::string& subject);

// The model format of a file's name, as create_graph() takes it; null: none.
const char* format_of(const std::string& path);

// The endings of all model formats: ".onnx or .tmfile" with the conjunction "or".
std::string format_endings(const std::string& conjunction);

// Type, shape and name of a tensor of a graph, without its data.
Tensor describe_tensor(tensor_t tensor);

// With its data. Throws Failure, which names it as `subject`.
Tensor copy_tensor(tensor_t tensor, const std::string& subject);

// The library reads the value in place until it gets another, and copies strings. Throws Failure
// that names it as `subject`.
void lend_tensor(tensor_t tensor, const Tensor& value, const std::string& subject);

class Model
{
  public:
    // Loads `path`. Every function throws Failure.
    Model(const std::string& path, const ModelOptions& options);

    // Another instance of the model, with the shapes of its inputs, which have no data yet. The
    // model must not run.
    std::unique_ptr<Model> share() const;

    // Another entry of the model's file.
    std::unique_ptr<Model> open_entry(const std::string& entry) const;

    // Sets the shape and data of each input: those of its file, or else the shape of --shape or of
    // the model, and seeded random numbers: floats from 0 to 1, integers 0 or 1. A single free
    // first dimension is taken as 1.
    void set_inputs();

    // Sets the shapes of the inputs in --shape, and leaves the others as the model declares them.
    void set_given_shapes();

    // As set_inputs() with this shape, as --shape gives it, for every input.
    void set_shape(const std::string& shape);

    // The options that set_inputs() needs if there are no files, "--shape x=1x3x?x?"; "" if none is
    // missing.
    std::string missing_shapes() const;

    // As the model declares the inputs.
    const std::vector<DeclaredShape>& declared() const { return declared_; }

    // `threads` <= 0: one for each core that may be used.
    void prepare(int threads);

    void run();

    // Starts a run and leaves it in flight if the graph's scheduler can; waits for the oldest.
    void start();
    void finish();

    // Outputs with their data, after run().
    std::vector<Tensor> outputs() const;

    graph_t graph() const { return graph_.get(); }
    const std::vector<Tensor>& inputs() const { return inputs_; }

  private:
    Model() = default;

    struct DestroyContext
    {
        void operator()(void* context) const { destroy_context(context); }
    };
    struct DestroyGraph
    {
        void operator()(void* graph) const { destroy_graph(graph); }
    };

    void fill_context();
    bool passes_names_over() const;
    void read_options();
    void set_affinities();
    std::vector<std::string> take_state_shapes();
    void set_given_shape(const std::string& name, const std::string& text);
    [[noreturn]] void fail_run() const;
    std::vector<int> settle_shape(const DeclaredShape& declared) const;
    Tensor read_input(tensor_t input, const DeclaredShape& declared, const std::string& file);
    Tensor make_input(tensor_t input, const DeclaredShape& declared);

    std::string name_;
    ModelOptions options_;
    std::map<std::string, std::string> shapes_;  // from --shape, by input
    std::map<std::string, std::string> files_;   // from --input
    std::vector<DeclaredShape> declared_;
    std::vector<Tensor> inputs_;  // lent to the graph
    std::unique_ptr<void, DestroyContext> context_;
    std::unique_ptr<void, DestroyGraph> graph_;
};

}  // namespace tengine::tools
