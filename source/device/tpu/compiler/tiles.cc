// SPDX-License-Identifier: Apache-2.0
#include "device/tpu/compiler/tiles.h"

#include <algorithm>
#include <cstring>

#include "base/alloc.h"
#include "graph/core.h"
#include "graph/graph_pool.h"
#include "tengine/error.h"

namespace tengine::tpu {
namespace {

// The sums, then the tiles.
struct Image
{
    const std::vector<ProductLayer*>& products;
    size_t tile_begin = 0;
    uint64_t tile_bytes = 0;
};

struct PackReleaser
{
    graph_pool* pool;
    void* pack;
    void operator()(void*) const { release_graph_pack(pool, pack); }
};

Image lay_out(const std::vector<ProductLayer*>& products)
{
    Image image{products};
    size_t sums = 0;
    for (ProductLayer* product : products) {
        product->place_tiles(&image.tile_bytes);
        sums += product->sum_number();
    }
    image.tile_begin =
        (sums * sizeof(int32_t) + ALLOC_ALIGNMENT - 1) / ALLOC_ALIGNMENT * ALLOC_ALIGNMENT;
    return image;
}

void fill(void* pack, void* argument)
{
    const Image& image = *static_cast<const Image*>(argument);
    auto* sums = static_cast<int32_t*>(pack);
    for (const ProductLayer* product : image.products) {
        product->write_sums(sums);
        sums += product->sum_number();
        product->write_tiles(static_cast<uint8_t*>(pack) + image.tile_begin);
    }
}

ir_pack_key_t make_key(const Config& config, const std::vector<ProductLayer*>& products)
{
    static const char kind = 0;
    sha256_t hash;
    start_sha256(&hash);
    update_sha256_number(&hash, config.rows);
    update_sha256_number(&hash, config.columns);
    for (const ProductLayer* product : products)
        product->describe_tiles(&hash);
    uint8_t digest[SHA256_BYTES];
    finish_sha256(&hash, digest);
    ir_pack_key_t key = {};
    const bool stays = std::all_of(products.begin(), products.end(),
                                   [](const ProductLayer* each) { return each->weights.stays; });
    key.kind = stays ? &kind : nullptr;
    static_assert(sizeof key.sizes == sizeof digest);
    std::memcpy(key.sizes, digest, sizeof digest);
    return key;
}

}  // namespace

int make_tiles(const graph& graph, const Config& config, const std::vector<ProductLayer*>& products,
               WeightMemory* out_weights)
{
    Image image = lay_out(products);
    const ir_pack_key_t key = make_key(config, products);
    graph_pool* pool = graph.core->pool;
    void* pack = hold_graph_pack(pool, &key, image.tile_begin + image.tile_bytes, fill, &image);
    if (!pack)
        return tengine_error_set(TENGINE_ENOMEM, "TPU: out of memory for %llu bytes of weights",
                                 static_cast<unsigned long long>(image.tile_bytes));
    const std::shared_ptr<void> held(pack, PackReleaser{pool, pack});
    const auto* sums = static_cast<const int32_t*>(pack);
    for (ProductLayer* product : products) {
        product->apply_sums(sums);
        sums += product->sum_number();
    }
    *out_weights = {{held, static_cast<const uint8_t*>(pack) + image.tile_begin},
                    static_cast<size_t>(image.tile_bytes)};
    return TENGINE_OK;
}

size_t count_tiles(const WeightMemory& weights)
{
    if (weights.shared().use_count() == 0) return 0;  // borrowed
    const auto* releaser = std::get_deleter<PackReleaser>(weights.shared());
    return releaser ? get_graph_pack_share(releaser->pool, releaser->pack) : weights.size();
}

}  // namespace tengine::tpu
