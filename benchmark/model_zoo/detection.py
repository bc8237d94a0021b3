# SPDX-License-Identifier: Apache-2.0
# The model zoo's detectors that select boxes by operators of ONNX: SSD and Faster R-CNN as torchvision
# exports them.
import torch
import torchvision
from torch import nn
from torchvision.models import detection

from zoo import describe, export, numbers, settle


class Detections(nn.Module):
    """torchvision's detectors take a list of pictures and give a dictionary for each."""

    def __init__(self, network):
        super().__init__()
        self.network = network

    def forward(self, image):
        found = self.network([image])
        return () if self.training else tuple(found[0][name] for name in ("boxes", "labels", "scores"))


def export_detections(path, network, sizes):
    axes = {name: {0: "boxes"} for name in ("boxes", "labels", "scores")}
    axes["image"] = {1: "height", 2: "width"}
    export(Detections(network), path, {"image": torch.rand(3, *sizes[0])},
           ["boxes", "labels", "scores"], axes, opset=11)
    describe(path, *({"image": numbers("float32", (3, *size), 0, 1)} for size in sizes))


def last_layers(*heads):
    """The layer of each head that computes its values."""
    kinds = (nn.Conv2d, nn.Linear)
    return [[each for each in head.modules() if isinstance(each, kinds)][-1] for head in heads]


def build_ssdlite(path):
    network = detection.ssdlite320_mobilenet_v3_large(
        weights=None, weights_backbone=None, score_thresh=0.02, topk_candidates=50,
        detections_per_img=20)
    heads = [head for kind in (network.head.classification_head, network.head.regression_head)
             for head in kind.module_list]
    settle(network, [[torch.rand(3, 320, 320)]], last_layers(*heads))
    export_detections(path, network, [(320, 320), (240, 416)])


def build_faster_rcnn(path):
    backbone = torchvision.models.mobilenet_v3_small(weights=None).features
    backbone.out_channels = 576
    sizes = detection.rpn.AnchorGenerator(((32, 64, 128, 256),), ((0.5, 1.0, 2.0),))
    pool = torchvision.ops.MultiScaleRoIAlign(["0"], 7, 2)
    network = detection.FasterRCNN(
        backbone, min_size=320, max_size=480, rpn_anchor_generator=sizes, box_roi_pool=pool,
        box_head=detection.faster_rcnn.TwoMLPHead(576 * 49, 128),
        box_predictor=detection.faster_rcnn.FastRCNNPredictor(128, 21),
        rpn_pre_nms_top_n_test=200, rpn_post_nms_top_n_test=50, box_score_thresh=0.06,
        box_detections_per_img=20)
    settle(network, [[torch.rand(3, 320, 320)]], last_layers(
        network.rpn.head.cls_logits, network.rpn.head.bbox_pred,
        network.roi_heads.box_predictor.cls_score, network.roi_heads.box_predictor.bbox_pred))
    export_detections(path, network, [(320, 320), (240, 400)])
