#include "core/ops/price.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/ir/buffer_bytes.h"
#include "core/ir/sizes.h"
#include "core/ops/families.h"

namespace shoal {
namespace {

constexpr int64_t kFmaFlops = 2;  // a product and a sum

int64_t Elements(const Shape& shape) { return shape.IsArray() ? ElementCountOf(shape) : 0; }

const Shape& FirstArray(const Shape& shape) {
  return shape.IsTuple() && !shape.elements().empty() ? shape.element(0) : shape;
}

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

// Whether the elements stay where they are in memory.
bool KeepsPlaces(const Instruction& transpose) {
  const Layout* from = transpose.operand_shape(0).layout();
  const Layout* to = transpose.shape().layout();
  if (from == nullptr || to == nullptr) return false;
  const Ints dims = transpose[kDimensions];
  const size_t rank = from->minor_to_major.size();
  if (to->minor_to_major.size() != rank || dims.size() != rank) return false;  // in loose text
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

// In how many places of the output, over one dimension, the kernel meets an element of the input, and not padding or
// the gaps of a dilation: at o * stride + shift, a multiple of the dilation from 0 up to input * dilation.
int64_t ValidPositions(const WindowDim& dim, int64_t input, int64_t kernel, int64_t output) {
  constexpr int64_t kWidest = 1 << 24;  // of a wider kernel, gaps and padding are left out of account
  if (kernel > kWidest) return SaturatingMul(kernel, output);
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
    // Multiples come every `period` steps.
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

// A window as wide as twice the dimension is a sum over it that is then broadcast: XLA counts it so.
int64_t WindowApplications(const Instruction& hlo) {
  const Shape& result = FirstArray(hlo.shape());
  const int64_t outputs = Elements(result), one_by_one = SaturatingMul(SaturatingAdd(WindowElements(hlo), -1), outputs);
  const Window* dims = hlo[kWindow];
  if (dims == nullptr || !hlo.shape().IsArray()) return one_by_one;
  int64_t wide = 0, padded = 0, whole = -1;
  for (size_t d = 0; d < dims->dims.size(); ++d) {
    const WindowDim& dim = dims->dims[d];
    wide += dim.size != 1 ? 1 : 0;
    padded += dim.pad_low != 0 || dim.pad_high != 0 ? 1 : 0;
    const bool twice =
        dim.size > 1 && dim.size % 2 == 1 && dim.pad_low == dim.size / 2 && dim.pad_low == dim.pad_high;
    if (twice && whole < 0) whole = static_cast<int64_t>(d);
  }
  if (wide != 1 || padded != 1 || whole < 0) return one_by_one;
  const int64_t size = result.dim(whole), others = SaturatingAdd(size, -1);  // no bound is the least number
  if (dims->dims[static_cast<size_t>(whole)].pad_low != others) return one_by_one;
  return size == 0 ? 0 : outputs / size + others;
}

}  // namespace

void Price::Add(const Price& other) {
  flops += other.flops;
  transcendentals += other.transcendentals;
  bytes += other.bytes;
  read += other.read;
  written += other.written;
}

void Price::Max(const Price& other) {
  flops = std::max(flops, other.flops);
  transcendentals = std::max(transcendentals, other.transcendentals);
  bytes = std::max(bytes, other.bytes);
  read = std::max(read, other.read);
  written = std::max(written, other.written);
}

void Pricing::Moves(double bytes_read, double bytes_written) {
  price.read = bytes_read;
  price.written = bytes_written;
  price.bytes = static_cast<float>(bytes_read + bytes_written);
}

void Pricing::Applies(const Computation& function, int64_t times) {
  const Price once = Of(function);
  price.flops += once.flops * static_cast<float>(times);
  price.transcendentals += once.transcendentals * static_cast<float>(times);
}

int64_t BytesOf(const Shape& shape) {
  constexpr int64_t kPointer = 4;  // the size HloCostAnalysis takes where nobody tells it another
  if (shape.IsTuple()) return kPointer * std::ssize(shape.elements());
  if (shape.IsOpaque()) return kPointer;
  if (shape.IsBuffer()) return BytesOf(shape.element(0));
  if (!shape.IsArray() || shape.layout() == nullptr) return 0;
  // The padding of tiles counts, as in XLA of jaxlib 0.12 (that of 0.11 leaves it out), and so do the size fields of
  // dynamic dimensions.
  return SaturatingAdd(TiledBytes(shape), DynamicSizeBytes(shape));
}

double LeafBytesOf(const Shape& shape) {
  if (!shape.IsTuple()) return static_cast<double>(BytesOf(shape));
  double bytes = 0;
  for (const Shape* element : shape.elements()) bytes += LeafBytesOf(*element);
  return bytes;
}

Price DefaultPrice(const Instruction& hlo) {
  Price price;
  price.written = LeafBytesOf(hlo.shape());
  price.bytes = static_cast<float>(price.written);
  for (const Instruction* operand : hlo.operands) {
    const int64_t bytes = BytesOf(operand->shape());
    price.read += static_cast<double>(bytes);
    price.bytes += static_cast<float>(bytes);
  }
  return price;
}

void PriceElementwise(const Instruction& hlo, Pricing& pricing, bool transcendental) {
  const auto count = static_cast<float>(Elements(hlo.shape()));
  (transcendental ? pricing.price.transcendentals : pricing.price.flops) = count;
}

void PriceNothing(const Instruction&, Pricing& pricing) { pricing.MovesNothing(); }

void Op<Opcode::kBitcastConvert>::Price(const Instruction& hlo, Pricing& pricing) {
  PriceElementwise(hlo, pricing, false);
}

void Op<Opcode::kTranspose>::Price(const Instruction& hlo, Pricing& pricing) {
  if (KeepsPlaces(hlo)) pricing.MovesNothing();
}

void Op<Opcode::kSlice>::Price(const Instruction& hlo, Pricing& pricing) {
  const auto bytes = static_cast<double>(BytesOf(hlo.shape()));
  pricing.Moves(bytes, bytes);
}

// XLA counts the first index only.
void Op<Opcode::kDynamicSlice>::Price(const Instruction& hlo, Pricing& pricing) {
  const auto bytes = static_cast<double>(BytesOf(hlo.shape()));
  pricing.Moves(bytes + static_cast<double>(BytesOf(hlo.operand_shape(1))), bytes);
}

// The rest of operand 0 stays where it is.
void Op<Opcode::kDynamicUpdateSlice>::Price(const Instruction& hlo, Pricing& pricing) {
  const auto bytes = static_cast<double>(BytesOf(hlo.operand_shape(1)));
  pricing.Moves(bytes + static_cast<double>(BytesOf(hlo.operand_shape(2))), bytes);
}

void Op<Opcode::kTuple>::Price(const Instruction& hlo, Pricing& pricing) {
  pricing.Moves(0, static_cast<double>(BytesOf(hlo.shape())));
}

void Op<Opcode::kDot>::Price(const Instruction& hlo, Pricing& pricing) {
  pricing.Computes(DotFlops(hlo, Elements(hlo.shape())));
}
void Op<Opcode::kScaledDot>::Price(const Instruction& hlo, Pricing& pricing) {
  pricing.Computes(DotFlops(hlo, Elements(hlo.shape())));
}
// XLA leaves out as many leading dimensions of the result as there are group dimensions.
void Op<Opcode::kRaggedDot>::Price(const Instruction& hlo, Pricing& pricing) {
  std::vector<int64_t> dims(hlo.shape().dims().begin(), hlo.shape().dims().end());
  for (size_t i = 0; i < hlo[kRhsGroupDims].size() && i < dims.size(); ++i)
    dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(i));
  pricing.Computes(DotFlops(hlo, SaturatingProduct(dims)));
}
void Op<Opcode::kConvolution>::Price(const Instruction& hlo, Pricing& pricing) {
  pricing.Computes(ConvolutionFlops(hlo));
}

void Op<Opcode::kFft>::Price(const Instruction& hlo, Pricing& pricing) {
  constexpr int64_t kFmaPerComplexProduct = 4;
  int64_t logs = 1;
  for (int64_t length : hlo[kLength])
    logs = SaturatingMul(logs, std::bit_width(static_cast<uint64_t>(length)) - 1);
  const int64_t elements = Elements(FirstArray(hlo.operand_shape(0)));
  pricing.Computes(SaturatingProduct({kFmaFlops, kFmaPerComplexProduct, logs, elements}));
}

// Half of the triangular matrix is read.
void Op<Opcode::kTriangularSolve>::Price(const Instruction& hlo, Pricing& pricing) {
  const Shape& a = hlo.operand_shape(0);
  const auto read = static_cast<double>(BytesOf(a)) / 2 + static_cast<double>(BytesOf(hlo.operand_shape(1)));
  pricing.Moves(read, static_cast<double>(BytesOf(hlo.shape())));
  if (!a.dims().empty())
    pricing.Computes(SaturatingProduct({kFmaFlops, a.dims().back(), Elements(hlo.operand_shape(1))}));
}
void Op<Opcode::kCholesky>::Price(const Instruction& hlo, Pricing& pricing) {
  const Shape& a = hlo.operand_shape(0);
  const auto half = static_cast<double>(BytesOf(a)) / 2;
  pricing.Moves(half, half);
  if (!a.dims().empty()) pricing.Computes(SaturatingMul(a.dims().back(), Elements(a)) / 3);
}

void Op<Opcode::kRng>::Price(const Instruction& hlo, Pricing& pricing) { PriceElementwise(hlo, pricing, true); }
void Op<Opcode::kRngBitGenerator>::Price(const Instruction& hlo, Pricing& pricing) {
  int64_t elements = Elements(hlo.shape());
  for (const Shape* part : hlo.shape().elements()) elements = SaturatingAdd(elements, Elements(*part));
  pricing.price.transcendentals = static_cast<float>(elements);
}

void Op<Opcode::kMap>::Price(const Instruction& hlo, Pricing& pricing) {
  pricing.Applies(*hlo[kToApply], Elements(hlo.shape()));
}
void Op<Opcode::kReduce>::Price(const Instruction& hlo, Pricing& pricing) {
  pricing.Applies(*hlo[kToApply], Elements(hlo.operand_shape(0)) - Elements(FirstArray(hlo.shape())));
}
void Op<Opcode::kScan>::Price(const Instruction& hlo, Pricing& pricing) {
  if (hlo.operand_count() > 1) pricing.Applies(*hlo[kToApply], Elements(hlo.operand_shape(1)));
}
void Op<Opcode::kReduceWindow>::Price(const Instruction& hlo, Pricing& pricing) {
  pricing.Applies(*hlo[kToApply], WindowApplications(hlo));
}
void Op<Opcode::kSelectAndScatter>::Price(const Instruction& hlo, Pricing& pricing) {
  const int64_t sources = Elements(hlo.operand_shape(1));
  pricing.Applies(*hlo[kSelect], SaturatingMul(sources, SaturatingAdd(WindowElements(hlo), -1)));
  pricing.Applies(*hlo[kScatter], sources);
}
void Op<Opcode::kSort>::Price(const Instruction& hlo, Pricing& pricing) {
  const int64_t count = Elements(hlo.operand_shape(0));
  pricing.Computes(count <= 0 ? 0 : SaturatingMul(count, std::bit_width(static_cast<uint64_t>(count) - 1)));
}

void Op<Opcode::kGather>::Price(const Instruction& hlo, Pricing& pricing) {
  const auto bytes = static_cast<double>(BytesOf(hlo.shape()));
  pricing.Moves(bytes + static_cast<double>(BytesOf(hlo.operand_shape(1))), bytes);
}
// Only the places that are updated are read and written.
void Op<Opcode::kScatter>::Price(const Instruction& hlo, Pricing& pricing) {
  const size_t arrays = hlo.operand_count() / 2;
  double updates = 0;
  for (size_t i = arrays + 1; i < hlo.operand_count(); ++i)
    updates += static_cast<double>(BytesOf(hlo.operand_shape(i)));
  pricing.Moves(2 * updates + static_cast<double>(BytesOf(hlo.operand_shape(arrays))), updates);
  pricing.Applies(*hlo[kToApply], Elements(hlo.operand_shape(arrays + 1)));
}

// As if there were two devices: one sum for each element.
void PriceAllReduce(const Instruction& hlo, Pricing& pricing) {
  double flops = 0, written = 0, read = 0;
  auto count = [&](const Shape& array) {
    flops += static_cast<double>(Elements(array));
    written += static_cast<double>(BytesOf(array));
  };
  if (hlo.shape().IsArray()) count(hlo.shape());
  for (const Shape* part : hlo.shape().elements()) count(*part);
  for (const Instruction* operand : hlo.operands) read += static_cast<double>(BytesOf(operand->shape()));
  pricing.Moves(read, written);
  pricing.price.flops = static_cast<float>(flops);
}

void Op<Opcode::kInfeed>::Price(const Instruction& hlo, Pricing& pricing) {
  pricing.Moves(0, LeafBytesOf(hlo.shape()));
}
void Op<Opcode::kOutfeed>::Price(const Instruction& hlo, Pricing& pricing) {
  double bytes = 0;
  for (const Instruction* operand : hlo.operands) bytes += LeafBytesOf(operand->shape());
  pricing.Moves(bytes, 0);
}

}  // namespace shoal
