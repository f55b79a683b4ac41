"""Compact schemes by their published tables and a plain solve: what examples/compact is compared with. Rows are written as in S. K. Lele, Compact finite
difference schemes with spectral-like resolution, J. Comput. Phys. 103 (1992), the filter as in D. Gaitonde, M. Visbal, AIAA Journal 38 (2000)."""

import dataclasses
import math
from fractions import Fraction as F


@dataclasses.dataclass
class Row:
    """lower g[i-1] + g[i] + upper g[i+1] = sum of weights[k] f[i + first + k], exact for polynomials up to degree `order` + derivative - 1."""

    lower: F
    upper: F
    first: int
    weights: list
    order: int


@dataclasses.dataclass
class Scheme:
    derivative: int
    order: int
    inner: Row
    head: list  # rows from the end on
    options: str

    def __str__(self):
        return f"{('filter', 'first', 'second')[self.derivative]}-{self.order}"


def inner(alpha, a, b, derivative, order):
    """(2.1.6) and (2.2.6): alpha g[i-1] + g[i] + alpha g[i+1] = a (f[i+1] - f[i-1]) / 2 h + b (f[i+2] - f[i-2]) / 4 h, or second differences."""
    if derivative == 1:
        return Row(alpha, alpha, -2, [-b / 4, -a / 2, F(0), a / 2, b / 4], order)
    return Row(alpha, alpha, -2, [b / 4, a, -2 * a - b / 2, a, b / 4], order)


def filtered(alpha, order):
    """Gaitonde and Visbal's table: alpha g[i-1] + g[i] + alpha g[i+1] = sum of a_n (f[i+n] + f[i-n]) / 2."""
    table = {2: [F(1, 2) + alpha, F(1, 2) + alpha], 4: [F(5, 8) + F(3, 4) * alpha, F(1, 2) + alpha, F(-1, 8) + alpha / 4],
             6: [F(11, 16) + F(5, 8) * alpha, F(15, 32) + F(17, 16) * alpha, F(-3, 16) + F(3, 8) * alpha, F(1, 32) - alpha / 16]}
    a = table[order]
    return Row(alpha, alpha, 1 - len(a), [v / 2 for v in reversed(a[1:])] + [a[0]] + [v / 2 for v in a[1:]], order)


def schemes():
    # (4.1.3) and (4.3.2) with the parameters that leave them tridiagonal and of third order.
    first = Row(F(0), F(2), 0, [F(-5, 2), F(2), F(1, 2)], 3)
    second = Row(F(0), F(11), 0, [F(13), F(-27), F(15), F(-1)], 3)
    fourth = {1: inner(F(1, 4), F(3, 2), F(0), 1, 4), 2: inner(F(1, 10), F(6, 5), F(0), 2, 4)}
    sixth = {1: inner(F(1, 3), F(14, 9), F(1, 9), 1, 6), 2: inner(F(2, 11), F(12, 11), F(3, 11), 2, 6)}
    all_of_them = []
    for derivative, name, end in ((1, "first", first), (2, "second", second)):
        options = f"-compact_derivative {name} -compact_order"
        all_of_them.append(Scheme(derivative, 4, fourth[derivative], [end], f"{options} 4"))
        all_of_them.append(Scheme(derivative, 6, sixth[derivative], [end, fourth[derivative]], f"{options} 6"))
    alpha = F(3, 10)
    rows = [Row(F(0), F(0), 0, [F(1)], 0), *(filtered(alpha, order) for order in (2, 4, 6))]
    for order in (4, 6):
        all_of_them.append(Scheme(0, order, rows[order // 2], rows[: order // 2], f"-compact_derivative filter -compact_alpha 0.3 -compact_order {order}"))
    for scheme in all_of_them:
        for row in (scheme.inner, *scheme.head):
            check(row, scheme.derivative)
    return all_of_them


def check(row, derivative):
    """The table itself: a row is exact for polynomials up to its order, and for no more, or there is a slip of the pen in it."""
    def left(degree, x):  # the derivative of x^degree
        falling = math.prod(range(degree - derivative + 1, degree + 1))
        return falling * F(x) ** (degree - derivative) if degree >= derivative else F(0)

    if row.weights == [1]:
        return  # a row that is left as it is
    for degree in range(row.order + derivative + 1):
        right = sum(w * F(row.first + k) ** degree for k, w in enumerate(row.weights))
        exact = right == row.lower * left(degree, -1) + left(degree, 0) + row.upper * left(degree, 1)
        assert exact == (degree < row.order + derivative), (row, degree)


def waves(nodes):
    """The field of -case derivative along x, to the last bit: a difference divides it by the spacing."""
    return [math.sin(2 * math.pi * (i * (1 / (nodes - 1))) + 0.3) for i in range(nodes)]


def differentiate(scheme, f, h):
    """g = A^-1 B f on one line with both ends, by elimination without pivoting; sums in one rounding each."""
    n = len(f)
    lower, upper, right = [], [], []
    sign = -1 if scheme.derivative == 1 else 1  # the end is the beginning read from the other side
    for i in range(n):
        left_end, right_end = i < len(scheme.head), n - 1 - i < len(scheme.head)
        row = scheme.head[i] if left_end else scheme.head[n - 1 - i] if right_end else scheme.inner
        away = -1 if right_end else 1
        terms = [float(w) * f[i + away * (row.first + k)] for k, w in enumerate(row.weights) if w]
        right.append((sign if right_end else 1) * math.fsum(terms) / h**scheme.derivative)
        lower.append(float(row.upper if right_end else row.lower))
        upper.append(float(row.lower if right_end else row.upper))
    for i in range(1, n):
        above = upper[i - 1]
        pivot = 1 - lower[i] * above
        upper[i] /= pivot
        right[i] = (right[i] - lower[i] * right[i - 1]) / pivot
    for i in range(n - 2, -1, -1):
        right[i] -= upper[i] * right[i + 1]
    return right


def differentiate_ring(scheme, f, h):
    """g = A^-1 B f on a ring: the middle of a line that goes around so often that its ends are not felt there. Couplings of the schemes decay by 0.38 a row or more."""
    turns = 2 * math.ceil(60 / len(f)) + 1
    middle = turns // 2 * len(f)
    return differentiate(scheme, f * turns, h)[middle : middle + len(f)]
