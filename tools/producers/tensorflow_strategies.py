"""Training of Keras models and under distribution strategies. Run by run.py, which sets XLA_FLAGS: XLA dumps the modules."""
import sys

import numpy as np
import tensorflow as tf

tf.config.set_logical_device_configuration(tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 2)


def dense():
    return tf.keras.Sequential([tf.keras.layers.Dense(16, activation="gelu"), tf.keras.layers.Dropout(0.1), tf.keras.layers.Dense(4)])


def convnet():
    layers = tf.keras.layers
    return tf.keras.Sequential([layers.Conv2D(4, 3, padding="same"), layers.BatchNormalization(), layers.ReLU(), layers.MaxPooling2D(2),
                                layers.DepthwiseConv2D(3), layers.GlobalAveragePooling2D(), layers.Dense(4)])


def bert():
    layers = tf.keras.layers
    ids = tf.keras.Input((6,), dtype="int32")
    x = layers.LayerNormalization()(layers.Embedding(11, 16)(ids))
    x = layers.LayerNormalization()(x + layers.MultiHeadAttention(2, 8)(x, x))
    x = layers.LayerNormalization()(x + layers.Dense(16)(layers.Dense(32, activation="gelu")(x)))
    return tf.keras.Model(ids, layers.Dense(4)(x[:, 0]))


def recurrent():
    return tf.keras.Sequential([tf.keras.layers.LSTM(8), tf.keras.layers.Dense(4)])


def train(model, inputs, strategy=None):
    """A training step, compiled for each replica of the strategy."""
    labels = np.zeros(len(inputs), np.int32)
    def make():
        built = model()
        built(inputs)
        optimizer = tf.keras.optimizers.Adam(1e-3)
        optimizer.build(built.trainable_variables)
        return built, optimizer
    if strategy is None:
        built, optimizer = make()
    else:
        with strategy.scope():
            built, optimizer = make()

    @tf.function(jit_compile=True)
    def gradients(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.keras.losses.sparse_categorical_crossentropy(y, built(x, training=True), from_logits=True))
        return loss, tape.gradient(loss, built.trainable_variables)

    @tf.function(jit_compile=True)
    def step(x, y):
        loss, grads = gradients(x, y)
        optimizer.apply_gradients(zip(grads, built.trainable_variables))
        return loss

    x, y = tf.constant(inputs), tf.constant(labels)
    if strategy is None:
        return step(x, y)
    with strategy.scope():
        return strategy.run(gradients, args=(x, y))[0]


def sharded():
    from tensorflow.python.compiler.xla.experimental import xla_sharding
    @tf.function(jit_compile=True)
    def product(x, w):
        return tf.nn.relu(xla_sharding.split(x, 0, 2, use_sharding_op=True) @ w)
    return product(tf.ones((4, 3)), tf.ones((3, 5)))


def main():
    rng = np.random.default_rng(0)
    f = lambda *shape: rng.standard_normal(shape).astype(np.float32)
    ids = rng.integers(1, 11, (4, 6)).astype(np.int32)
    programs = {"dense": lambda: train(dense, f(8, 6)), "convnet": lambda: train(convnet, f(2, 8, 8, 3)), "bert": lambda: train(bert, ids),
                "recurrent": lambda: train(recurrent, f(2, 5, 3)),
                "mirrored": lambda: train(dense, f(8, 6), tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])),
                "one device": lambda: train(dense, f(8, 6), tf.distribute.OneDeviceStrategy("CPU:0")), "sharded": sharded}
    for name, program in programs.items():
        try:
            print(name, program())
        except Exception as error:
            print(f"{name}: not produced: {str(error).splitlines()[0]}")


if __name__ == "__main__":
    main()
