"""What rounding may do to a training step of a chain of convolutions, linear layers, ReLU and max pooling, from PyTorch in fp64.

Rounding points are those of N21 (docs/numerics.md): weights, images, what is between layers and the gradients of it are
bf16; sums, weights' gradients and the loss are fp32.

forward_share() holds every value of every layer to what it is rounded from: the layer in fp64, of the values before it.

SameDecisions bounds the gradients. A gradient is not continuous in the values: it jumps where one crosses the 0 of a ReLU,
or two change places under a maximum, so no bound of rounding holds it there. PyTorch's step therefore takes the branches
that our values took. Its error then has two parts. What weights and images lose is known, value by value: an exact step
with the rounded ones has it. Edges are off by half an ulp at most, and what they make of a gradient is a sum of so many
that the worst case, all of one sign, says nothing; errors that do not depend on each other and prefer no sign have no
larger mean square than those of a full half ulp, up or down as a coin falls. That is measured, over SAMPLES steps; the
bound is TIMES its root. (Rounding to nearest has errors spread evenly up to half an ulp: 1 / sqrt(3) of it.)
"""
import torch
import torch.nn.functional as F
from torch import nn

SAMPLES = 16
TIMES = 2


def half_ulp(values):
    """Of bf16, at each of the values."""
    _, exponent = torch.frexp(values)
    return torch.where(values == 0, 0.0, torch.ldexp(torch.ones_like(values), exponent - 9))


def to_bf16(values):
    return values.to(torch.bfloat16).to(values.dtype)


def product(layer, x, weight, bias):
    if isinstance(layer, nn.Linear):
        return F.linear(x, weight, bias)
    return F.conv2d(x, weight, bias, padding=layer.padding)


def forward_share(layers, images, outputs):
    """Of each layer: the largest share that an error has of its bound; above 1 it is more than rounding.

    The bound of a value is half an ulp of it, where its edge is bf16, and n 2^-24 of the sum of its n terms' magnitudes.
    """
    before = to_bf16(images.double())
    for i, (name, layer) in enumerate(layers):
        x, bound = before, 0.0
        if isinstance(layer, (nn.Conv2d, nn.Linear)):
            weight, bias = to_bf16(layer.weight.detach().double()), layer.bias.detach().double()
            terms = weight[0].numel() + 1
            bound = terms * 2.0 ** -24 * product(layer, x.abs(), weight.abs(), bias.abs())
            x = product(layer, x, weight, bias)
            if i + 1 < len(layers):
                bound = bound + half_ulp(outputs[i].double())
        else:
            x = layer(x)
        before = outputs[i].double()
        error = (before - x).abs()
        yield name, float(torch.where(error == 0, 0.0, error / bound).max())


class Edge(torch.autograd.Function):
    """Values that are off by so many half ulps of bf16, up or down: going forward, or as gradients coming back."""

    @staticmethod
    def forward(context, values, there, back, coins, half_ulps):
        context.back, context.coins, context.half_ulps = back, coins, half_ulps
        return moved(values, coins, half_ulps) if there else values.clone()

    @staticmethod
    def backward(context, gradient):
        return (moved(gradient, context.coins, context.half_ulps) if context.back else gradient), None, None, None, None


def moved(values, coins, half_ulps):
    signs = torch.randint(0, 2, values.shape, generator=coins, dtype=torch.int8).to(values.dtype) * 2 - 1
    return values + half_ulps * signs * half_ulp(values)


class SameDecisions:
    """A step of PyTorch in fp64 that takes the branches of another one: of what each of its layers put out."""

    def __init__(self, layers, outputs, images, labels):
        self.layers, self.outputs, self.images, self.labels = layers, outputs, images, labels

    def gradients(self, rounded=False, half_ulps=0.0, coins=None):
        """Of the parameters by name. `rounded`: of weights and images as bf16; `half_ulps`: what edges are off by."""
        parameters = {f"{name}.{which}": value.detach().double().requires_grad_()
                      for name, layer in self.layers for which, value in layer.named_parameters()}
        x = to_bf16(self.images.double()) if rounded else self.images.double()
        for i, (name, layer) in enumerate(self.layers):
            if not isinstance(layer, (nn.Conv2d, nn.Linear)):
                x = self.decided(i, x)
                continue
            last = i + 1 == len(self.layers)
            weight, bias = parameters[name + ".weight"], parameters[name + ".bias"]
            if rounded:  # its value, not its gradient
                weight = weight + (to_bf16(weight) - weight).detach()
            x = Edge.apply(x, False, i > 0, coins, half_ulps)
            x = Edge.apply(product(layer, x, weight, bias), not last, last, coins, half_ulps)
        F.cross_entropy(x, self.labels).backward()
        return {name: value.grad for name, value in parameters.items()}

    def decided(self, i, x):
        layer = self.layers[i][1]
        if isinstance(layer, nn.ReLU):
            return x * (self.outputs[i] > 0)
        if isinstance(layer, nn.MaxPool2d):
            _, at = F.max_pool2d(self.outputs[i - 1], layer.kernel_size, return_indices=True)
            return x.flatten(2).gather(2, at.flatten(2)).reshape(at.shape)
        return layer(x)

    def bounds(self, seed):
        """Of each parameter: the exact gradient, that of rounded weights and images, and the bound of a distance from the latter."""
        coins = torch.Generator()
        coins.manual_seed(seed)
        exact, rounded = self.gradients(), self.gradients(rounded=True)
        squares = {name: 0.0 for name in exact}
        for _ in range(SAMPLES):
            for name, value in self.gradients(True, 1.0, coins).items():
                squares[name] += float((value - rounded[name]).norm()) ** 2 / SAMPLES
        return {name: (exact[name], rounded[name], TIMES * squares[name] ** 0.5) for name in exact}
