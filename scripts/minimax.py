#!/usr/bin/env python3
"""Polynomial coefficients of sw_models/functions: minimax, rounded to fp32 one after the other.

A coefficient is rounded, held, and the others are fitted again, from the one that weighs most to the one that weighs least.
Prints bit patterns, in order of ascending powers, and the largest weighted error that is left. Needs python3-mpmath.

  scripts/minimax.py            all
  scripts/minimax.py exp erf    these
"""
import struct
import sys

from mpmath import mp, mpf, matrix, lu_solve, linspace, log, exp, erf, erfc, tanh, sqrt, sin, cos, atan

mp.dps = 40


def fp32(x):
    return mpf(struct.unpack('<f', struct.pack('<f', float(x)))[0])


def bits(x):
    return struct.unpack('<I', struct.pack('<f', float(x)))[0]


def minimax(target, powers, weight, low, high, points=120, rounds=50):
    """Coefficients of the powers that all but minimise max |weight (target - sum)| on [low, high]: Lawson's weights.

    Unlike an exchange of extremes it asks no more of the powers than that they are independent: a few that are left of a
    polynomial whose others are held may have fewer extremes than coefficients.
    """
    n = len(powers)
    middle, half = (mpf(low) + high) / 2, (mpf(high) - low) / 2
    grid = [middle - half * mp.cos(mp.pi * i / (points - 1)) for i in range(points)]
    weights = [abs(weight(x)) for x in grid]
    rows = [[w * x ** p for p in powers] for x, w in zip(grid, weights)]
    goals = [w * target(x) for x, w in zip(grid, weights)]
    lawson = [mpf(1) / points] * points
    best, least = None, mp.inf
    for _ in range(rounds):
        a, rhs = matrix(n, n), matrix(n, 1)
        for l, row, goal in zip(lawson, rows, goals):
            for i in range(n):
                scaled = l * row[i]
                rhs[i] += scaled * goal
                for j in range(i + 1):
                    a[i, j] += scaled * row[j]
        for i in range(n):
            for j in range(i):
                a[j, i] = a[i, j]
        c = list(lu_solve(a, rhs))
        errors = [abs(goal - sum(x * y for x, y in zip(c, row))) for row, goal in zip(rows, goals)]
        if max(errors) < least:
            best, least = c, max(errors)
        total = sum(l * e for l, e in zip(lawson, errors))
        lawson = [l * e / total for l, e in zip(lawson, errors)]
    return best


def rounded(target, powers, weight, low, high):
    """Coefficients of the powers, each an fp32, and the largest weighted error that they leave."""
    held, free = {}, list(powers)
    while True:
        rest = lambda x: target(x) - sum(c * x ** p for p, c in held.items())
        if not free:
            grid = linspace(mpf(low), mpf(high), 600)
            return [held[p] for p in powers], max(abs(weight(x) * rest(x)) for x in grid)
        held[free[0]] = fp32(minimax(rest, free, weight, low, high)[0])
        free.pop(0)


def show(name, target, powers, weight, low, high):
    coefficients, worst = rounded(target, powers, weight, low, high)
    print(f'{name}: error at most 2^{float(mp.log(worst, 2)):.2f}')
    for p, c in zip(powers, coefficients):
        print(f'  x^{p} 0x{bits(c):08X}  {float(c)!r}')


def fp32_of(pattern):
    return struct.unpack('<f', struct.pack('<I', pattern))[0]


def best_magic(guess, spread, first, last):
    """The integer constant whose first guess has the smallest spread, by bisection of a unimodal function."""
    while last - first > 2:
        a, b = first + (last - first) // 3, last - (last - first) // 3
        if spread(guess(a)) < spread(guess(b)):
            last = b
        else:
            first = a
    return (first + last) // 2


def reciprocal_guess(magic):
    """x y over [1, 2) and y = magic - bits of x."""
    one = 0x3F800000
    return [fp32_of(one + (m << 11)) * fp32_of(magic - one - (m << 11)) for m in range(4096)]


def rsqrt_guess(magic):
    """x y^2 over [1, 4) and y = magic - bits of x / 2."""
    one = 0x3F800000
    return [fp32_of(one + (m << 12)) * fp32_of(magic - ((one + (m << 12)) >> 1)) ** 2 for m in range(4096)]


def show_reciprocal():
    magic = best_magic(reciprocal_guess, lambda u: max(abs(1 - x) for x in u), 0x7EE00000, 0x7F000000)
    print(f'reciprocal: 0x{magic:08X}, first error at most {max(abs(1 - x) for x in reciprocal_guess(magic)):.5f}')


def show_rsqrt():
    magic = best_magic(rsqrt_guess, lambda u: max(u) / min(u), 0x5F100000, 0x5F300000)
    low, high = min(rsqrt_guess(magic)), max(rsqrt_guess(magic))
    print(f'rsqrt: 0x{magic:08X}, x y^2 in [{low:.5f}, {high:.5f}]')
    show('rsqrt, x y^2 to the power -1/2', lambda u: 1 / sqrt(u), range(3), sqrt, mpf(low), mpf(high))


SMALL = mpf(10) ** -8
LN2 = log(2)
WIDER = mpf('1.0005')  # a quotient that is rounded to an integer may be off by more than a half
JOBS = {
    'reciprocal': show_reciprocal,
    'rsqrt': show_rsqrt,
    'exp': lambda: show('exp: e^r = 1 + r + r^2 Q(r)', lambda r: (exp(r) - 1 - r) / r ** 2, range(5),
                        lambda r: r ** 2 / exp(r), -LN2 / 2 * WIDER, LN2 / 2 * WIDER),
    'log': lambda: show('log: log(1 + f) = f + f^2 R(f)', lambda f: (log(1 + f) - f) / f ** 2, range(8),
                        lambda f: f ** 2 / log(1 + f), -mpf(1) / 3, mpf(1) / 3),
    'tanh': lambda: show('tanh: x + x^3 P(x^2) up to 0.65', lambda s: (tanh(sqrt(s)) / sqrt(s) - 1) / s, range(5),
                         lambda s: s * sqrt(s) / tanh(sqrt(s)), SMALL, mpf('0.65') ** 2),
    'exp2': lambda: show('tanh: 2^f = 1 + f P(f)', lambda f: (2 ** f - 1) / f, range(6),
                         lambda f: f / 2 ** f, -WIDER / 2, WIDER / 2),
    'erf': lambda: show('erf: x + x P(x^2) up to 0.875', lambda s: erf(sqrt(s)) / sqrt(s) - 1, range(6),
                        lambda s: sqrt(s) / erf(sqrt(s)), SMALL, mpf('0.875') ** 2),
    # weighed by what it does to erf
    'erfc': lambda: show('erf: ln(1 - erf(t)) = -t + t Q(t)', lambda t: log(erfc(t)) / t + 1, range(6),
                         lambda t: t * erfc(t), mpf('0.87'), mpf('3.95')),
    'sin': lambda: show('sin: r + r^3 P(r^2)', lambda s: (sin(sqrt(s)) / sqrt(s) - 1) / s, range(3),
                        lambda s: s * sqrt(s) / sin(sqrt(s)), SMALL, (mp.pi / 4 * WIDER) ** 2),
    'cos': lambda: show('cos: 1 + s Q(s), s = r^2', lambda s: (cos(sqrt(s)) - 1) / s, range(4),
                        lambda s: s / cos(sqrt(s)), SMALL, (mp.pi / 4 * WIDER) ** 2),
    'atan': lambda: show('atan: x + x^3 P(x^2) up to 1', lambda s: (atan(sqrt(s)) / sqrt(s) - 1) / s, range(9),
                         lambda s: s * sqrt(s) / atan(sqrt(s)), SMALL, mpf(1)),
}

if __name__ == '__main__':
    for job in sys.argv[1:] or JOBS:
        JOBS[job]()
