"""The networks that the ONNX tests export: torchvision's, and layers of torch. Images are small, shapes those of real use."""
import torch
import torch.nn as nn
import torchvision.models as tv


class Gpt(nn.Module):
    """A block of a GPT with its embeddings: attention under a causal mask, tied head."""

    def __init__(self, vocabulary=61, width=48, heads=4, context=24):
        super().__init__()
        self.heads = heads
        self.token, self.position = nn.Embedding(vocabulary, width), nn.Embedding(context, width)
        self.before, self.between, self.final = nn.LayerNorm(width), nn.LayerNorm(width), nn.LayerNorm(width)
        self.attend, self.project = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.register_buffer("mask", torch.tril(torch.ones(context, context)).view(1, 1, context, context))

    def forward(self, ids):
        batch, length = ids.shape
        h = self.token(ids) + self.position(torch.arange(length, device=ids.device))
        q, k, v = (t.view(batch, length, self.heads, -1).transpose(1, 2) for t in self.attend(self.before(h)).split(h.shape[-1], dim=2))
        scores = (q @ k.transpose(-2, -1)) * (1.0 / q.shape[-1] ** 0.5)
        scores = scores.masked_fill(self.mask[:, :, :length, :length] == 0, float("-inf"))
        mixed = (torch.softmax(scores, -1) @ v).transpose(1, 2).contiguous().view(batch, length, -1)
        h = h + self.project(mixed)
        h = h + self.down(nn.functional.gelu(self.up(self.between(h))))
        return self.final(h) @ self.token.weight.t()


class Lstm(nn.Module):
    """Two layers, both ways, batch first, and a classifier of the last step."""

    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(11, 13, num_layers=2, bidirectional=True, batch_first=True)
        self.head = nn.Linear(26, 5)

    def forward(self, x):
        return self.head(self.lstm(x)[0][:, -1])


def paper_resnet50():
    """ResNet-50 as published: the stride in the first 1 x 1 of a stage; torchvision has it in the 3 x 3."""
    net = tv.resnet50(weights=None)
    for stage in (net.layer2, net.layer3, net.layer4):
        stage[0].conv1.stride, stage[0].conv2.stride = (2, 2), (1, 1)
    return net


def images(size, batch=2):
    return lambda: (torch.randn(batch, 3, size, size),)


NETWORKS = {
    "resnet50": (lambda: tv.resnet50(weights=None), images(64), {}),
    "resnet50_paper": (paper_resnet50, images(224, 1), {"training": True, "batch": False, "layers": "resnet50.graph"}),
    "mobilenet_v2": (lambda: tv.mobilenet_v2(weights=None), images(64), {}),
    "mobilenet_v3": (lambda: tv.mobilenet_v3_small(weights=None), images(64), {}),
    "vgg16": (lambda: tv.vgg16(weights=None), images(224, 1), {}),
    "squeezenet": (lambda: tv.squeezenet1_0(weights=None), images(96), {}),
    "inception_v3": (lambda: tv.inception_v3(weights=None, init_weights=False), images(107), {}),
    "resnext50": (lambda: tv.resnext50_32x4d(weights=None), images(64), {}),
    "densenet121": (lambda: tv.densenet121(weights=None), images(64), {}),
    "shufflenet": (lambda: tv.shufflenet_v2_x1_0(weights=None), images(64), {}),
    "vit": (lambda: tv.VisionTransformer(64, 16, 2, 4, 48, 96, num_classes=10), images(64), {"batch": False}),
    "encoder": (
        lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(32, 4, 64, activation="gelu", batch_first=True), 2),
        lambda: (torch.randn(3, 10, 32),),
        {"opsets": (12, 14, 17), "batch": False},
    ),
    "gpt_block": (Gpt, lambda: (torch.randint(0, 61, (3, 16)),), {"opsets": (12, 16, 17), "batch": False}),
    "lstm": (Lstm, lambda: (torch.randn(3, 7, 11),), {"opsets": (11, 17), "batch": False}),
    "gru": (lambda: nn.GRU(6, 9, 1), lambda: (torch.randn(5, 2, 6),), {"batch": False}),
}
