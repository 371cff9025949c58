#!/usr/bin/python3
"""Writes operators.json: nodes of ONNX, each with attributes, inputs and what its definition gives, computed here with numpy.

  /usr/bin/python3 tests/graph/onnx/make_operators.py

A case is one node. An input is [type, dims, values]; one whose name begins with "known" is an initializer, the others are inputs of the
network. onnx_operators_test.cpp imports each and runs it in fp64.
"""
import itertools
import json
import math
import os

import numpy as np

rng = np.random.default_rng(51)
cases = []


def real(*dims, low=-2, high=2):
    return np.round(rng.uniform(low, high, dims), 2)


def tensor(array):
    array = np.asarray(array)
    kind = 'bool' if array.dtype == bool else 'int64' if array.dtype.kind == 'i' else 'float'
    values = [str(v) if not np.isfinite(v) else float(f'{v:.7g}') for v in array.ravel().tolist()] if kind == 'float' else array.ravel().astype(int).tolist()
    return [kind, list(array.shape), values]


def case(op, inputs, outputs, opset=21, known=(), **attributes):
    """`known`: which inputs are in the file."""
    named = [None if x is None else [('known' if i in known else 'x') + str(i), *tensor(x)] for i, x in enumerate(inputs)]
    cases.append({'op': op, 'opset': opset, 'attributes': attributes, 'inputs': named,
                  'outputs': [None if y is None else tensor(y) for y in outputs]})


def functions():
    x = real(3, 4)
    unit, above = real(3, 4, low=-0.95, high=0.95), real(3, 4, low=1, high=4)
    for op, f, at in [('Sin', np.sin, x), ('Cos', np.cos, x), ('Tan', np.tan, unit), ('Sinh', np.sinh, x), ('Cosh', np.cosh, x),
                      ('Asin', np.arcsin, unit), ('Acos', np.arccos, unit), ('Atan', np.arctan, x), ('Asinh', np.arcsinh, x),
                      ('Acosh', np.arccosh, above), ('Atanh', np.arctanh, unit), ('Floor', np.floor, x), ('Ceil', np.ceil, x),
                      ('Softsign', lambda v: v / (1 + np.abs(v)), x)]:
        case(op, [at], [f(at)])
    edges = np.array([-2.5, -1.5, -0.5, 0.0, 0.5, 1.5, 2.5])
    case('Round', [edges], [np.rint(edges)])
    case('Sign', [edges], [np.sign(edges)])
    special = np.array([1, np.nan, np.inf, -np.inf])
    case('IsNaN', [special], [np.isnan(special)])
    case('IsInf', [special], [np.isinf(special)])
    case('IsInf', [special], [special == np.inf], detect_negative=0)
    case('IsInf', [special], [special == -np.inf], detect_positive=0)
    case('IsInf', [special], [np.zeros(4, bool)], detect_positive=0, detect_negative=0)
    bent = np.minimum(x, 0)
    case('Elu', [x], [np.maximum(x, 0) + 0.5 * (np.exp(bent) - 1)], alpha=0.5)
    case('Celu', [x], [np.maximum(x, 0) + 2 * (np.exp(bent / 2) - 1)], alpha=2.0)
    case('Selu', [x], [1.5 * (np.maximum(x, 0) + 0.5 * (np.exp(bent) - 1))], alpha=0.5, gamma=1.5)
    a, g = 1.67326319217681884765625, 1.05070102214813232421875
    case('Selu', [x], [g * (np.maximum(x, 0) + a * (np.exp(bent) - 1))])
    case('ThresholdedRelu', [x], [np.where(x > 0.5, x, 0)], alpha=0.5)
    case('Shrink', [x], [np.where(x < -1, x + 0.25, np.where(x > 1, x - 0.25, 0))], lambd=1.0, bias=0.25)
    case('Swish', [x], [x / (1 + np.exp(-0.5 * x))], alpha=0.5)
    base, power = real(3, 4, low=0.5, high=2), real(4, low=-2, high=2)
    case('Pow', [base, power], [base ** power])
    case('Pow', [base, np.float64(1.7)], [base ** 1.7], known=[1])
    case('Pow', [x, np.int64(5)], [x ** 5], known=[1])
    case('Pow', [base, np.array([1, 2, 3, 4])], [base ** [1, 2, 3, 4]], known=[1])


def reductions():
    x = real(2, 3, 5)
    for op, f in [('ReduceL1', lambda v, a, k: np.abs(v).sum(axis=a, keepdims=k)),
                  ('ReduceL2', lambda v, a, k: np.sqrt((v * v).sum(axis=a, keepdims=k))),
                  ('ReduceSumSquare', lambda v, a, k: (v * v).sum(axis=a, keepdims=k)),
                  ('ReduceLogSumExp', lambda v, a, k: np.log(np.exp(v).sum(axis=a, keepdims=k))),
                  ('ReduceProd', lambda v, a, k: v.prod(axis=a, keepdims=k)),
                  ('ReduceMin', lambda v, a, k: v.min(axis=a, keepdims=k))]:
        for axes, keeps in [((0, 2), True), ((1,), False), ((0, 1, 2), False)]:
            case(op, [x, np.array(axes)], [f(x, axes, keeps)], known=[1], keepdims=int(keeps))
        case(op, [x], [f(x, (1,), True)], opset=11, axes=[1])
    positive = real(3, 4, low=0.1, high=2)
    case('ReduceLogSum', [positive, np.array([-1])], [np.log(positive.sum(axis=-1, keepdims=True))], known=[1])
    huge = np.array([[-np.inf, -np.inf], [3.0, np.inf], [1e30, 1e30]])
    case('ReduceLogSumExp', [huge, np.array([1])], [np.array([[-np.inf], [np.inf], [1e30]])], known=[1])
    for exclusive, reverse in itertools.product([0, 1], [0, 1]):
        y = np.flip(x, 1) if reverse else x
        y = np.cumsum(y, 1) - (y if exclusive else 0)
        case('CumSum', [x, np.int64(1)], [np.flip(y, 1) if reverse else y], known=[1], exclusive=exclusive, reverse=reverse)


def choices():
    x = np.array([[3.0, 1, 3, 2], [0, 5, 4, 5], [-1, -2, -1, -3]])
    for op, f in [('ArgMax', np.argmax), ('ArgMin', np.argmin)]:
        for axis, keeps in [(0, 1), (1, 0), (-1, 1)]:
            y = f(x, axis=axis)
            case(op, [x], [np.expand_dims(y, axis) if keeps else y], axis=axis, keepdims=keeps)
        last = 3 - f(np.flip(x, 1), axis=1)
        case(op, [x], [last], axis=1, keepdims=0, select_last_index=1)
    case('Hardmax', [x], [np.eye(4)[x.argmax(axis=1)]], axis=1)
    order = np.argsort(-x, axis=1, kind='stable')[:, :3]
    case('TopK', [x, np.array([3])], [np.take_along_axis(x, order, 1), order], known=[1])
    order = np.argsort(x, axis=0, kind='stable')[:2]
    case('TopK', [x, np.array([2])], [np.take_along_axis(x, order, 0), order], known=[1], axis=0, largest=0)
    indices = np.array([[1, -1], [0, 2]])
    hot = np.where(np.arange(3) == (indices % 3)[..., None], 5.0, -1.0)
    case('OneHot', [indices, np.int64(3), np.array([-1.0, 5])], [hot], known=[1, 2])
    case('OneHot', [indices, np.int64(3), np.array([-1.0, 5])], [np.moveaxis(hot, -1, 1)], known=[1, 2], axis=1)
    far = np.array([7, -4])
    case('OneHot', [far, np.int64(3), np.array([0.0, 1])], [np.zeros((2, 3))], known=[1, 2])
    y = real(2, 4, 3)
    for upper, k in itertools.product([0, 1], [-1, 0, 2]):
        case('Trilu', [y, np.int64(k)], [np.triu(y, k) if upper else np.tril(y, k)], known=[1], upper=upper)


def scatters():
    x, indices = real(3, 4), np.array([[0, -1, 2, 1], [2, 0, 0, -3]])
    for axis in [0, 1]:
        rows = indices if axis == 0 else indices.T[:3]
        case('GatherElements', [x, rows], [np.take_along_axis(x, rows % x.shape[axis], axis)] if axis == 0 else
             [np.take_along_axis(x, rows % 4, 1)], known=[1], axis=axis)
    table = real(2, 3, 4)
    case('GatherND', [table, np.array([[1, 2], [0, -1]])], [table[[1, 0], [2, -1]]], known=[1])
    case('GatherND', [table, np.array([[1], [-1]])], [table[[0, 1], [1, -1]]], known=[1], batch_dims=1)
    for reduction in ['none', 'add', 'mul', 'max', 'min']:
        given = real(3, 4)
        at, y = [2, 0, 2], x.copy()
        for i, row in enumerate(at):
            y[row] = {'none': given[i], 'add': y[row] + given[i], 'mul': y[row] * given[i], 'max': np.maximum(y[row], given[i]),
                      'min': np.minimum(y[row], given[i])}[reduction]
        case('ScatterND', [x, np.array(at)[:, None], given], [y], known=[1], reduction=reduction)
        y = x.copy()
        for r, c in itertools.product(range(2), range(4)):
            to = (indices[r, c] % 3, c)
            y[to] = {'none': given[r, c], 'add': y[to] + given[r, c], 'mul': y[to] * given[r, c], 'max': max(y[to], given[r, c]),
                     'min': min(y[to], given[r, c])}[reduction]
        case('ScatterElements', [x, indices, given[:2]], [y], known=[1], axis=0, reduction=reduction)


def frames():
    x = real(2, 3, 4)
    for mode in ['reflect', 'edge', 'wrap']:
        pads = [(0, 0), (2, 1), (1, 3)]
        case('Pad', [x, np.array([0, 2, 1, 0, 1, 3])], [np.pad(x, pads, mode=mode)], known=[1], mode=mode)
    case('Pad', [x, np.array([0, 0, 2, 0, 0, -1])], [np.pad(x[:, :, :-1], [(0, 0), (0, 0), (2, 0)], mode='edge')], known=[1], mode='edge')
    case('Slice', [x, np.array([-1, 2]), np.array([-100, 0]), np.array([2, 1]), np.array([-2, -1])], [x[:, 2:0:-1, ::-2]], known=[1, 2, 3, 4])


def crops():
    x = real(2, 5, 4)
    case('CenterCropPad', [x, np.array([3, 7])], [np.pad(x[:, 1:4], [(0, 0), (0, 0), (1, 2)])], known=[1], axes=[1, 2])
    case('CenterCropPad', [x, np.array([2, 2, 4])], [x[:, 1:3]], known=[1])
    for time in [0, 1]:
        y, lengths = x.copy(), [3, 1, 0, 5, 2] if time == 0 else [3, 5]
        for i, length in enumerate([min(n, x.shape[time]) for n in lengths]):
            if time == 0:
                y[:length, i] = x[:length, i][::-1]
            else:
                y[i, :length] = x[i, :length][::-1]
        case('ReverseSequence', [x, np.minimum(lengths, x.shape[time])], [y], known=[1], time_axis=time, batch_axis=1 - time)
    case('EyeLike', [real(3, 4)], [np.eye(3, 4, 1)], k=1)
    a, b = real(3, 4, low=-9, high=9), real(4, low=0.5, high=2)
    case('Mod', [a, b], [np.fmod(a, b)], fmod=1)


def conv_transposed(x, w, stride, cut):
    """All that the kernel reaches, without what is cut before and behind each axis."""
    y = np.zeros((1, w.shape[1], (x.shape[2] - 1) * stride + w.shape[2], (x.shape[3] - 1) * stride + w.shape[3]))
    for i, j in itertools.product(range(x.shape[2]), range(x.shape[3])):
        y[0, :, i * stride:i * stride + w.shape[2], j * stride:j * stride + w.shape[3]] += np.einsum('c,cokl->okl', x[0, :, i, j], w)
    return np.pad(y, [(0, 0), (0, 0)] + [(max(0, -b), max(0, -e)) for b, e in cut])[
        :, :, max(0, cut[0][0]):, max(0, cut[1][0]):][:, :, :y.shape[2] - cut[0][0] - cut[0][1], :y.shape[3] - cut[1][0] - cut[1][1]]


def transposed_convolutions():
    x, w = real(1, 2, 3, 4), real(2, 3, 3, 3)
    case('ConvTranspose', [x, w], [conv_transposed(x, w, 2, [(0, 1), (0, 1)])], known=[1], strides=[2, 2], auto_pad='SAME_UPPER')
    case('ConvTranspose', [x, w], [conv_transposed(x, w, 2, [(1, 0), (1, 0)])], known=[1], strides=[2, 2], auto_pad='SAME_LOWER')
    case('ConvTranspose', [x, w], [conv_transposed(x, w, 2, [(0, 0), (0, 0)])], known=[1], strides=[2, 2], auto_pad='VALID')
    case('ConvTranspose', [x, w], [conv_transposed(x, w, 2, [(2, 1), (0, -1)])], known=[1], strides=[2, 2], output_shape=[4, 10])


def losses():
    x, labels, weights = real(3, 4, 2), rng.integers(0, 4, (3, 2)), real(4, low=0.5, high=2)
    logp = x - np.log(np.exp(x).sum(axis=1, keepdims=True))
    for op, scores in [('NegativeLogLikelihoodLoss', x), ('SoftmaxCrossEntropyLoss', logp)]:
        for reduction, weighted, ignored in itertools.product(['none', 'sum', 'mean'], [False, True], [None, 2, -1]):
            at = labels.copy()
            if ignored is not None:
                at[0, 1] = ignored
            w = (weights if weighted else np.ones(4))[at % 4] * (at != (99 if ignored is None else ignored))
            loss = -np.take_along_axis(scores, (at % 4)[:, None], 1)[:, 0] * w
            y = loss if reduction == 'none' else loss.sum() if reduction == 'sum' else loss.sum() / w.sum()
            attributes = {'reduction': reduction} if ignored is None else {'reduction': reduction, 'ignore_index': ignored}
            case(op, [x, at] + ([weights] if weighted else []), [y], known=[2], **attributes)
    case('SoftmaxCrossEntropyLoss', [x, labels], [-np.take_along_axis(logp, labels[:, None], 1).mean(), logp])


def norms():
    x = real(2, 6, 3, 4)
    for axis in [-1, 1, 2]:
        own = tuple(range(axis % 4, 4))
        gamma, beta = real(*x.shape[axis % 4:]), real(*x.shape[axis % 4:])
        mean, rstd = x.mean(axis=own, keepdims=True), 1 / np.sqrt(x.var(axis=own, keepdims=True) + 1e-3)
        case('LayerNormalization', [x, gamma, beta], [(x - mean) * rstd * gamma + beta, mean, rstd], known=[1, 2], axis=axis, epsilon=1e-3)
        rms = 1 / np.sqrt((x * x).mean(axis=own, keepdims=True) + 1e-3)
        case('RMSNormalization', [x, gamma], [x * rms * gamma], opset=21, known=[1], axis=axis, epsilon=1e-3)
    grouped, scale, bias = x.reshape(2, 3, -1), real(6), real(6)
    normal = ((grouped - grouped.mean(axis=2, keepdims=True)) / np.sqrt(grouped.var(axis=2, keepdims=True) + 1e-5)).reshape(x.shape)
    case('GroupNormalization', [x, scale, bias], [normal * scale[:, None, None] + bias[:, None, None]], known=[1, 2], num_groups=3)
    case('GroupNormalization', [x, scale[:3], bias[:3]],
         [(normal.reshape(2, 3, -1) * scale[:3, None] + bias[:3, None]).reshape(x.shape)], opset=18, known=[1, 2], num_groups=3)
    case('MeanVarianceNormalization', [x], [(x - x.mean(axis=(0, 2, 3), keepdims=True)) / (x.std(axis=(0, 2, 3), keepdims=True) + 1e-9)])
    for p in [1, 2]:
        case('LpNormalization', [x], [x / np.linalg.norm(x, ord=p, axis=1, keepdims=True)], axis=1, p=p)
    for p in [1, 2, 3]:
        case('GlobalLpPool', [x], [(np.abs(x) ** p).sum(axis=(2, 3), keepdims=True) ** (1 / p)], p=p)
    case('LpNormalization', [np.zeros((2, 3))], [np.zeros((2, 3))])
    for size in [3, 4]:
        sums = np.zeros_like(x)
        for c in range(6):
            sums[:, c] = (x[:, max(0, c - (size - 1) // 2):c + math.ceil((size - 1) / 2) + 1] ** 2).sum(axis=1)
        case('LRN', [x], [x / (1.5 + 0.1 / size * sums) ** 0.6], size=size, alpha=0.1, beta=0.6, bias=1.5)


def products():
    m, v, w, batch = real(3, 4), real(4), real(3), real(2, 3, 4)
    for a, b in [(m, v), (w, m), (v, v), (batch, v), (w, batch)]:
        case('MatMul', [a, b], [a @ b])
    case('MatMul', [m, v], [m @ v], known=[1])
    a, b = real(2, 3, 4, 5), real(2, 6, 4, 5)
    c = real(2, 6, 4)
    for equation, inputs in [('bqhd,bkhd->bhqk', [a, b]), ('ij->ji', [m]), ('ij->i', [m]), ('i,i', [v, v]), ('i,j->ij', [v, w]),
                             ('...ij,...jk->...ik', [batch, real(2, 4, 5)]), ('ii->i', [real(3, 3)]), ('...ii->...i', [real(2, 3, 3)]),
                             ('bqhd,bkhd,bkh->bqd', [a, b, c]), ('i,i->i', [v, v]), ('ij,kj', [m, real(2, 4)]), ('ijk->', [batch])]:
        case('Einsum', inputs, [np.einsum(equation, *inputs)], equation=equation)
    weight = real(4, 5)
    case('Einsum', [batch, weight], [np.einsum('bsd,dh->bsh', batch, weight)], known=[1], equation='bsd,dh->bsh')
    case('Einsum', [batch, weight.T], [np.einsum('bsd,hd->bsh', batch, weight.T)], known=[1], equation='bsd,hd->bsh')


def windows_of(x, kernel, strides, dilations, pads, fill):
    """[..., taps] of an image or volume."""
    n = len(kernel)
    padded = np.pad(x, [(0, 0), (0, 0)] + [(pads[i], pads[i + n]) for i in range(n)], constant_values=fill)
    outputs = [(padded.shape[2 + i] - dilations[i] * (kernel[i] - 1) - 1) // strides[i] + 1 for i in range(n)]
    taps = []
    for tap in itertools.product(*[range(k) for k in kernel]):
        cut = [slice(tap[i] * dilations[i], tap[i] * dilations[i] + (outputs[i] - 1) * strides[i] + 1, strides[i]) for i in range(n)]
        taps.append(padded[(slice(None), slice(None), *cut)])
    return np.stack(taps, axis=-1)


def pools():
    image, volume = real(1, 2, 7, 8), real(1, 2, 4, 5, 4)
    for x, kernel, strides, dilations, pads in [(image, [2, 2], [1, 1], [2, 3], [0, 0, 0, 0]), (image, [3, 2], [2, 1], [2, 2], [1, 2, 1, 0]),
                                                (image, [2, 2], [2, 2], [1, 1], [2, 3, 1, 2]), (volume, [2, 3, 2], [1, 2, 2], [1, 1, 1], [0, 1, 0, 1, 0, 0])]:
        attributes = dict(kernel_shape=kernel, strides=strides, dilations=dilations, pads=pads)
        case('MaxPool', [x], [windows_of(x, kernel, strides, dilations, pads, -np.inf).max(axis=-1)], **attributes)
        whole = windows_of(x, kernel, strides, dilations, pads, 0)
        case('AveragePool', [x], [whole.mean(axis=-1)], count_include_pad=1, **attributes)
        with np.errstate(invalid='ignore'):
            inside = windows_of(np.ones_like(x), kernel, strides, dilations, pads, 0).sum(axis=-1)
            case('AveragePool', [x], [whole.sum(axis=-1) / inside], **attributes)
        for p in [1, 2, 3]:
            case('LpPool', [x], [(np.abs(whole) ** p).sum(axis=-1) ** (1 / p)], p=p, **attributes)
    signal = np.array([[[3.0, 9, -1, 9, 2]]])  # rounded up, there is a window that reaches beyond the end
    case('MaxPool', [signal], [np.array([[[3.0]]])], kernel_shape=[4], strides=[3], dilations=[2], pads=[0, 0], ceil_mode=1)


def resampled(x, sizes, scales, mode, coordinates):
    """Resize of the last two axes, one after the other."""
    for axis, size, scale in zip([2, 3], sizes, scales):
        n = x.shape[axis]
        rows = []
        for o in range(size):
            at = {'half_pixel': (o + 0.5) / scale - 0.5, 'asymmetric': o / scale, 'align_corners': o * (n - 1) / (size - 1)}[coordinates]
            if mode == 'nearest':
                rows.append(np.eye(n)[min(max(math.ceil(at - 0.5), 0), n - 1)])
                continue
            low, row = math.floor(at), np.zeros(n)
            t, a = at - low, -0.75
            weights = [(0, 1 - t), (1, t)] if mode == 'linear' else [
                (-1, ((a * (t + 1) - 5 * a) * (t + 1) + 8 * a) * (t + 1) - 4 * a), (0, ((a + 2) * t - (a + 3)) * t * t + 1),
                (1, ((a + 2) * (1 - t) - (a + 3)) * (1 - t) ** 2 + 1), (2, ((a * (2 - t) - 5 * a) * (2 - t) + 8 * a) * (2 - t) - 4 * a)]
            for away, weight in weights:
                row[min(max(low + away, 0), n - 1)] += weight
            rows.append(row)
        x = np.moveaxis(np.moveaxis(x, axis, -1) @ np.array(rows).T, -1, axis)
    return x


def resizes():
    x = real(1, 2, 4, 5)
    for mode, coordinates in itertools.product(['nearest', 'linear', 'cubic'], ['half_pixel', 'asymmetric', 'align_corners']):
        sizes = [7, 3]
        scales = [7 / 4, 3 / 5]
        case('Resize', [x, None, None, np.array([1, 2, *sizes])], [resampled(x, sizes, scales, mode, coordinates)], known=[3], mode=mode,
             coordinate_transformation_mode=coordinates)
        case('Resize', [x, None, np.array([2.0, 2.0])], [resampled(x, [8, 10], [2, 2], mode, coordinates)], known=[2], mode=mode, axes=[2, 3],
             coordinate_transformation_mode=coordinates)


def recurrent():
    x, w, r, b, h0 = real(3, 2, 4), real(1, 5, 4), real(1, 5, 5), real(1, 10), real(1, 2, 5)
    sigmoid = lambda v: 1 / (1 + np.exp(-v))
    h, all_h = h0[0], []
    for t in range(3):
        h = np.tanh(x[t] @ w[0].T + h @ r[0].T + b[0, :5] + b[0, 5:])
        all_h.append(h)
    y = np.stack(all_h)[:, None]
    case('RNN', [x, w, r, b, None, h0], [y, h[None]], known=[1, 2, 3], hidden_size=5)
    case('RNN', [x.transpose(1, 0, 2), w, r, b, None, h0.transpose(1, 0, 2)], [y.transpose(2, 0, 1, 3), h[None].transpose(1, 0, 2)], known=[1, 2, 3], hidden_size=5, layout=1)
    both_w, both_r, both_b = np.concatenate([w, w[:, ::-1]]), np.concatenate([r, -r]), np.concatenate([b, b[:, ::-1]])
    ends = []
    for d, (cell, times) in enumerate([(lambda v: np.maximum(v, 0), [0, 1, 2]), (sigmoid, [2, 1, 0])]):
        h = np.zeros((2, 5))
        for t in times:
            h = cell(x[t] @ both_w[d].T + h @ both_r[d].T + both_b[d, :5] + both_b[d, 5:])
        ends.append(h)
    case('RNN', [x, both_w, both_r, both_b], [None, np.stack(ends)], known=[1, 2, 3], hidden_size=5, direction='bidirectional',
         activations=['Relu', 'Sigmoid'])
    w, r, b = real(1, 15, 4), real(1, 15, 5), real(1, 30)
    for before in [0, 1]:
        h = h0[0]
        for t in range(3):
            gx, rb = x[t] @ w[0].T + b[0, :15], b[0, 15:]
            gh = h @ r[0].T + rb
            z, reset = sigmoid(gx[:, :5] + gh[:, :5]), sigmoid(gx[:, 5:10] + gh[:, 5:10])
            own = reset * gh[:, 10:] if before else (reset * h) @ r[0, 10:].T + rb[10:]
            h = (1 - z) * np.tanh(gx[:, 10:] + own) + z * h
        case('GRU', [x, w, r, b, None, h0], [None, h[None]], known=[1, 2, 3], hidden_size=5, linear_before_reset=before,
             activations=['Sigmoid', 'Tanh'])


def attended(q, k, v, scale, bias, cap=0):
    """Scores, scores with the bias, shares and sums."""
    k, v = (np.repeat(t, q.shape[1] // t.shape[1], axis=1) for t in (k, v))
    scores = q @ k.swapaxes(2, 3) * scale
    scores = cap * np.tanh(scores / cap) if cap else scores
    masked = scores + bias
    shares = np.exp(masked - masked.max(axis=-1, keepdims=True))
    shares = shares / shares.sum(axis=-1, keepdims=True)
    return scores, masked, shares, shares @ v


def heads(x, count):
    return x.reshape(x.shape[0], x.shape[1], count, -1).swapaxes(1, 2)


def attentions():
    q, k, v = real(2, 4, 3, 4), real(2, 2, 5, 4), real(2, 2, 5, 6)
    below = np.where(np.arange(5) <= np.arange(3)[:, None], 0, -np.inf)
    case('Attention', [q, k, v], [attended(q, k, v, 0.5, 0)[3]])
    case('Attention', [q, k, v], [attended(q, k, v, 0.5, below)[3]], is_causal=1)
    mask = real(2, 1, 3, 5)
    seen = rng.uniform(size=(3, 5)) < 0.7
    seen[:, 0] = True
    for mode in range(4):
        y = attended(q, k, v, 0.3, mask, 2)
        case('Attention', [q, k, v, mask], [y[3], k, v, y[max(0, mode - 1)]], scale=0.3, softcap=2.0, qk_matmul_output_mode=mode)
    case('Attention', [q, k, v, seen], [attended(q, k, v, 0.5, np.where(seen, 0, -np.inf))[3]])
    case('Attention', [q, k, v, mask[..., :4]], [attended(q, k[:, :, :4], v[:, :, :4], 0.5, mask[..., :4])[3]])
    past_k, past_v = real(2, 2, 2, 4), real(2, 2, 2, 6)
    all_k, all_v = np.concatenate([past_k, k], 2), np.concatenate([past_v, v], 2)
    late = np.where(np.arange(7) <= np.arange(3)[:, None] + 2, 0, -np.inf)
    case('Attention', [q, k, v, None, past_k, past_v], [attended(q, all_k, all_v, 0.5, late)[3], all_k, all_v], is_causal=1)
    there = np.array([4, 5])
    filled = np.where(np.arange(5) < there[:, None, None, None], 0, -np.inf)
    case('Attention', [q, k, v, None, None, None, there], [attended(q, k, v, 0.5, filled)[3]], known=[6])
    away = np.arange(3)[:, None] - np.arange(5)
    near = np.where((away <= 1) & (away >= -2), 0, -np.inf)
    case('Attention', [q, k, v], [attended(q, k, v, 0.5, near)[3]], left_window_size=1, right_window_size=2)
    q, k, v = real(2, 3, 16), real(2, 5, 8), real(2, 5, 12)
    y = attended(heads(q, 4), heads(k, 2), heads(v, 2), 0.5, 0)[3]
    case('Attention', [q, k, v], [y.swapaxes(1, 2).reshape(2, 3, 24)], q_num_heads=4, kv_num_heads=2)


def rotations():
    x, angles, ids = real(2, 4, 3, 8), real(7, 4), rng.integers(0, 7, (2, 3))
    for size, pairs in [(8, 0), (8, 1), (6, 0), (6, 1)]:
        turn = angles[ids][:, None, :, :size // 2]
        a, b = (x[..., 0:size:2], x[..., 1:size:2]) if pairs else (x[..., :size // 2], x[..., size // 2:size])
        y, turned = x.copy(), (a * np.cos(turn) - b * np.sin(turn), a * np.sin(turn) + b * np.cos(turn))
        y[..., :size] = np.stack(turned, axis=-1).reshape(2, 4, 3, size) if pairs else np.concatenate(turned, axis=-1)
        inputs = [np.cos(angles)[:, :size // 2], np.sin(angles)[:, :size // 2], ids]
        attributes = {'interleaved': pairs} if size == 8 else {'interleaved': pairs, 'rotary_embedding_dim': size}
        case('RotaryEmbedding', [x] + inputs, [y], known=[1, 2], **attributes)
        flat = x.swapaxes(1, 2).reshape(2, 3, 32)
        case('RotaryEmbedding', [flat, inputs[0][ids], inputs[1][ids]], [y.swapaxes(1, 2).reshape(2, 3, 32)], num_heads=4, **attributes)


def computed_statistics():
    x, scale, bias, mean, variance = real(2, 3, 2, 4), real(3), real(3), real(3), real(3, low=0.5, high=2)
    each = lambda v: v.reshape(3, 1, 1)
    y = (x - each(mean)) / np.sqrt(each(variance) + 1e-5) * each(scale) + each(bias)
    case('BatchNormalization', [x, scale, bias, mean, variance], [y], known=[1, 2])
    case('BatchNormalization', [x, np.ones(3), np.zeros(3), mean, variance], [(x - each(mean)) / np.sqrt(each(variance) + 1e-5)], known=[1, 2])


for family in [crops, attentions, rotations, functions, reductions, choices, scatters, frames, losses, norms, products, pools, resizes, recurrent, transposed_convolutions, computed_statistics]:
    family()
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), 'operators.json'), 'w') as out:
    out.write('[\n' + ',\n'.join(json.dumps(c) for c in cases) + '\n]\n')
print(len(cases), 'nodes')
