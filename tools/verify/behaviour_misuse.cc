// SPDX-License-Identifier: Apache-2.0
// Calls in a wrong order. The library refuses them; a device sees their consequences, such as
// preparations without runs, and parts that are released early.
#include "model.h"
#include "verify/behaviour.h"

namespace tengine::tools {
namespace {

// Records the first call that does not end as expected.
class Witness
{
  public:
    void refused(const char* what, int result)
    {
        if (result >= 0) note(std::string(what) + " is not refused");
    }
    void works(const char* what, int result)
    {
        if (result < 0) note(std::string(what) + " fails: " + get_tengine_error());
    }
    void same(const char* what, const std::vector<Tensor>& results,
              const std::vector<Tensor>& expected)
    {
        const std::string found = difference(results, expected);
        if (!found.empty()) note(std::string(what) + ": " + found);
    }
    Outcome outcome() const { return found_.empty() ? passed() : failed(found_); }

  private:
    void note(const std::string& text)
    {
        if (found_.empty()) found_ = text;
    }

    std::string found_;
};

void end_early(const Target& target, const TypedCase& specimen, const std::vector<Tensor>& inputs,
               Witness* witness)
{
    {
        CaseGraph graph(specimen.of, specimen.data_type, inputs, target);
        graph.prepare();
    }  // destroyed without a run
    CaseGraph graph(specimen.of, specimen.data_type, inputs, target);
    witness->refused("run_graph before prerun_graph", run_graph(graph.graph(), 1));
    witness->refused("wait_graph before run_graph", wait_graph(graph.graph(), 0));
    witness->works("postrun_graph before prerun_graph", postrun_graph(graph.graph()));
    graph.prepare();
    graph.prepare();
    witness->works("postrun_graph without a run", postrun_graph(graph.graph()));
    witness->works("postrun_graph a second time", postrun_graph(graph.graph()));
    witness->refused("run_graph after postrun_graph", run_graph(graph.graph(), 1));
}

void feed_wrongly(graph_t graph, Witness* witness)
{
    if (tengine_graph_get_input_number(graph) == 0) return;
    tensor_t input = tengine_graph_get_input(graph, 0);
    witness->refused("run_graph without inputs", run_graph(graph, 1));
    static char byte;
    witness->refused("an input's buffer of the wrong size",
                     set_tensor_buffer(input, &byte, get_tensor_buffer_size(input) + 1));
}

// Sets another shape, without preparing for it, and then the first again.
void change_shape(graph_t graph, Witness* witness)
{
    if (tengine_graph_get_input_number(graph) == 0) return;
    tensor_t input = tengine_graph_get_input(graph, 0);
    int dims[MAX_SHAPE_DIM_NUM];
    const int number = get_tensor_shape(input, dims, MAX_SHAPE_DIM_NUM);
    if (number < 1) return;
    ++dims[0];
    witness->works("another shape", set_tensor_shape(input, dims, number));
    witness->refused("run_graph with another shape before prerun_graph", run_graph(graph, 1));
    --dims[0];
    witness->works("the first shape", set_tensor_shape(input, dims, number));
}

}  // namespace

Outcome check_misuse(const Target& target, const TypedCase& specimen)
{
    if (is_random(specimen.of)) return skipped("the operator gives random numbers");
    Witness witness;
    const std::vector<Tensor> inputs = values_of(specimen, 1);
    const std::vector<Tensor> expected = run_alone(target, specimen, inputs);
    end_early(target, specimen, inputs, &witness);
    CaseGraph graph(specimen.of, specimen.data_type, inputs, target);
    {
        CaseGraph other(specimen.of, specimen.data_type, inputs, target);
        other.prepare();
        graph.prepare();
        run_once(&other, inputs);
    }  // destroyed while the first is prepared
    feed_wrongly(graph.graph(), &witness);
    witness.same("a run after calls that were refused", run_once(&graph, inputs), expected);
    change_shape(graph.graph(), &witness);
    graph.prepare();
    witness.same("a run after a change of shape and back", run_once(&graph, inputs), expected);
    return witness.outcome();
}

}  // namespace tengine::tools
