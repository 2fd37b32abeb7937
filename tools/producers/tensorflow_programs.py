"""Programs in the style of TensorFlow's users, compiled with XLA. Run by run.py: see jax_programs.py."""
import pathlib
import sys

import numpy as np
import tensorflow as tf


def dense_train(w, b, x, y):
    with tf.GradientTape() as tape:
        tape.watch([w, b])
        loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels=y, logits=tf.nn.relu(x @ w) @ b))
    return (loss, *tape.gradient(loss, [w, b]))


def convolution(x, k):
    return tf.nn.max_pool2d(tf.nn.relu(tf.nn.conv2d(x, k, 1, "SAME")), 2, 2, "VALID")


def layer_norm(x, scale):
    mean, variance = tf.nn.moments(x, axes=[-1], keepdims=True)
    return (x - mean) * tf.math.rsqrt(variance + 1e-5) * scale


def linalg(a):
    spd = a @ tf.transpose(a) + 3 * tf.eye(6)
    return tf.linalg.cholesky(spd), tf.linalg.triangular_solve(tf.linalg.cholesky(spd), a)


def embedding(table, ids):
    return tf.reduce_sum(tf.gather(table, ids), axis=1)


def sorting(x):
    return tf.sort(x, axis=-1), tf.math.top_k(x, 3).values, tf.argmax(x, axis=1)


def loop(x):
    return tf.while_loop(lambda i, y: i < 5, lambda i, y: (i + 1, y * 1.5 - 0.1), [0, x])[1]


def programs():
    rng = np.random.default_rng(0)
    f = lambda *shape: rng.standard_normal(shape).astype(np.float32)
    yield dense_train, (f(8, 6), f(6, 4), f(10, 8), np.eye(4, dtype=np.float32)[rng.integers(0, 4, 10)])
    yield convolution, (f(2, 8, 8, 3), f(3, 3, 3, 4))
    yield layer_norm, (f(4, 16), f(16))
    yield linalg, (f(6, 6),)
    yield embedding, (f(20, 4), rng.integers(0, 20, (3, 5)).astype(np.int32))
    yield sorting, (f(5, 7),)
    yield loop, (f(3),)


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for function, arguments in programs():
        name = function.__name__
        arguments = [tf.constant(x) for x in arguments]
        compiled = tf.function(function, jit_compile=True)
        try:
            ir = compiled.experimental_get_compiler_ir(*arguments)
            (folder / f"{name}.before.hlo").write_text(ir(stage="hlo"))
            (folder / f"{name}.before.hlo.pb").write_bytes(ir(stage="hlo_serialized"))
            (folder / f"{name}.after.hlo").write_text(ir(stage="optimized_hlo"))
            (folder / f"{name}.after.hlo.pb").write_bytes(ir(stage="optimized_hlo_proto_serialized"))
        except Exception as error:
            print(f"{name}: not produced: {str(error).splitlines()[0]}")
            continue
        np.savez(folder / f"{name}.inputs.npz", *[x.numpy() for x in arguments])
        np.savez(folder / f"{name}.outputs.npz", *[np.asarray(x) for x in tf.nest.flatten(compiled(*arguments))])


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
