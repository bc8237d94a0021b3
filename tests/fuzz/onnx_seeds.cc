// SPDX-License-Identifier: Apache-2.0
// The models use the syntax of serializer/onnx_text.h.
#include "fuzz/onnx_seeds.h"

#include "serializer/onnx_text.h"

namespace tengine::test {
namespace {

struct SeedText
{
    const char* name;
    const char* text;
};

constexpr SeedText kSeeds[] = {
    {"functions", R"(
in x float 2,3
local:Outer x -> t u : slope=0.5
local:Inner t -> y
out y u
function Outer a -> b c
local:Inner a -> d
Elu d -> b : alpha=@slope
local:Inner d -> c
end
function Inner a -> b
Abs a -> t
Neg t -> b
end
)"},
    {"function_bodies", R"(
in x float 2,3
in flag bool -
local:Choose x flag -> y : slope=0.25
out y
function Choose a flag -> b
Abs a -> t
If flag -> b
body then_branch
Elu t -> i : alpha=@slope
out i
end
body else_branch
local:Twice t -> i
out i
end
end
function Twice a -> b
Add a a -> b
end
)"},
    {"if", R"(
in c bool -
in x float 3
const w float 3 = 1 2 3
If c -> y z
body then_branch
Add x w -> a
out a x
end
body else_branch
const v float 2 = 5 6
Relu x -> b
out b v
end
Neg y -> n
out n z
)"},
    {"if_decided", R"(
in x float 3
const c bool - = 1
If c -> y
body then_branch
Neg x -> a
If c -> b
body then_branch
Abs a -> i
out i
end
body else_branch
out x
end
out b
end
body else_branch
Relu x -> i
out i
end
out y
)"},
    {"loop", R"(
in x float 2
const most int64 - = 3
const go bool - = 1
const one float 2 = 1 1
Loop most go x -> last all
body body
in i int64 -
in c bool -
in v float 2
Add v one -> w
Identity c -> d
Mul w x -> s
out d w s
end
out last all
)"},
    {"loop_grows", R"(
in x float 1
in most int64 -
Loop most _ x x -> last other steps
body body
in i int64 -
in c bool -
in v float
in u float
Concat v u -> w : axis=0
Identity v -> t
Cast i -> f : to=1
out c w t f
end
out last other steps
)"},
    {"loop_in_loop", R"(
in x float 2
const most int64 - = 2
Loop most _ x -> y
body body
in i int64 -
in c bool -
in v float 2
Loop most _ v -> w
body body
in j int64 -
in k bool -
in u float 2
If k -> r
body then_branch
Add u x -> s
out s
end
body else_branch
Neg v -> s
out s
end
out k r
end
out c w
end
out y
)"},
    {"scan", R"(
in first float 2
in x float 3,2
Scan first x -> last sums : num_scan_inputs=1 scan_input_directions=1,
body body
in s float 2
in e float 2
Add s e -> t
Identity t -> o
out t o
end
out last sums
)"},
    {"sequences", R"(
in x float 2,3
in s seq:float
const at int64 - = -1
SequenceInsert s x at -> t
SequenceEmpty -> e : dtype=1
SequenceInsert e x -> f
SequenceConstruct x x -> g
SequenceAt g at -> h
SequenceErase g at -> k
ConcatFromSequence k -> y : axis=1 new_axis=0
SequenceLength t -> n
SplitToSequence x -> p : axis=1 keepdims=0
out y h n p f
)"},
    {"sequence_map", R"(
in s seq:float
in x float 2
SequenceMap s x -> r
body body
in e float 2
in a float 2
Add e a -> b
out b
end
out r
)"},
    {"optionals", R"(
in o opt:float
in q optseq:int64
in x float 2
Optional x -> p
OptionalHasElement o -> h
OptionalHasElement q -> k
If h -> y
body then_branch
OptionalGetElement o -> g
out g
end
body else_branch
Identity x -> g
out g
end
OptionalGetElement p -> z
out h k y z
)"},
    {"sparse", R"(
in x float 2,3
sparse w 2,3 = 1:5 4:7
sparse v 2,2 = 3:9
Add x w -> y
Identity v -> z
out y z
)"},
    {"small_integers", R"(
in x float 5
const a int4 5 = 33 67 5
const b uint4 5 = 33 67 5
const c int2 5 = 27 2
const s float - = 0.5
const z uint4 - = 1
DequantizeLinear a s -> p
DequantizeLinear b s z -> q
Add p q -> r
QuantizeLinear x s z -> t
DequantizeLinear t s z -> u
Cast c -> v : to=1
Cast x -> w : to=22
Transpose b -> m
out r u v w m
)"},
    {"small_floats", R"(
in x float 5
const a float4e2m1 5 = 33 67 5
const b float8e4m3fn 5 = 56 57 58 59 60
const c float8e5m2 5 = 56 57 58 59 124
Cast a -> p : to=1
Cast b -> q : to=1
Cast c -> r : to=1
Cast x -> u : to=17
Cast u -> v : to=10
Add p q -> w
Cast x -> k : to=23
out w r v k
)"},
    {"blocked_scales", R"(
in x float 2,3
const w int4 4,3 = 33 67 5 33 67 5
const s float 2,3 = 0.5 0.5 0.5 0.5 0.5 0.5
DequantizeLinear w s -> d : axis=0 block_size=2
Transpose d -> t : perm=1,0
MatMul x t -> y
out y
)"},
    {"strings", R"(
in s string 3
in x int64 2
const w string 3 = a bc def
StringConcat s w -> c
StringNormalizer s -> n : case_change_action='LOWER' stopwords='a','b'
StringSplit c -> p q : delimiter='a' maxsplit=2
Cast x -> t : to=8
Cast t -> u : to=7
Equal s w -> e
Gather w x -> g
out n p q u e g
)"},
    {"text_features", R"(
in s string 3
TfIdfVectorizer s -> y : mode='TF' min_gram_length=1 max_gram_length=2 max_skip_count=1 ngram_counts=0,2 ngram_indexes=0,1,2 pool_strings='a','b','a','b'
ai.onnx.ml:LabelEncoder s -> z : keys_strings='a','b' values_int64s=3,4 default_int64=7
ai.onnx.ml:CategoryMapper s -> c : cats_strings='a','b' cats_int64s=1,2
ai.onnx.ml:OneHotEncoder s -> o : cats_strings='a','b'
out y z c o
)"},
    {"tree_regressor", R"(
in x float 2,3
ai.onnx.ml:TreeEnsembleRegressor x -> y : n_targets=1 nodes_treeids=0,0,0 nodes_nodeids=0,1,2 nodes_featureids=0,0,0 nodes_modes='BRANCH_LEQ','LEAF','LEAF' nodes_values=0.5,0.,0. nodes_truenodeids=1,0,0 nodes_falsenodeids=2,0,0 nodes_missing_value_tracks_true=0,0,0 target_treeids=0,0 target_nodeids=1,2 target_ids=0,0 target_weights=1.5,2.5
out y
)"},
    {"tree_classifier", R"(
in x float 2,3
ai.onnx.ml:TreeEnsembleClassifier x -> y z : classlabels_int64s=3,4 post_transform='SOFTMAX' nodes_treeids=0,0,0,1 nodes_nodeids=0,1,2,0 nodes_featureids=0,0,0,0 nodes_modes='BRANCH_LT','LEAF','LEAF','LEAF' nodes_values=0.5,0.,0.,0. nodes_truenodeids=1,0,0,0 nodes_falsenodeids=2,0,0,0 class_treeids=0,0,1 class_nodeids=1,2,0 class_ids=0,1,1 class_weights=1.5,2.5,0.5
out y z
)"},
    {"tree_ensemble", R"(
in x float 2,3
ai.onnx.ml:TreeEnsemble x -> y : n_targets=2 aggregate_function=1 post_transform=0 tree_roots=0, nodes_featureids=0,2 nodes_modes=uint8:0,4 nodes_splits=float:0.5,0.25 nodes_truenodeids=1,0 nodes_trueleafs=0,1 nodes_falsenodeids=2,1 nodes_falseleafs=1,1 leaf_targetids=0,1,0 leaf_weights=float:1.5,2.5,3.5
out y
)"},
    {"linear_models", R"(
in x float 2,3
ai.onnx.ml:LinearRegressor x -> a : coefficients=1.,2.,3. intercepts=1., targets=1
ai.onnx.ml:LinearClassifier x -> b c : coefficients=1.,2.,3.,4.,5.,6. intercepts=1.,2. classlabels_ints=3,4
ai.onnx.ml:SVMRegressor x -> d : coefficients=1.,2. support_vectors=1.,2.,3.,4.,5.,6. n_supports=2 rho=0.5, kernel_type='RBF' kernel_params=0.5,0.,3.
ai.onnx.ml:SVMClassifier x -> e f : coefficients=1.,-1. support_vectors=1.,2.,3.,4.,5.,6. vectors_per_class=1,1 rho=0.5, classlabels_ints=3,4 kernel_type='LINEAR' kernel_params=0.5,0.,3.
ai.onnx.ml:Scaler x -> g : offset=1.,2.,3. scale=1.,2.,3.
ai.onnx.ml:Imputer x -> h : imputed_value_floats=1., replaced_value_float=0.
ai.onnx.ml:FeatureVectorizer x g -> i : inputdimensions=3,3
out a b c d e f h i
)"},
    {"packed_weights", R"(
in x float 2,16
const b uint8 2,1,8 = 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16
const s float 2 = 0.5 0.25
const z uint8 2 = 7 8
const g int32 16 = 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
com.microsoft:MatMulNBits x b s z -> y : K=16 N=2 bits=4 block_size=16
com.microsoft:MatMulNBits x b s -> w : K=16 N=2 bits=4 block_size=16
com.microsoft:MatMulNBits x b s _ g -> v : K=16 N=2 bits=4 block_size=16
out y w v
)"},
    {"gathered_weights", R"(
in i int64 3
const b uint8 4,8 = 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16
const s float 4,1 = 0.5 0.25 1 2
com.microsoft:GatherBlockQuantized b i s -> y : bits=4 block_size=16 gather_axis=0 quantize_axis=1
out y
)"},
    {"flex_attention", R"(
in q float 1,2,2,4
in k float 1,1,3,4
in v float 1,1,3,4
ai.onnx.preview:FlexAttention q k v -> y : scale=0.5
body score_mod
in s float 1,2,2,3
Tanh s -> t
out t
end
out y
)"},
};

}  // namespace

static std::string make_documented_seed()
{
    ::onnx::ModelProto model = parse_onnx_text("in x float 2,3\nRelu x -> y\nout y\n");
    model.set_producer_name("producer");
    model.set_producer_version("1");
    model.set_domain("org.example");
    model.set_model_version(7);
    model.set_doc_string("a model");
    model.mutable_graph()->set_doc_string("a graph");
    model.mutable_graph()->mutable_node(0)->set_doc_string("a node");
    auto* property = model.add_metadata_props();
    property->set_key("key");
    property->set_value("value");
    return model.SerializeAsString();
}

std::vector<OnnxSeed> make_onnx_seeds()
{
    std::vector<OnnxSeed> seeds;
    for (const SeedText& seed : kSeeds)
        seeds.push_back({seed.name, parse_onnx_text(seed.text).SerializeAsString()});
    seeds.push_back({"metadata", make_documented_seed()});
    return seeds;
}

}  // namespace tengine::test
