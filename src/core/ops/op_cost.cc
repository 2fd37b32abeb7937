#include "core/ops/op_cost.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "core/ir/buffer_bytes.h"
#include "core/ir/sizes.h"
#include "core/ops/families.h"

namespace shoal::internal {
namespace {

constexpr int64_t kFmaFlops = 2;  // a multiplication and an addition

int64_t Elements(const Shape& shape) { return shape.IsArray() ? ElementCountOf(shape) : 0; }

int64_t DotFlops(const Instruction& hlo, int64_t result_elements) {
  int64_t width = 1;
  const Ints dims = hlo.operand_shape(0).dims();
  for (int64_t d : hlo[kLhsContractingDims])
    if (d >= 0 && d < std::ssize(dims)) width = SaturatingMul(width, dims[static_cast<size_t>(d)]);
  return SaturatingProduct({kFmaFlops, result_elements, width});
}

int64_t WindowElements(const Instruction& hlo) {
  int64_t count = 1;
  if (const Window* window = hlo[kWindow])
    for (const WindowDim& dim : window->dims) count = SaturatingMul(count, dim.size);
  return count;
}

// True if the elements keep their offsets in memory.
bool KeepsOffsets(const Instruction& transpose) {
  const Layout* from = transpose.operand_shape(0).layout();
  const Layout* to = transpose.shape().layout();
  if (from == nullptr || to == nullptr) return false;
  const Ints dims = transpose[kDimensions];
  const size_t rank = from->minor_to_major.size();
  if (to->minor_to_major.size() != rank || dims.size() != rank) return false;  // possible in loose text
  for (size_t k = 0; k < rank; ++k)
    if (from->minor_to_major[k] != dims[static_cast<size_t>(to->minor_to_major[k])]) return false;
  return true;
}

// x with a * x = 1 modulo m, for coprime a and m.
int64_t InverseModulo(int64_t a, int64_t m) {
  int64_t x = 0, next_x = 1, r = m, next_r = a % m;
  while (next_r != 0) {
    const int64_t quotient = r / next_r;
    x = std::exchange(next_x, x - quotient * next_x);
    r = std::exchange(next_r, r - quotient * next_r);
  }
  return m == 1 ? 0 : x < 0 ? x + m : x;
}

// Number of pairs of an output index o and a kernel index, in one dimension, that read an input element, not padding or
// a dilation gap. For these, o * stride + shift is a multiple of the dilation in [0, input * dilation).
int64_t ValidPositions(const WindowDim& dim, int64_t input, int64_t kernel, int64_t output) {
  constexpr int64_t kMaxKernel = 1 << 24;  // in larger kernels, gaps and padding are counted as elements
  if (kernel > kMaxKernel) return SaturatingMul(kernel, output);
  auto ceil_div = [](int64_t a, int64_t b) { return a / b + (a % b > 0 ? 1 : 0); };
  const int64_t stride = std::max<int64_t>(dim.stride, 1), dilation = std::max<int64_t>(dim.base_dilation, 1);
  const int64_t common = std::gcd(stride, dilation), period = dilation / common;
  const int64_t inverse = InverseModulo(stride / common, period);
  int64_t count = 0;
  for (int64_t k = 0; k < kernel; ++k) {
    const int64_t back = SaturatingAdd(dim.pad_low, SaturatingMul(-k, dim.window_dilation));  // -shift
    if (back % common != 0) continue;
    const int64_t first = std::max<int64_t>(ceil_div(back, stride), 0);
    const int64_t past = std::min(ceil_div(SaturatingAdd(SaturatingMul(input, dilation), back), stride), output);
    // The multiples are `period` output indices apart.
    const auto residue = static_cast<int64_t>((__int128{back / common} * inverse % period + period) % period);
    const int64_t o = first + (residue - first % period + period) % period;
    if (o < past) count = SaturatingAdd(count, (past - o - 1) / period + 1);
  }
  return count;
}

int64_t ConvolutionFlops(const Instruction& hlo) {
  const Shape& lhs = hlo.operand_shape(0);
  const Shape& rhs = hlo.operand_shape(1);
  const ConvDims& dims = *hlo[kDimLabels];
  const Window* window = hlo[kWindow];
  int64_t positions = 1;
  for (size_t i = 0; window != nullptr && i < window->dims.size(); ++i)
    positions = SaturatingMul(
        positions, ValidPositions(window->dims[i], lhs.dim(dims.input_spatial[i]), rhs.dim(dims.kernel_spatial[i]),
                                  hlo.shape().dim(dims.output_spatial[i])));
  const int64_t features = lhs.dim(dims.input_feature) / std::max<int64_t>(hlo[kFeatureGroupCount], 1);
  const int64_t batch = lhs.dim(dims.input_batch) / std::max<int64_t>(hlo[kBatchGroupCount], 1);
  return SaturatingProduct({kFmaFlops, features, hlo.shape().dim(dims.output_feature), batch, positions});
}

// XLA counts a window of size 2 * n - 1 over a dimension of size n as a sum over the dimension and a broadcast.
int64_t WindowApplications(const Instruction& hlo) {
  const Shape& result = FirstElement(hlo.shape());
  const int64_t outputs = Elements(result), separate = SaturatingMul(SaturatingAdd(WindowElements(hlo), -1), outputs);
  const Window* dims = hlo[kWindow];
  if (dims == nullptr || !hlo.shape().IsArray()) return separate;
  int64_t wide_dims = 0, padded_dims = 0, centered_dim = -1;
  for (size_t d = 0; d < dims->dims.size(); ++d) {
    const WindowDim& dim = dims->dims[d];
    wide_dims += dim.size != 1 ? 1 : 0;
    padded_dims += dim.pad_low != 0 || dim.pad_high != 0 ? 1 : 0;
    const bool is_centered =
        dim.size > 1 && dim.size % 2 == 1 && dim.pad_low == dim.size / 2 && dim.pad_low == dim.pad_high;
    if (is_centered && centered_dim < 0) centered_dim = static_cast<int64_t>(d);
  }
  if (wide_dims != 1 || padded_dims != 1 || centered_dim < 0) return separate;
  const int64_t size = result.dim(centered_dim), others = SaturatingAdd(size, -1);  // an unbounded size is INT64_MIN
  if (dims->dims[static_cast<size_t>(centered_dim)].pad_low != others) return separate;
  return size == 0 ? 0 : outputs / size + others;
}

}  // namespace

void OpCost::Add(const OpCost& other) {
  flops += other.flops;
  transcendentals += other.transcendentals;
  bytes += other.bytes;
  read += other.read;
  written += other.written;
}

void OpCost::Max(const OpCost& other) {
  flops = std::max(flops, other.flops);
  transcendentals = std::max(transcendentals, other.transcendentals);
  bytes = std::max(bytes, other.bytes);
  read = std::max(read, other.read);
  written = std::max(written, other.written);
}

void OpCostBuilder::SetTraffic(double bytes_read, double bytes_written) {
  cost.read = bytes_read;
  cost.written = bytes_written;
  cost.bytes = static_cast<float>(bytes_read + bytes_written);
}

void OpCostBuilder::AddApplications(const Computation& function, int64_t times) {
  const OpCost once = Of(function);
  cost.flops += once.flops * static_cast<float>(times);
  cost.transcendentals += once.transcendentals * static_cast<float>(times);
}

int64_t BytesOf(const Shape& shape) {
  constexpr int64_t kPointer = 4;  // the default of HloCostAnalysis
  if (shape.IsTuple()) return kPointer * std::ssize(shape.elements());
  if (shape.IsOpaque()) return kPointer;
  if (shape.IsBuffer()) return BytesOf(shape.element(0));
  if (!shape.IsArray() || shape.layout() == nullptr) return 0;
  // Counts the size fields of dynamic dimensions and the padding of tiles. XLA does the same in jaxlib
  // 0.12; in jaxlib 0.11, it omits the padding.
  return SaturatingAdd(TiledBytes(shape), DynamicSizeBytes(shape));
}

double LeafBytesOf(const Shape& shape) {
  if (!shape.IsTuple()) return static_cast<double>(BytesOf(shape));
  double bytes = 0;
  for (const Shape* element : shape.elements()) bytes += LeafBytesOf(*element);
  return bytes;
}

OpCost DefaultCost(const Instruction& hlo) {
  OpCost cost;
  cost.written = LeafBytesOf(hlo.shape());
  cost.bytes = static_cast<float>(cost.written);
  for (const Instruction* operand : hlo.operands) {
    const int64_t bytes = BytesOf(operand->shape());
    cost.read += static_cast<double>(bytes);
    cost.bytes += static_cast<float>(bytes);
  }
  return cost;
}

void CostOfElementwise(const Instruction& hlo, OpCostBuilder& builder, bool transcendental) {
  const auto count = static_cast<float>(Elements(hlo.shape()));
  (transcendental ? builder.cost.transcendentals : builder.cost.flops) = count;
}

void NoCost(const Instruction&, OpCostBuilder& builder) { builder.NoTraffic(); }

void Op<Opcode::kBitcastConvert>::Cost(const Instruction& hlo, OpCostBuilder& builder) {
  CostOfElementwise(hlo, builder, false);
}

void Op<Opcode::kTranspose>::Cost(const Instruction& hlo, OpCostBuilder& builder) {
  if (KeepsOffsets(hlo)) builder.NoTraffic();
}

void Op<Opcode::kSlice>::Cost(const Instruction& hlo, OpCostBuilder& builder) {
  const auto bytes = static_cast<double>(BytesOf(hlo.shape()));
  builder.SetTraffic(bytes, bytes);
}

// XLA counts only the first start index.
void Op<Opcode::kDynamicSlice>::Cost(const Instruction& hlo, OpCostBuilder& builder) {
  const auto bytes = static_cast<double>(BytesOf(hlo.shape()));
  builder.SetTraffic(bytes + static_cast<double>(BytesOf(hlo.operand_shape(1))), bytes);
}

// The rest of operand 0 is neither read nor written.
void Op<Opcode::kDynamicUpdateSlice>::Cost(const Instruction& hlo, OpCostBuilder& builder) {
  const auto bytes = static_cast<double>(BytesOf(hlo.operand_shape(1)));
  builder.SetTraffic(bytes + static_cast<double>(BytesOf(hlo.operand_shape(2))), bytes);
}

void Op<Opcode::kTuple>::Cost(const Instruction& hlo, OpCostBuilder& builder) {
  builder.SetTraffic(0, static_cast<double>(BytesOf(hlo.shape())));
}

void Op<Opcode::kDot>::Cost(const Instruction& hlo, OpCostBuilder& builder) {
  builder.SetFlops(DotFlops(hlo, Elements(hlo.shape())));
}
void Op<Opcode::kScaledDot>::Cost(const Instruction& hlo, OpCostBuilder& builder) {
  builder.SetFlops(DotFlops(hlo, Elements(hlo.shape())));
}
// XLA omits as many leading dimensions of the result as there are group dimensions.
void Op<Opcode::kRaggedDot>::Cost(const Instruction& hlo, OpCostBuilder& builder) {
  std::vector<int64_t> dims(hlo.shape().dims().begin(), hlo.shape().dims().end());
  for (size_t i = 0; i < hlo[kRhsGroupDims].size() && i < dims.size(); ++i)
    dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(i));
  builder.SetFlops(DotFlops(hlo, SaturatingProduct(dims)));
}
void Op<Opcode::kConvolution>::Cost(const Instruction& hlo, OpCostBuilder& builder) {
  builder.SetFlops(ConvolutionFlops(hlo));
}

void Op<Opcode::kFft>::Cost(const Instruction& hlo, OpCostBuilder& builder) {
  constexpr int64_t kFmaPerComplexMultiply = 4;
  int64_t logs = 1;
  for (int64_t length : hlo[kLength])
    logs = SaturatingMul(logs, std::bit_width(static_cast<uint64_t>(length)) - 1);
  const int64_t elements = Elements(FirstElement(hlo.operand_shape(0)));
  builder.SetFlops(SaturatingProduct({kFmaFlops, kFmaPerComplexMultiply, logs, elements}));
}

// The op reads only one triangle, half of the matrix.
void Op<Opcode::kTriangularSolve>::Cost(const Instruction& hlo, OpCostBuilder& builder) {
  const Shape& a = hlo.operand_shape(0);
  const auto read = static_cast<double>(BytesOf(a)) / 2 + static_cast<double>(BytesOf(hlo.operand_shape(1)));
  builder.SetTraffic(read, static_cast<double>(BytesOf(hlo.shape())));
  if (!a.dims().empty())
    builder.SetFlops(SaturatingProduct({kFmaFlops, a.dims().back(), Elements(hlo.operand_shape(1))}));
}
void Op<Opcode::kCholesky>::Cost(const Instruction& hlo, OpCostBuilder& builder) {
  const Shape& a = hlo.operand_shape(0);
  const auto half = static_cast<double>(BytesOf(a)) / 2;
  builder.SetTraffic(half, half);
  if (!a.dims().empty()) builder.SetFlops(SaturatingMul(a.dims().back(), Elements(a)) / 3);
}

void Op<Opcode::kRng>::Cost(const Instruction& hlo, OpCostBuilder& builder) { CostOfElementwise(hlo, builder, true); }
void Op<Opcode::kRngBitGenerator>::Cost(const Instruction& hlo, OpCostBuilder& builder) {
  int64_t elements = Elements(hlo.shape());
  for (const Shape* part : hlo.shape().elements()) elements = SaturatingAdd(elements, Elements(*part));
  builder.cost.transcendentals = static_cast<float>(elements);
}

void Op<Opcode::kMap>::Cost(const Instruction& hlo, OpCostBuilder& builder) {
  builder.AddApplications(*hlo[kToApply], Elements(hlo.shape()));
}
void Op<Opcode::kReduce>::Cost(const Instruction& hlo, OpCostBuilder& builder) {
  builder.AddApplications(*hlo[kToApply], Elements(hlo.operand_shape(0)) - Elements(FirstElement(hlo.shape())));
}
void Op<Opcode::kScan>::Cost(const Instruction& hlo, OpCostBuilder& builder) {
  if (hlo.operand_count() > 1) builder.AddApplications(*hlo[kToApply], Elements(hlo.operand_shape(1)));
}
void Op<Opcode::kReduceWindow>::Cost(const Instruction& hlo, OpCostBuilder& builder) {
  builder.AddApplications(*hlo[kToApply], WindowApplications(hlo));
}
void Op<Opcode::kSelectAndScatter>::Cost(const Instruction& hlo, OpCostBuilder& builder) {
  const int64_t sources = Elements(hlo.operand_shape(1));
  builder.AddApplications(*hlo[kSelect], SaturatingMul(sources, SaturatingAdd(WindowElements(hlo), -1)));
  builder.AddApplications(*hlo[kScatter], sources);
}
void Op<Opcode::kSort>::Cost(const Instruction& hlo, OpCostBuilder& builder) {
  const int64_t count = Elements(hlo.operand_shape(0));
  builder.SetFlops(count <= 0 ? 0 : SaturatingMul(count, std::bit_width(static_cast<uint64_t>(count) - 1)));
}

void Op<Opcode::kGather>::Cost(const Instruction& hlo, OpCostBuilder& builder) {
  const auto bytes = static_cast<double>(BytesOf(hlo.shape()));
  builder.SetTraffic(bytes + static_cast<double>(BytesOf(hlo.operand_shape(1))), bytes);
}
// Only the updated elements are read and written.
void Op<Opcode::kScatter>::Cost(const Instruction& hlo, OpCostBuilder& builder) {
  const size_t arrays = hlo.operand_count() / 2;
  double updates = 0;
  for (size_t i = arrays + 1; i < hlo.operand_count(); ++i)
    updates += static_cast<double>(BytesOf(hlo.operand_shape(i)));
  builder.SetTraffic(2 * updates + static_cast<double>(BytesOf(hlo.operand_shape(arrays))), updates);
  builder.AddApplications(*hlo[kToApply], Elements(hlo.operand_shape(arrays + 1)));
}

// Counted as for two devices: one addition per element.
void CostOfAllReduce(const Instruction& hlo, OpCostBuilder& builder) {
  double flops = 0, written = 0, read = 0;
  auto count = [&](const Shape& array) {
    flops += static_cast<double>(Elements(array));
    written += static_cast<double>(BytesOf(array));
  };
  if (hlo.shape().IsArray()) count(hlo.shape());
  for (const Shape* part : hlo.shape().elements()) count(*part);
  for (const Instruction* operand : hlo.operands) read += static_cast<double>(BytesOf(operand->shape()));
  builder.SetTraffic(read, written);
  builder.cost.flops = static_cast<float>(flops);
}

void Op<Opcode::kInfeed>::Cost(const Instruction& hlo, OpCostBuilder& builder) {
  builder.SetTraffic(0, LeafBytesOf(hlo.shape()));
}
void Op<Opcode::kOutfeed>::Cost(const Instruction& hlo, OpCostBuilder& builder) {
  double bytes = 0;
  for (const Instruction* operand : hlo.operands) bytes += LeafBytesOf(operand->shape());
  builder.SetTraffic(bytes, 0);
}

}  // namespace shoal::internal
