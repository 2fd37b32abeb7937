"""The computations of the modules, in float64. outputs() returns for each device a list of (rows, array): the array has
these rows of an output, or all of them if rows is None."""
import numpy as np


def uniform(rng, *shape, scale=1.0):
    return (rng.random(shape, dtype=np.float32) * 2 - 1) * np.float32(scale)


class TensorParallelMlp:
    """001: each of four replicas multiplies with its shard of the weights; the results are summed."""

    NAME = "001"
    TOLERANCE = 1e-5
    DEVICES = 4

    @classmethod
    def inputs(cls, rng):
        x = uniform(rng, 8, 128, 4096)
        width = 2 / np.sqrt(4096)
        return [
            [
                np.float32(device),
                uniform(rng, 4096, 3584, scale=width),
                uniform(rng, 3584, 4096, scale=width),
                x,
                uniform(rng, 3584, 4096, scale=width),
            ]
            for device in range(cls.DEVICES)
        ]

    @classmethod
    def outputs(cls, inputs):
        # All rows are computed in the same way; a sample is enough, and fast in float64.
        rows = np.arange(0, 1024, 41)
        total = 0
        for _, down, up, x, gate in inputs:
            sample = x.reshape(-1, 4096)[rows].astype(np.float64)
            hidden = (sample @ gate.T.astype(np.float64)) * (sample @ up.T.astype(np.float64))
            total = total + (hidden / (1 + np.exp(-hidden))) @ down.T.astype(np.float64)
        return [[(rows, total)] for _ in inputs]


class AutoShardedStep:
    """002: a training step of two layers on four partitions; the second layer uses half of the columns of the first."""

    NAME = "002"
    TOLERANCE = 1e-5
    DEVICES = 4

    @classmethod
    def inputs(cls, rng):
        step, first, second = np.int32(7), uniform(rng, 32, 32), uniform(rng, 16, 16)
        return [[step, first, second, uniform(rng, 64, 32), uniform(rng, 64, 16)] for _ in range(cls.DEVICES)]

    @staticmethod
    def outputs(inputs):
        step, first, second = inputs[0][0], inputs[0][1].astype(np.float64), inputs[0][2].astype(np.float64)
        first_gradient, second_gradient = np.zeros_like(first), np.zeros_like(second)
        for *_, x, y in inputs:
            x = x.astype(np.float64)
            half = (x @ first)[:, :16]
            error = (half @ second - y) * 0.00048828125
            first_gradient[:, :16] += x.T @ (error @ second.T)
            second_gradient += half.T @ error
        new = [(None, step + 1), (None, first - 0.01 * first_gradient), (None, second - 0.01 * second_gradient)]
        return [new for _ in inputs]


class DataParallelMnist:
    """004: a training step of a network of three layers on eight replicas, each with its shard of the batch."""

    NAME = "004"
    TOLERANCE = 1e-5
    DEVICES = 8
    SIZES = (784, 1024, 1024, 10)

    @classmethod
    def inputs(cls, rng):
        weights = []
        for rows, columns in zip(cls.SIZES, cls.SIZES[1:]):
            weights += [uniform(rng, rows, columns, scale=2 / np.sqrt(rows)), uniform(rng, columns)]
        labels = np.eye(10, dtype=np.float32)
        return [weights + [uniform(rng, 12, 784), labels[rng.integers(0, 10, 12)]] for _ in range(cls.DEVICES)]

    @staticmethod
    def gradients(w1, b1, w2, b2, w3, b3, x, y):
        h1 = np.tanh(x @ w1 + b1)
        h2 = np.tanh(h1 @ w2 + b2)
        logits = h2 @ w3 + b3
        softmax = np.exp(logits - logits.max(1, keepdims=True))
        softmax /= softmax.sum(1, keepdims=True)
        d3 = (softmax * y.sum(1, keepdims=True) - y) / 12
        d2 = (d3 @ w3.T) * (1 - h2 * h2)
        d1 = (d2 @ w2.T) * (1 - h1 * h1)
        return [x.T @ d1, d1.sum(0), h1.T @ d2, d2.sum(0), h2.T @ d3, d3.sum(0)]

    @classmethod
    def outputs(cls, inputs):
        wide = [[array.astype(np.float64) for array in arrays] for arrays in inputs]
        totals = [sum(parts) for parts in zip(*(cls.gradients(*arrays) for arrays in wide))]
        new = [(None, weight - 0.001 * total) for weight, total in zip(wide[0], totals)]
        return [new for _ in inputs]


ALL = (TensorParallelMlp, AutoShardedStep, DataParallelMnist)
