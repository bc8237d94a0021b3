# SPDX-License-Identifier: Apache-2.0
# The model zoo's models of tables: DeepFM, and models fitted by scikit-learn, as skl2onnx writes
# them. The latter need python3-sklearn and python3-onnx.
import numpy
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from torch import nn

from zoo import describe, export, numbers

ML = "ai.onnx.ml"
FEATURES, CLASSES, ROWS = 16, 4, 1500


class DeepFm(nn.Module):
    """H. Guo et al., 2017: 26 fields with a table each, 13 numbers; products of pairs, and a deep
    network beside them."""

    def __init__(self, fields=26, rows=8000, features=13, width=16, inner=256):
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(rows, width) for _ in range(fields))
        self.weights = nn.ModuleList(nn.Embedding(rows, 1) for _ in range(fields))
        self.linear = nn.Linear(features, 1)
        self.deep = nn.Sequential(nn.Linear(fields * width + features, inner), nn.ReLU(),
                                  nn.Linear(inner, inner), nn.ReLU(), nn.Linear(inner, 1))

    def forward(self, ids, features):
        rows = torch.stack([table(ids[:, i]) for i, table in enumerate(self.tables)], 1)
        first = torch.cat([weight(ids[:, i]) for i, weight in enumerate(self.weights)], 1)
        pairs = 0.5 * (rows.sum(1) ** 2 - (rows ** 2).sum(1)).sum(1, keepdim=True)
        deep = self.deep(torch.cat([rows.flatten(1), features], 1))
        linear = first.sum(1, keepdim=True) + self.linear(features)
        return torch.sigmoid(linear + 0.1 * pairs + deep)


def build_deepfm(path):
    inputs = {"ids": torch.zeros(2, 26, dtype=torch.int64), "features": torch.zeros(2, 13)}
    axes = {name: {0: "batch"} for name in ("ids", "features", "click")}
    export(DeepFm(), path, inputs, ["click"], axes, opset=13)

    def size(batch):
        return {"ids": numbers("int64", (batch, 26), 0, 7999),
                "features": numbers("float32", (batch, 13), -1, 1)}
    describe(path, size(1), size(256))


# ---- the graphs that skl2onnx makes ----

def node(op, inputs, outputs, **attributes):
    return helper.make_node(op, inputs, outputs, domain=ML, **attributes)


def write(path, nodes, inputs, outputs, constants=()):
    graph = helper.make_graph(
        nodes, "model", [helper.make_tensor_value_info(*each) for each in inputs], outputs,
        [numpy_helper.from_array(value, name) for name, value in constants])
    opsets = [helper.make_opsetid(ML, 1), helper.make_opsetid("", 15)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), str(path))


def classes_and_map():
    """Labels, and a map from labels to probabilities for each row. The probabilities are given as a
    tensor, too, since not every interface of ONNX Runtime has maps."""
    maps = onnx.ValueInfoProto(name="output_probability")
    pairs = maps.type.sequence_type.elem_type.map_type
    pairs.key_type = TensorProto.INT64
    pairs.value_type.tensor_type.elem_type = TensorProto.FLOAT
    return [helper.make_tensor_value_info("output_label", TensorProto.INT64, [None]), maps,
            helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, [None, CLASSES])]


def zip_map(classes):
    return node("ZipMap", ["probabilities"], ["output_probability"], classlabels_int64s=classes)


def tree_nodes(forest):
    """The attributes of all trees."""
    columns = {name: [] for name in ("treeids", "nodeids", "featureids", "modes", "values",
                                     "truenodeids", "falsenodeids", "hitrates",
                                     "missing_value_tracks_true")}
    leaves = []
    for tree_id, estimator in enumerate(forest.estimators_):
        tree = estimator.tree_
        for i in range(tree.node_count):
            is_leaf = tree.children_left[i] < 0
            row = (tree_id, i, 0 if is_leaf else int(tree.feature[i]),
                   "LEAF" if is_leaf else "BRANCH_LEQ",
                   0.0 if is_leaf else float(numpy.float32(tree.threshold[i])),
                   0 if is_leaf else int(tree.children_left[i]),
                   0 if is_leaf else int(tree.children_right[i]), 1.0, 0)
            for column, value in zip(columns.values(), row):
                column.append(value)
            if is_leaf:
                leaves.append((tree_id, i, tree.value[i]))
    return {"nodes_" + name: column for name, column in columns.items()}, leaves


def make_data(seed=1):
    random = numpy.random.default_rng(seed)
    x = random.standard_normal((ROWS, FEATURES)).astype(numpy.float32)
    score = x[:, 0] * x[:, 1] + numpy.sin(2 * x[:, 2]) + x[:, 3]
    return x, score, numpy.digitize(score, numpy.quantile(score, [0.25, 0.5, 0.75]))


def describe_rows(path, name, columns=FEATURES):
    describe(path, *({name: numbers("float32", (rows, columns), -3, 3)} for rows in (1, 500)))


def build_forest_classifier(path, trees=100):
    x, _, labels = make_data()
    forest = RandomForestClassifier(trees, max_depth=10, random_state=1).fit(x, labels)
    attributes, leaves = tree_nodes(forest)
    classes = list(range(CLASSES))
    shares = [(tree, leaf, i, float(share / trees)) for tree, leaf, values in leaves
              for i, share in enumerate(values[0] / values[0].sum())]
    trees, nodes, ids, weights = zip(*shares)
    write(path, [
        node("TreeEnsembleClassifier", ["X"], ["label", "probabilities"],
             post_transform="NONE", classlabels_int64s=classes, class_treeids=trees,
             class_nodeids=nodes, class_ids=ids, class_weights=weights, **attributes),
        helper.make_node("Cast", ["label"], ["output_label"], to=TensorProto.INT64),
        zip_map(classes)], [("X", TensorProto.FLOAT, [None, FEATURES])], classes_and_map())
    describe_rows(path, "X")


def build_forest_regressor(path, trees=100):
    x, score, _ = make_data()
    forest = RandomForestRegressor(trees, max_depth=10, random_state=1).fit(x, score)
    attributes, leaves = tree_nodes(forest)
    variable = helper.make_tensor_value_info("variable", TensorProto.FLOAT, [None, 1])
    write(path, [
        node("TreeEnsembleRegressor", ["X"], ["variable"], n_targets=1, post_transform="NONE",
             aggregate_function="AVERAGE", target_ids=[0] * len(leaves),
             target_treeids=[tree for tree, _, _ in leaves],
             target_nodeids=[leaf for _, leaf, _ in leaves],
             target_weights=[float(values[0][0]) for _, _, values in leaves], **attributes)],
        [("X", TensorProto.FLOAT, [None, FEATURES])], [variable])
    describe_rows(path, "X")


def prepare_columns():
    """12 numbers, some of them missing, and 4 columns with one of five kinds each; in training."""
    x, _, labels = make_data()
    random = numpy.random.default_rng(2)
    measured = numpy.where(random.random((ROWS, 12)) < 0.1, numpy.nan, x[:, :12])
    kinds = random.integers(0, 5, (ROWS, 4))
    scaling = make_pipeline(SimpleImputer(), StandardScaler()).fit(measured)
    encoder = OneHotEncoder(handle_unknown="ignore").fit(kinds)
    columns = numpy.hstack([scaling.transform(measured), encoder.transform(kinds).toarray()])
    nodes = [
        node("Imputer", ["measured"], ["complete"], replaced_value_float=float("nan"),
             imputed_value_floats=scaling[0].statistics_.tolist()),
        node("Scaler", ["complete"], ["scaled"], offset=scaling[1].mean_.tolist(),
             scale=(1 / scaling[1].scale_).tolist())]
    for i, values in enumerate(encoder.categories_):
        nodes += [
            node("ArrayFeatureExtractor", ["kinds", f"column_{i}"], [f"kind_{i}"]),
            node("OneHotEncoder", [f"kind_{i}"], [f"ones_{i}"], cats_int64s=values.tolist(),
                 zeros=1),
            helper.make_node("Reshape", [f"ones_{i}", "flat"], [f"encoded_{i}"])]
    nodes.append(node("FeatureVectorizer", ["scaled", *(f"encoded_{i}" for i in range(4))],
                      ["features"], inputdimensions=[12, 5, 5, 5, 5]))
    constants = [(f"column_{i}", numpy.array([i])) for i in range(4)]
    constants.append(("flat", numpy.array([-1, 5])))
    return columns, labels, nodes, constants


def write_pipeline(path, nodes, constants):
    inputs = [("measured", TensorProto.FLOAT, [None, 12]), ("kinds", TensorProto.INT64, [None, 4])]
    write(path, nodes, inputs, classes_and_map(), constants)

    def size(rows):
        return {"measured": numbers("float32", (rows, 12), -3, 3),
                "kinds": numbers("int64", (rows, 4), 0, 6)}
    describe(path, size(1), size(100))


def build_linear_pipeline(path):
    columns, labels, nodes, constants = prepare_columns()
    model = LogisticRegression(max_iter=200).fit(columns, labels)
    classes = model.classes_.tolist()
    nodes += [
        node("LinearClassifier", ["features"], ["label", "raw"], classlabels_ints=classes,
             coefficients=model.coef_.flatten().tolist(), intercepts=model.intercept_.tolist(),
             multi_class=1, post_transform="SOFTMAX"),
        node("Normalizer", ["raw"], ["probabilities"], norm="L1"),
        helper.make_node("Cast", ["label"], ["output_label"], to=TensorProto.INT64),
        zip_map(classes)]
    write_pipeline(path, nodes, constants)


def build_svm_pipeline(path):
    columns, labels, nodes, constants = prepare_columns()
    model = SVC(probability=True, random_state=1).fit(columns[:600], labels[:600])
    classes = model.classes_.tolist()
    nodes += [
        node("SVMClassifier", ["features"], ["label", "probabilities"],
             classlabels_ints=classes, kernel_type="RBF", post_transform="NONE",
             kernel_params=[float(model._gamma), 0.0, 3.0],
             coefficients=model.dual_coef_.flatten().tolist(),
             support_vectors=model.support_vectors_.flatten().tolist(),
             vectors_per_class=model.n_support_.tolist(), rho=model.intercept_.tolist(),
             prob_a=model.probA_.tolist(), prob_b=model.probB_.tolist()),
        helper.make_node("Cast", ["label"], ["output_label"], to=TensorProto.INT64),
        zip_map(classes)]
    write_pipeline(path, nodes, constants)
