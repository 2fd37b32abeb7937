"""The list of program families. A family is a function from a random generator to a Program."""
import algebra
import chains
import collectives
import contraction
import control
import elementwise
import indexing
import movement
import reductions
import sharded
import sorting

FAMILIES = [
    elementwise.unary, elementwise.binary, elementwise.compare, elementwise.ternary, elementwise.convert,
    elementwise.bits, movement.moves, movement.moves, movement.iota, movement.map_, indexing.gather, indexing.scatter,
    indexing.scatter_pair, contraction.dot, contraction.convolution, reductions.reduce, reductions.reduce_pair,
    reductions.reduce_window, reductions.select_and_scatter, reductions.batch_norm, sorting.sort, sorting.top_k,
    control.loop, control.conditional, control.fusion, algebra.cholesky, algebra.triangular_solve, algebra.fft,
    algebra.random_bits, chains.chain, chains.chain, collectives.collective, collectives.collective, sharded.shard_map,
]
