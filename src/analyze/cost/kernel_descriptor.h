// What a device does for one instruction, as far as its price needs it: which kind of kernel the compiler makes of it,
// the bytes it moves, how its work is cut into blocks. Taken from the instruction, its fused computation and its
// backend_config alone.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/ir/module.h"

namespace shoal::internal {

enum class KernelKind : uint8_t {
  kNothing,        // no kernel: tuples, bitcasts, remarks
  kLoop,           // each thread some elements of the result
  kRowReduce,      // sums along the minor dimension
  kColumnReduce,   // sums along another one
  kTranspose,      // through tiles in shared memory
  kTritonRow,      // whole rows in a tile: softmax, norms
  kTritonColumn,   // sums across tiles' rows
  kGemm,        // a library's matrix product
  kTritonGemm,  // a generated one
  kCopy,           // a plain copy kernel
  kMemcpy,         // a copy by the driver
  kScatter,
  kAttention,
  kConvolution,
  kRadixSort,  // a library's
  kSort,       // a generated bitonic one
  kTopK,
  kHostCopy,    // to or from the host's memory
  kUnknownCall,
};
std::string_view ToString(KernelKind family);

// Which unit multiplies.
enum class MatrixUnit : uint8_t { kF64, kF32, kTf32, kBf16, kF8, kF4, kS8 };
std::string_view ToString(MatrixUnit unit);

// batch times [m,k] x [k,n].
struct GemmShape {
  double batch = 1, m = 1, n = 1, k = 1;
  MatrixUnit unit = MatrixUnit::kBf16;
  double operand_bytes = 2;  // of an element
  bool neither_k_minor = false;
  double flops() const { return 2 * batch * m * n * k; }
};

// Of a generated kernel, from its backend_config.
struct TileConfig {
  double m = 1, n = 1, k = 32;  // of a block
  double rows = 1, columns = 1; // of the result, which m and n cut
  double warps = 4, stages = 1;
};

struct AttentionShape {
  double batch = 1, heads = 1, queries = 1, keys = 1, head = 64;
  bool causal = false, backward = false;
};

// A convolution, or a library call of one, as the product that the forward pass is done by.
struct ConvolutionShape {
  enum class Pass : uint8_t { kForward, kInput, kFilter };
  GemmShape product;
  Pass pass = Pass::kForward;
  double features = 1, taps = 1;  // of the input, per group; places of the window
  bool strided = false;
};

struct KernelDescriptor {
  KernelKind family = KernelKind::kNothing;
  std::vector<double> reads;  // bytes of each operand
  double written = 0;         // bytes
  int in_place = -1;          // the operand that becomes the result
  double instructions = 0;    // of all elements
  double elements = 0;        // of the largest result, or of what is written into one
  double element_bytes = 4;
  double source_elements = 0;  // before reductions
  double blocks = 0, threads = 128;
  double rounds = 0;      // of a reduction's loop in a thread
  double contiguous = 0;  // bytes of a tile's row
  double window = 0;      // elements of the longest window
  double full_inputs = 0; // operands as large as the tile
  int reductions = 0;
  bool masked = false;    // a broadcast mask is applied to the tile
  bool cas = false;       // a scatter that adds elements of less than four bytes
  bool fast_copy = false;
  double key_bytes = 4, value_bytes = 0, rows = 1, row_length = 0;  // of sorts and top-k
  int launches = 1;
  std::optional<GemmShape> product;
  std::optional<TileConfig> tile;
  std::optional<AttentionShape> attention;
  std::optional<ConvolutionShape> convolution;
  double flops = 0;
  double estimated_cycles = 0;  // as the compiler of a TPU says

  double read() const {
    double sum = 0;
    for (double bytes : reads) sum += bytes;
    return sum;
  }
};

// What is computed as one: the body of a fusion, or instructions that would be fused.
struct FusionRegion {
  std::vector<const Instruction*> body;    // operands before users
  std::vector<const Instruction*> inputs;  // that stand for its operands: parameters, or what is computed outside
  std::vector<const Instruction*> roots;
};
FusionRegion ViewOf(const Computation& fused);
// Of instructions of one computation; a root is what is used outside `body` or nowhere.
FusionRegion ViewOf(std::span<const Instruction* const> body, std::span<const Instruction* const> roots);

// How many machine instructions an element of each op takes; from machines/fitted/kernels.yaml.
double InstructionsOf(const Instruction& hlo);

KernelDescriptor DescribeKernel(const Instruction& hlo);
// Of instructions that have not been fused yet; `inputs` of the view are the operands.
KernelDescriptor DescribeKernel(const FusionRegion& view);

}  // namespace shoal::internal
