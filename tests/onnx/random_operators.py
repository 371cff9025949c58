"""The operators that random_networks.py draws: a table, and nothing else knows of one of them.

An entry is a function under @entry(APPLIES): APPLIES says of a value whether it can be read, and the function gets a Draw and
that value, and returns what is computed of it and of the values that the Draw was asked for (`draw.other`), in that
order. Guesses may be wrong: what torch refuses, and what is not finite or too large, is drawn again. Constants are such
that fp32 has them exactly, for the file has them so.
"""
import math

import torch
import torch.nn.functional as F
from torch import nn

ENTRIES = []


def entry(applies=lambda x: x.dim() > 0, weight=1, kind=torch.float64):
    def add(draw):
        ENTRIES.append((draw.__name__, lambda x: x.dtype == kind and applies(x), weight, draw))
        return draw
    return add


def broadcasts(x, y):
    """Whether y's shape goes with x's."""
    return all(a == b or 1 in (a, b) for a, b in zip(reversed(x.shape), reversed(y.shape)))


def images(x):
    return x.dim() == 4


def signals(x):
    return x.dim() == 3


def positive(x):
    return bool((x > 0.01).all())


def window(draw, sizes):
    """Kernel, stride and dilation of each dimension."""
    kernel = [draw.whole(1, min(4, n)) for n in sizes]
    return kernel, [draw.whole(1, 3) for _ in sizes], [draw.choice(1, 1, 2, 3) for _ in sizes]


def pads(draw, dims):
    return [draw.whole(0, 2) for _ in range(2 * dims)]


# Elementwise

@entry(weight=3)
def activation(draw, x):
    kinds = [torch.relu, torch.tanh, torch.sigmoid, F.silu, F.gelu, F.elu, F.selu, F.softplus, F.leaky_relu, F.hardswish,
             F.hardsigmoid, F.mish, F.celu, F.relu6, F.hardtanh, F.softsign, F.logsigmoid, F.tanhshrink, F.softshrink]
    return draw.choice(*kinds)


@entry()
def activation_by_number(draw, x):
    a = draw.quarter(0.25, 1.5)
    return draw.choice(lambda x: F.leaky_relu(x, a), lambda x: F.elu(x, a), lambda x: F.celu(x, a),
                       lambda x: F.softshrink(x, a), lambda x: F.hardtanh(x, -a, a + 1))


@entry(lambda x: x.dim() >= 2)
def prelu(draw, x):
    return draw.module(nn.PReLU, draw.choice(1, x.shape[1]))


@entry()
def unary(draw, x):
    kinds = [torch.sin, torch.cos, torch.atan, torch.abs, torch.neg, torch.square, torch.exp, torch.erf]
    return draw.choice(*kinds)


@entry(lambda x: bool(((8 * x).frac().abs() - 0.5).abs().max() < 0.499) and bool(x.abs().max() < 8))
def jump(draw, x):
    """Functions with jumps, at multiples of an eighth, of values that rounding does not move over one: what is left of a
    division keeps the error of the whole."""
    a = draw.quarter(0.5, 2)
    return draw.choice(torch.floor, torch.ceil, torch.round, torch.sign, F.hardshrink, lambda x: torch.fmod(x, a),
                       lambda x: torch.remainder(x, a))


@entry(positive)
def unary_of_positive(draw, x):
    return draw.choice(torch.log, torch.sqrt, torch.rsqrt, torch.reciprocal, torch.log1p, lambda x: x ** 1.5, lambda x: x ** -2)


@entry()
def made_positive(draw, x):
    return draw.choice(lambda x: x * x + 0.5, lambda x: x.abs() + 0.25, lambda x: F.softplus(x) + 0.5)


@entry()
def with_number(draw, x):
    a = draw.quarter(-2, 2)
    return draw.choice(lambda x: x + a, lambda x: a - x, lambda x: x * a, lambda x: x / (abs(a) + 1), lambda x: a / (x.abs() + 1),
                       lambda x: x.pow(2), lambda x: x.pow(3), lambda x: x.clamp(min=a), lambda x: x.clamp(max=a),
                       lambda x: x.clamp(-1.0, abs(a)))


@entry(weight=3)
def binary(draw, x):
    draw.other(lambda y: broadcasts(x, y))
    return draw.choice(torch.add, torch.add, torch.sub, torch.mul, torch.mul, torch.maximum, torch.minimum,
                       lambda x, y: x / (y.abs() + 0.5), lambda x, y: torch.where(x > y, x, y * 0.5),
                       lambda x, y: x * (x < y), lambda x, y: torch.where((x > 0) & ~(y >= x), y, x))


@entry(weight=2)
def with_parameter(draw, x):
    dims = [draw.choice(n, n, 1) for n in x.shape][draw.whole(0, x.dim() - 1):]
    weight = draw.parameter(*dims)
    return draw.choice(lambda x: x + weight, lambda x: x * weight, lambda x: weight - x, lambda x: x / (weight.abs() + 0.5),
                       lambda x: x * (1 + weight), lambda x: torch.maximum(x, weight))


@entry()
def masked(draw, x):
    mask = torch.rand(x.shape[draw.whole(0, x.dim() - 1):]) < 0.5
    fill = draw.quarter(-2, 2)
    return draw.choice(lambda x: x.masked_fill(mask, fill), lambda x: torch.where(mask, x, -x), lambda x: x * mask)


# Moves

@entry(weight=2)
def reshape(draw, x):
    dims, left = [], x.numel()
    for _ in range(draw.whole(0, 4)):
        dims.append(draw.choice(*[n for n in range(1, left + 1) if left % n == 0]))
        left //= dims[-1]
    if left > 1 or not dims:
        dims.append(left)
    dims.insert(draw.whole(0, len(dims)), 1) if draw.chance(0.2) else None
    return lambda x: x.reshape(dims)


@entry(lambda x: x.dim() > 1, weight=2)
def permute(draw, x):
    order = draw.shuffled(range(x.dim()))
    return lambda x: x.permute(order)


@entry(lambda x: x.dim() > 1)
def flatten(draw, x):
    first = draw.whole(0, x.dim() - 2)
    return nn.Flatten(first, draw.whole(first + 1, x.dim() - 1))


@entry()
def squeeze(draw, x):
    axis = draw.whole(0, x.dim())
    return draw.choice(lambda x: x.unsqueeze(axis), lambda x: x.squeeze(), lambda x: x.squeeze(axis - 1))


@entry(weight=2)
def narrow(draw, x):
    axis = draw.whole(0, x.dim() - 1)
    first = draw.whole(0, x.shape[axis] - 1)
    last, step = draw.whole(first + 1, x.shape[axis]), draw.choice(1, 1, 2, 3)
    where = (slice(None),) * axis
    return draw.choice(lambda x: x[where + (slice(first, last, step),)], lambda x: x[where + (slice(-last, None, step),)],
                       lambda x: x.select(axis, first), lambda x: x.narrow(axis, first, last - first))


@entry(weight=2)
def concatenate(draw, x):
    axis = draw.whole(-x.dim(), x.dim() - 1)
    for _ in range(draw.whole(1, 2)):
        draw.other(lambda y: y.dim() == x.dim() and all(a == b for i, (a, b) in enumerate(zip(x.shape, y.shape)) if i != axis % x.dim()))
    return lambda *values: torch.cat(values, axis)


@entry()
def stack(draw, x):
    draw.other(lambda y: y.shape == x.shape)
    axis = draw.whole(0, x.dim())
    return lambda *values: torch.stack(values, axis)


@entry(lambda x: x.dim() > 0 and max(x.shape) > 1)
def split(draw, x):
    axis = draw.choice(*[i for i, n in enumerate(x.shape) if n > 1])
    n = x.shape[axis]
    at, part = draw.whole(1, n - 1), draw.whole(0, 1)
    return draw.choice(lambda x: torch.cat(x.split([at, n - at], axis)[::-1], axis), lambda x: x.split([at, n - at], axis)[part],
                       lambda x: F.glu(x, axis), lambda x: torch.mul(*x.chunk(2, axis)))


@entry()
def pad(draw, x):
    widths = pads(draw, draw.whole(1, min(3, x.dim())))
    return draw.choice(lambda x: F.pad(x, widths), lambda x: F.pad(x, widths, value=0.5), lambda x: F.pad(x, [-w for w in widths[:2]]))


@entry(lambda x: x.dim() in (3, 4) and min(x.shape[2:]) > 2)
def pad_by_itself(draw, x):
    widths = pads(draw, x.dim() - 2)
    return draw.choice(lambda x: F.pad(x, widths, mode="reflect"), lambda x: F.pad(x, widths, mode="replicate"))


@entry()
def expand(draw, x):
    dims = [draw.whole(1, 3)] + [draw.whole(1, 3) if n == 1 else -1 for n in x.shape]
    times = [draw.choice(1, 1, 2) for _ in x.shape]
    return draw.choice(lambda x: x.expand(dims), lambda x: x.repeat(times), lambda x: x.repeat(2, *times))


@entry(weight=2)
def take(draw, x):
    axis = draw.whole(0, x.dim() - 1)
    places = torch.tensor([draw.whole(0, x.shape[axis] - 1) for _ in range(draw.whole(1, 5))])
    same = torch.randint(0, x.shape[axis], x.shape)
    return draw.choice(lambda x: x.index_select(axis, places), lambda x: torch.gather(x, axis, same),
                       lambda x: x[places] if axis == 0 else x.index_select(axis, places))


@entry(lambda x: x.dim() > 0)
def scatter(draw, x):
    axis = draw.whole(0, x.dim() - 1)
    order = torch.argsort(torch.rand(x.shape), axis)  # each place once
    draw.other(lambda y: y.shape == x.shape)
    return lambda x, y: x.scatter(axis, order, y)


@entry(lambda x: x.dim() > 1)
def roll_or_flip(draw, x):
    axis = draw.whole(0, x.dim() - 1)
    by = draw.whole(1, max(1, x.shape[axis] - 1))
    return draw.choice(lambda x: torch.roll(x, by if x.shape[axis] > 1 else 0, axis), lambda x: torch.flip(x, [axis]))


@entry(lambda x: x.dim() >= 2)
def triangle(draw, x):
    diagonal = draw.whole(-1, 1)
    return draw.choice(lambda x: torch.tril(x, diagonal), lambda x: torch.triu(x, diagonal))


# Products

@entry(weight=4)
def linear(draw, x):
    return draw.module(nn.Linear, x.shape[-1], draw.whole(1, 9), bias=draw.chance(0.7))


@entry(weight=2)
def matmul(draw, x):
    def fits(y):
        if x.dim() == 0 or y.dim() == 0 or x.shape[-1] != y.shape[max(0, y.dim() - 2)]:
            return False
        return all(a == b or 1 in (a, b) for a, b in zip(x.shape[-3::-1], y.shape[-3::-1]))
    if draw.chance(0.5) and draw.other(fits) is not None:
        return torch.matmul
    weight = draw.parameter(*draw.choice((x.shape[-1],), (x.shape[-1], draw.whole(1, 7)),
                                         tuple(x.shape[:-2]) + (x.shape[-1], draw.whole(1, 5)), (2, 1, x.shape[-1], 3)))
    return lambda x: torch.matmul(x, weight)


@entry(lambda x: x.dim() >= 2)
def product_from_left(draw, x):
    weight = draw.parameter(draw.whole(1, 7), x.shape[-2])
    return lambda x: torch.matmul(weight, x)


@entry(lambda x: x.dim() >= 2)
def product_of_itself(draw, x):
    return draw.choice(lambda x: x @ x.transpose(-1, -2), lambda x: x.transpose(-1, -2) @ x)


@entry()
def einsum(draw, x):
    letters = "abcdef"[:x.dim()]
    summed = draw.choice(*letters)
    weight = draw.parameter(draw.whole(1, 4), x.shape[letters.index(summed)])
    result = "".join(draw.shuffled([c for c in letters + "z" if c != summed]))
    return lambda x: torch.einsum(f"{letters},z{summed}->{result}", x, weight)


@entry(lambda x: signals(x) or images(x), weight=5)
def convolution(draw, x):
    dims, channels = x.dim() - 2, x.shape[1]
    groups = draw.choice(1, 1, channels, *[n for n in range(1, channels + 1) if channels % n == 0])
    kernel, stride, dilation = window(draw, x.shape[2:])
    widths = pads(draw, dims)
    even, mode = draw.chance(0.5), draw.choice("zeros", "zeros", "reflect", "replicate")
    layer = draw.module((nn.Conv1d, nn.Conv2d)[dims - 1], channels, groups * draw.whole(1, 3), tuple(kernel), stride=tuple(stride),
                        padding=tuple(widths[:dims]) if even else 0, dilation=tuple(dilation), groups=groups, bias=draw.chance(0.6),
                        padding_mode=mode if even else "zeros")
    return layer if even else lambda x: layer(F.pad(x, widths))


@entry(lambda x: signals(x) or images(x), weight=2)
def transposed_convolution(draw, x):
    dims, channels = x.dim() - 2, x.shape[1]
    groups = draw.choice(1, 1, channels, *[n for n in range(1, channels + 1) if channels % n == 0])
    kernel, stride, dilation = window(draw, [4] * dims)
    extra = tuple(draw.whole(0, max(s, d) - 1) for s, d in zip(stride, dilation))
    return draw.module((nn.ConvTranspose1d, nn.ConvTranspose2d)[dims - 1], channels, groups * draw.whole(1, 3), tuple(kernel),
                       stride=tuple(stride), padding=tuple(draw.whole(0, k - 1) for k in kernel), output_padding=extra,
                       groups=groups, bias=draw.chance(0.6), dilation=tuple(dilation))


@entry(lambda x: x.dim() == 3, weight=2)
def attention(draw, x):
    width = x.shape[-1]
    if draw.chance(0.4):
        heads = draw.choice(*[n for n in range(1, width + 1) if width % n == 0])
        layer = draw.module(nn.MultiheadAttention, width, heads, batch_first=True).train()  # else it is one fused operator
        return lambda x: layer(x, x, x, need_weights=False)[0]
    query, key = (draw.module(nn.Linear, width, 4, bias=draw.chance(0.5)) for _ in range(2))
    causal = torch.triu(torch.ones(x.shape[1], x.shape[1]), 1) > 0
    hides = draw.chance(0.5)

    def attend(x):
        scores = query(x) @ key(x).transpose(1, 2) * 0.5
        return torch.softmax(scores.masked_fill(causal, -math.inf) if hides else scores, -1) @ x
    return attend


@entry(signals)
def recurrent(draw, x):
    layer = draw.module(draw.choice(nn.LSTM, nn.GRU), x.shape[-1], draw.whole(1, 4), batch_first=draw.chance(0.5),
                        bidirectional=draw.chance(0.3))
    return lambda x: layer(x)[0]


@entry(signals)
def transformer_layer(draw, x):
    heads = draw.choice(*[n for n in range(1, x.shape[-1] + 1) if x.shape[-1] % n == 0])
    return draw.module(nn.TransformerEncoderLayer, x.shape[-1], heads, dim_feedforward=8, dropout=0.0, batch_first=True,
                       norm_first=draw.chance(0.5), activation=draw.choice("relu", "gelu")).train()


@entry(lambda x: x.dim() == 3)
def product_and_sum(draw, x):
    weight, bias = draw.parameter(x.shape[0], x.shape[2], draw.whole(1, 5)), draw.parameter(draw.choice(1, x.shape[1]), 1)
    return lambda x: torch.baddbmm(bias, x, weight, beta=0.5, alpha=2.0)


@entry()
def distance(draw, x):
    draw.other(lambda y: y.shape == x.shape)
    axis = draw.whole(0, x.dim() - 1)
    # What the exporter makes of the similarity of two vectors has a dimension too many.
    return draw.choice(lambda x, y: F.cosine_similarity(x.abs() + 0.25, y.abs() + 0.25, axis) if x.dim() > 1 else x + y,
                       lambda x, y: torch.lerp(x, y, 0.25), lambda x, y: torch.addcmul(x, x, y, value=0.5), lambda x, y: ((x - y) ** 2).sum(axis))


# Pooling

@entry(lambda x: signals(x) or images(x), weight=3)
def max_pool(draw, x):
    kernel, stride, dilation = window(draw, x.shape[2:])
    return (nn.MaxPool1d, nn.MaxPool2d)[x.dim() - 3](tuple(kernel), tuple(stride), tuple(draw.whole(0, k // 2) for k in kernel),
                                                     tuple(dilation), ceil_mode=draw.chance(0.4))


@entry(lambda x: signals(x) or images(x), weight=2)
def average_pool(draw, x):
    kernel, stride, _ = window(draw, x.shape[2:])
    padding, counted = tuple(draw.whole(0, k // 2) for k in kernel), draw.chance(0.5)
    # The exporter writes counted padding as a Pad, behind which a window may begin that torch leaves out.
    return (nn.AvgPool1d, nn.AvgPool2d)[x.dim() - 3](tuple(kernel), tuple(stride), padding, count_include_pad=counted,
                                                     ceil_mode=draw.chance(0.4) and not (counted and any(padding)))


@entry(images)
def adaptive_pool(draw, x):
    size = tuple(draw.choice(1, *[m for m in range(1, n + 1) if n % m == 0]) for n in x.shape[2:])
    return draw.choice(nn.AdaptiveAvgPool2d(size), nn.AdaptiveAvgPool2d(1), nn.AdaptiveMaxPool2d(1))


@entry(images)
def unfold(draw, x):
    kernel, stride, dilation = window(draw, x.shape[2:])
    return nn.Unfold(tuple(kernel), tuple(dilation), tuple(draw.whole(0, 1) for _ in kernel), tuple(stride))


@entry(lambda x: signals(x) or images(x))
def power_pool(draw, x):
    kernel, stride, _ = window(draw, x.shape[2:])
    return (nn.LPPool1d(2, kernel[0], stride[0], ceil_mode=False) if signals(x)
            else nn.LPPool2d(2, tuple(kernel), tuple(stride), ceil_mode=False))


@entry(signals)
def interpolate_signal(draw, x):
    size = draw.whole(1, 9)
    return draw.choice(lambda x: F.interpolate(x, size=size, mode="nearest"), lambda x: F.interpolate(x, size=size, mode="linear"),
                       lambda x: F.interpolate(x, scale_factor=2, mode="linear", align_corners=True))


@entry(images)
def interpolate(draw, x):
    times = draw.choice(2, 3, (2, 1), (1.5, 2))
    size = tuple(draw.whole(1, 9) for _ in range(2))
    return draw.choice(lambda x: F.interpolate(x, scale_factor=times, mode="nearest"),
                       lambda x: F.interpolate(x, scale_factor=times, mode="bilinear", align_corners=False),
                       lambda x: F.interpolate(x, size=size, mode="bilinear", align_corners=True),
                       lambda x: F.interpolate(x, size=size, mode="bilinear", align_corners=False),
                       lambda x: F.interpolate(x, size=size, mode="bicubic", align_corners=False))


@entry(images)
def shuffle_pixels(draw, x):
    return draw.choice(nn.PixelShuffle(2), nn.PixelUnshuffle(2))


# Normalization

@entry(lambda x: x.dim() in (2, 3, 4), weight=3)
def batch_norm(draw, x):
    layer = draw.module((nn.BatchNorm1d, nn.BatchNorm1d, nn.BatchNorm2d)[x.dim() - 2], x.shape[1], affine=draw.chance(0.8))
    layer.train(draw.chance(0.5))
    return layer


@entry(weight=2)
def layer_norm(draw, x):
    return draw.module(nn.LayerNorm, tuple(x.shape[draw.whole(0, x.dim() - 1):]), elementwise_affine=draw.chance(0.7))


@entry(lambda x: x.dim() in (3, 4), weight=2)
def group_norm(draw, x):
    groups = draw.choice(*[n for n in range(1, x.shape[1] + 1) if x.shape[1] % n == 0])
    if draw.chance(0.4):
        return draw.module((nn.InstanceNorm1d, nn.InstanceNorm2d)[x.dim() - 3], x.shape[1], affine=draw.chance(0.5))
    return draw.module(nn.GroupNorm, groups, x.shape[1], affine=draw.chance(0.7))


@entry()
def normalize(draw, x):
    axis = draw.whole(0, x.dim() - 1)
    return draw.choice(lambda x: F.normalize(x, dim=axis), lambda x: x / (x.pow(2).mean(axis, keepdim=True) + 0.125).sqrt())


@entry(weight=2)
def softmax(draw, x):
    axis = draw.whole(-x.dim(), x.dim() - 1)
    return draw.choice(lambda x: torch.softmax(x, axis), lambda x: torch.log_softmax(x, axis))


# Reductions

@entry(weight=4)
def reduction(draw, x):
    axes = draw.shuffled(range(x.dim()))[:draw.whole(1, x.dim())]
    keep = draw.chance(0.5)
    # The exporter writes a norm as a square root, whose derivative at 0 is infinite.
    norm = torch.norm if bool((torch.norm(x, dim=axes) > 1e-3).all()) else torch.sum
    return draw.choice(lambda x: x.sum(axes, keepdim=keep), lambda x: x.mean(axes, keepdim=keep), lambda x: x.amax(axes, keepdim=keep),
                       lambda x: x.amin(axes, keepdim=keep), lambda x: torch.logsumexp(x, axes, keepdim=keep),
                       lambda x: norm(x, dim=axes, keepdim=keep), lambda x: x.abs().sum(axes, keepdim=keep),
                       lambda x: x.var(axes, keepdim=keep), lambda x: (x.var(axes, unbiased=False, keepdim=keep) + 0.25).sqrt(),
                       lambda x: x.sum(), lambda x: x.mean())


@entry()
def reduction_of_axis(draw, x):
    axis, keep = draw.whole(0, x.dim() - 1), draw.chance(0.5)
    return draw.choice(lambda x: x.max(axis, keepdim=keep)[0], lambda x: x.min(axis, keepdim=keep)[0],
                       lambda x: x.prod(axis, keepdim=keep), lambda x: torch.cumsum(x, axis),
                       lambda x: torch.topk(x, (x.shape[axis] + 1) // 2, axis)[0], lambda x: torch.sort(x, axis)[0])


# Whole numbers

@entry(lambda ids: True, weight=6, kind=torch.int64)
def embedding(draw, ids):
    return draw.module(nn.Embedding, draw.count, draw.whole(1, 8))


@entry(lambda ids: True, weight=2, kind=torch.int64)
def of_ids(draw, ids):
    return draw.choice(lambda ids: (ids > 2) * 1.0, lambda ids: ids.to(torch.get_default_dtype()), lambda ids: (ids == 0) * 0.5 + 1.0,
                       lambda ids: F.one_hot(ids, draw.count) * 1.0, lambda ids: (ids.unsqueeze(-1) >= ids.unsqueeze(-2)) * 1.0)
