// SPDX-License-Identifier: Apache-2.0
// A language model's decoder: its inputs and outputs, found by the nodes that read and write them,
// and its steps with the cache in place.
//
// Such a model has nodes GroupQueryAttention, whose past and present are inputs and outputs of the
// graph, as are their lengths; one more input, the tokens, for which a Gather reads rows; and one
// more output, the logits of the last token.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model.h"

namespace tengine::tools {

class Decoder
{
  public:
    // Throws Failure, which names the missing part. The model outlives the decoder.
    explicit Decoder(Model* model, const std::string& path);

    // Rows of the cache.
    int room() const { return room_; }
    int64_t cache_bytes() const;
    // The bytes of the constants that one token reads: one row of each table of a Gather.
    int64_t weight_bytes() const;

    // The next step starts a new sequence of tokens.
    void forget() { total_ = 0; }
    // Prepares for this number of tokens.
    void prepare(size_t tokens, int threads);
    // prepare(), then a run. Returns the token with the greatest logit.
    int read(const std::vector<int>& tokens, int threads);
    // The number of different tokens; known after prepare().
    int vocabulary() const;

  private:
    struct Cache
    {
        tensor_t past, present;
        std::vector<uint8_t> bytes;
    };

    void find_attention(node_t node);
    void add_cache(node_t node, int input, int output);
    tensor_t length_input(node_t node, int index) const;
    void find_tokens();
    void find_logits();
    bool is_input(tensor_t tensor) const;
    void lend(tensor_t tensor, void* data, size_t bytes) const;
    [[noreturn]] void fail(const std::string& what) const;

    Model* model_;
    const std::string path_;
    std::vector<Cache> caches_;
    tensor_t tokens_ = nullptr, last_ = nullptr, total_input_ = nullptr, logits_ = nullptr;
    std::vector<int64_t> ids_;
    int room_ = 0;
    int32_t last_key_ = 0, total_ = 0;
};

}  // namespace tengine::tools
