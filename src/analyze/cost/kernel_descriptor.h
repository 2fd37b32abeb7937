// Describes the properties that determine the time of an instruction's kernel: the kind of kernel that the compiler
// generates, the bytes moved, and the split of the work into blocks. These are derived from the instruction, its fused
// computation and its backend_config.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/ir/module.h"

namespace shoal::internal {

enum class KernelKind : uint8_t {
  kNothing,       // no kernel: tuples, bitcasts, annotations
  kLoop,          // each thread computes some elements of the result
  kRowReduce,     // reduction along the minor dimension
  kColumnReduce,  // reduction along another dimension
  kTranspose,     // transpose through tiles in shared memory
  kTritonRow,     // each tile has whole rows: softmax, norms
  kTritonColumn,  // reduction across the rows of a tile
  kGemm,          // library GEMM
  kTritonGemm,    // generated GEMM
  kCopy,          // copy kernel
  kMemcpy,        // copy by the driver
  kScatter,
  kAttention,
  kConvolution,
  kRadixSort,  // library sort
  kSort,       // generated bitonic sort
  kTopK,
  kHostCopy,  // to or from host memory
  kUnknownCall,
};
std::string_view ToString(KernelKind kind);

// The hardware unit that performs multiplications, by operand type.
enum class MatrixUnit : uint8_t { kF64, kF32, kTf32, kBf16, kF8, kF4, kS8 };
std::string_view ToString(MatrixUnit unit);

// A batch of GEMMs [m,k] x [k,n].
struct GemmShape {
  double batch = 1, m = 1, n = 1, k = 1;
  MatrixUnit unit = MatrixUnit::kBf16;
  double operand_bytes = 2;      // bytes per element
  bool neither_k_minor = false;  // k is the minor dimension of neither operand
  double flops() const { return 2 * batch * m * n * k; }
};

// The tiling of a generated kernel, from its backend_config.
struct TileConfig {
  double m = 1, n = 1, k = 32;   // tile size
  double rows = 1, columns = 1;  // size of the result, which consists of tiles of m x n
  double warps = 4, stages = 1;
};

struct AttentionShape {
  double batch = 1, heads = 1, queries = 1, keys = 1, head = 64;
  bool causal = false, backward = false;
};

// A convolution (an instruction or a library call) and the GEMM that performs the forward pass.
struct ConvolutionShape {
  enum class Pass : uint8_t { kForward, kInput, kFilter };
  GemmShape gemm;
  Pass pass = Pass::kForward;
  double features = 1, taps = 1;  // input features per group, and positions in the window
  bool strided = false;
};

struct KernelDescriptor {
  KernelKind family = KernelKind::kNothing;
  std::vector<double> reads;  // bytes of each operand
  double written = 0;         // bytes written
  int in_place = -1;          // the operand that aliases the result
  double instructions = 0;    // machine instructions for all elements
  double elements = 0;        // size of the largest result, or of the update of an in-place op
  double element_bytes = 4;
  double source_elements = 0;  // number of elements before reductions
  double blocks = 0, threads = 128;
  double rounds = 0;       // iterations of the reduction loop of a thread
  double contiguous = 0;   // bytes of a tile row
  double window = 0;       // elements of the largest window
  double full_inputs = 0;  // number of operands as large as the tile
  int reductions = 0;
  bool masked = false;     // the kernel applies a broadcast mask to the tile
  bool cas = false;        // a scatter adds elements of less than four bytes by compare-and-swap
  bool fast_copy = false;  // a scatter only writes its destination
  double key_bytes = 4, value_bytes = 0, rows = 1, row_length = 0;  // of sorts, top-k and reductions
  int launches = 1;
  std::optional<GemmShape> product;
  std::optional<TileConfig> tile;
  std::optional<AttentionShape> attention;
  std::optional<ConvolutionShape> convolution;
  double flops = 0;
  double estimated_cycles = 0;  // the estimate of the TPU compiler; 0 if the module has none

  double read() const {
    double sum = 0;
    for (double bytes : reads) sum += bytes;
    return sum;
  }
};

// The instructions of one kernel: the body of a fusion, or instructions that XLA would fuse.
struct FusionRegion {
  std::vector<const Instruction*> body;    // operands before users
  std::vector<const Instruction*> inputs;  // the kernel's operands: parameters, or instructions outside the region
  std::vector<const Instruction*> roots;
};
FusionRegion MakeFusionRegion(const Computation& fused);
// `body` must be part of one computation. `roots` are the instructions of `body` without users or with users outside.
FusionRegion MakeFusionRegion(std::span<const Instruction* const> body, std::span<const Instruction* const> roots);

// Number of machine instructions per element of the op, as fitted in machines/fitted/kernels.yaml.
double InstructionsPerElement(const Instruction& hlo);

KernelDescriptor DescribeKernel(const Instruction& hlo);
// Describes the kernel into which XLA would fuse the region. The inputs of the region are the kernel's operands.
KernelDescriptor DescribeKernel(const FusionRegion& region);

}  // namespace shoal::internal
