// LAPACK and FFT calls of jaxlib up to 0.4.30. Their parameters are scalar operands before the arrays, and some of
// their results are workspaces. They run as the calls that replaced them, whose parameters are in backend_config.
#include <cstring>

#include "core/ops/control_flow.h"
#include "core/ops/linear_algebra.h"
#include "execute/interp/custom_calls/matrix_call.h"
#include "kernels/algorithms/fft_batches.h"
#include "kernels/linalg/lapack.h"

namespace shoal::internal {
namespace {

constexpr int kWorkspace = -1;  // a workspace

// A call in terms of its successor.
struct Translation {
  size_t scalars = 0;              // number of operands before the arrays
  std::string config;              // backend_config of the successor
  std::vector<size_t> arrays;      // the successor's operands, as operand numbers of the old call
  std::vector<int> results;        // for each result of the old call: the successor's result, or kWorkspace
  Evaluator successor = nullptr;
};

// The value of a scalar operand: s32, or u8 for a character.
int64_t ScalarOperand(const Call& call, size_t i) { return IntAt(call.array(i), 0); }

Diag BadCall(const Call& call) {
  return ExecutionError(call.hlo, StrCat("unexpected operands of the custom call \"",
                                         call.hlo[Op<Opcode::kCustomCall>::kTarget], "\" of an old version of JAX"));
}

// True if the call has `scalars` integers, then at least one array.
bool HasForm(const Call& call, size_t scalars) {
  if (call.operands.size() <= scalars || !call.hlo.shape_->IsTuple()) return false;
  for (size_t i = 0; i < call.operands.size(); ++i)
    if (!call.operands[i].IsArray() ||
        (i < scalars && (call.array(i).count() != 1 || !IsInteger(call.array(i).type()))))
      return false;
  return true;
}

// Runs the successor on an instruction with its shape and configuration, and adds the workspaces.
Result<Value> RunSuccessor(Call& call, const Translation& translation) {
  const Shape& shape = call.hlo.shape();
  std::vector<const Shape*> shapes;
  for (size_t i = 0; i < translation.results.size() && i < shape.elements().size(); ++i) {
    if (translation.results[i] == kWorkspace) continue;
    const auto at = static_cast<size_t>(translation.results[i]);
    if (shapes.size() <= at) shapes.resize(at + 1, shape.elements()[i]);
    shapes[at] = shape.elements()[i];
  }
  if (shapes.empty()) return BadCall(call);
  Arena arena;
  ShapePool pool(arena);
  Instruction successor = call.hlo;
  successor.shape_ = shapes.size() == 1 ? shapes[0] : pool.Tuple(shapes);
  NamedAttr attrs[] = {{kBackendConfig.id, std::string_view(translation.config)},
                             {Op<Opcode::kCustomCall>::kTarget.id, call.hlo[Op<Opcode::kCustomCall>::kTarget]}};
  successor.attrs = attrs;
  std::vector<Value> operands;
  for (size_t i : translation.arrays) operands.push_back(std::move(call.operands[i]));
  Call inner{successor, operands, call.device};
  SHOAL_ASSIGN(result, translation.successor(inner));
  std::vector<Value> parts;
  for (size_t i = 0; i < shape.elements().size(); ++i) {
    const Shape& element = *shape.elements()[i];
    const int at = i < translation.results.size() ? translation.results[i] : kWorkspace;
    if (at == kWorkspace)
      parts.push_back(Value(Array::Zeros(element.element_type(), element.dims())));
    else
      parts.push_back(result.IsArray() ? result : result.element(at));
  }
  return Value::Tuple(std::move(parts));
}

// Runs a call with one matrix operand. Results after `results.size()` are workspaces.
Result<Value> RunOnMatrix(Call& call, size_t scalars, const auto& config, std::vector<int> results,
                          Evaluator successor) {
  if (!HasForm(call, scalars)) return BadCall(call);
  return RunSuccessor(call, {scalars, config(), {scalars}, std::move(results), successor});
}

std::string LowerConfig(int64_t lower) { return lower != 0 ? "{\"lower\":true}" : "{\"lower\":false}"; }

bool IsComplexMatrix(const Call& call, size_t i) {
  return i < call.operands.size() && call.operands[i].IsArray() && IsComplex(call.array(i).type());
}

}  // namespace

// potrf: (lower, batch, n, a) -> (factor, info)
Result<Value> ScalarCholesky(Call& call) {
  return RunOnMatrix(call, 3, [&] { return LowerConfig(ScalarOperand(call, 0)); }, {0, 1}, &CholeskyFactor);
}

// getrf: (batch, m, n, a) -> (factors, pivots, info)
Result<Value> ScalarLu(Call& call) {
  return RunOnMatrix(call, 3, [] { return std::string(); }, {0, 1, 2}, &LuFactors);
}

// geqrf: (batch, m, n, lwork, a) -> (factors, tau, info, work)
Result<Value> ScalarQr(Call& call) {
  return RunOnMatrix(call, 4, [] { return std::string(); }, {0, 1}, &QrFactors);
}

// orgqr: (batch, m, n, k, lwork, a, tau) -> (product, info, work)
Result<Value> ScalarReflectorProduct(Call& call) {
  if (!HasForm(call, 5) || call.operands.size() != 7) return BadCall(call);
  return RunSuccessor(call, {5, "", {5, 6}, {0}, &ReflectorProduct});
}

// gesdd: (full matrices, compute u and v, batch, m, n, lwork, a) -> (undefined, s, u, v^H, info, workspaces…)
Result<Value> ScalarSvd(Call& call) {
  auto config = [&] {
    const char mode = ScalarOperand(call, 1) == 0 ? 'N' : ScalarOperand(call, 0) != 0 ? 'A' : 'S';
    return StrCat("{\"mode\":", static_cast<int>(mode), "}");
  };
  return RunOnMatrix(call, 6, config, {0, 1, 2, 3, 4}, &SvdByDivideAndConquer);
}

// syevd, heevd: (lower, batch, n, a) -> (eigenvectors, eigenvalues, info, workspaces…)
Result<Value> ScalarHermitianEigen(Call& call) {
  return RunOnMatrix(call, 3, [&] { return LowerConfig(ScalarOperand(call, 0)); }, {0, 1, 2}, &HermitianEigen);
}

// geev: (batch, n, 'V' for left vectors, 'V' for right vectors, a) -> (workspaces…, eigenvalues, vectors, info)
Result<Value> ScalarEigen(Call& call) {
  auto config = [&] {
    return StrCat("{\"compute_left\":", ScalarOperand(call, 2), ",\"compute_right\":", ScalarOperand(call, 3), "}");
  };
  std::vector<int> results{kWorkspace, kWorkspace, kWorkspace, 0, 1, 2, 3, 4};
  if (IsComplexMatrix(call, 4)) results = {kWorkspace, kWorkspace, 0, 1, 2, 3};
  return RunOnMatrix(call, 4, config, std::move(results), &GeneralEigen);
}

// gees: (batch, n, 'V' for vectors, sort, a) -> (form, workspace if complex, eigenvalues, vectors, count, info)
Result<Value> ScalarSchur(Call& call) {
  std::vector<int> results{0, 2, 3, 1, 4, 5};
  if (IsComplexMatrix(call, 4)) results = {0, kWorkspace, 2, 1, 3, 4};
  auto config = [&] { return StrCat("{\"mode\":", ScalarOperand(call, 2), "}"); };
  return RunOnMatrix(call, 4, config, std::move(results), &SchurForm);
}

// gehrd: (n, low, high, lda, batch, lwork, a) -> (factors, tau, info, work)
Result<Value> ScalarHessenberg(Call& call) {
  auto config = [&] { return StrCat("{\"low\":", ScalarOperand(call, 1), ",\"high\":", ScalarOperand(call, 2), "}"); };
  return RunOnMatrix(call, 6, config, {0, 1, 2}, &HessenbergFactors);
}

// sytrd: (n, lower, lda, batch, lwork, a) -> (reflectors, diagonal, off-diagonal, tau, info, work)
Result<Value> ScalarTridiagonal(Call& call) {
  auto config = [&] { return LowerConfig(ScalarOperand(call, 1)); };
  return RunOnMatrix(call, 5, config, {0, 1, 2, 3, 4}, &TridiagonalFactors);
}

// trsm: (left, lower, transposition, unit diagonal, m, n, batch, alpha, a, b) -> x
Result<Value> ScalarTriangularSolution(Call& call) {
  const bool is_valid = call.operands.size() == 10 && std::all_of(call.operands.begin(), call.operands.end(),
                                                                  [](const Value& value) { return value.IsArray(); });
  if (!is_valid || call.hlo.shape_->IsTuple()) return BadCall(call);
  for (size_t i = 0; i < 7; ++i)
    if (call.array(i).count() != 1 || !IsInteger(call.array(i).type())) return BadCall(call);
  const char transpositions[] = {'N', 'T', 'C'};
  const int64_t transposition = std::clamp<int64_t>(ScalarOperand(call, 2), 0, 2);
  const std::string config =
      StrCat("{\"side\":", ScalarOperand(call, 0) != 0 ? int{'L'} : int{'R'},
             ",\"uplo\":", ScalarOperand(call, 1) != 0 ? int{'L'} : int{'U'},
             ",\"trans_x\":", static_cast<int>(transpositions[transposition]),
             ",\"diag\":", ScalarOperand(call, 3) != 0 ? int{'U'} : int{'N'}, "}");
  Instruction successor = call.hlo;
  NamedAttr attrs[] = {{kBackendConfig.id, std::string_view(config)},
                             {Op<Opcode::kCustomCall>::kTarget.id, call.hlo[Op<Opcode::kCustomCall>::kTarget]}};
  successor.attrs = attrs;
  Value operands[] = {std::move(call.operands[8]), std::move(call.operands[9]), std::move(call.operands[7])};
  Call inner{successor, operands, call.device};
  return TriangularSolution(inner);
}

namespace {

// The parameters of an FFT, in the bytes of a FlatBuffers table: (rank, is_double, type, axes, forward).
struct FftDescriptor {
  int64_t type = 0;
  bool forward = false;
  std::vector<int64_t> axes;
};

class FlatTable {
 public:
  explicit FlatTable(std::span<const uint8_t> bytes) : bytes_(bytes), table_(Read<uint32_t>(0)) {
    vtable_ = table_ - Read<int32_t>(table_);
  }
  // The value of field number `slot`; zero if the table does not have it.
  template <class T>
  T Get(int64_t slot) const {
    const int64_t at = PositionOf(slot);
    return at == 0 ? T{} : Read<T>(at);
  }
  std::vector<int64_t> List(int64_t slot) const {
    int64_t at = PositionOf(slot);
    if (at == 0) return {};
    at += Read<uint32_t>(at);
    std::vector<int64_t> list;
    const int64_t count = std::min<int64_t>(Read<uint32_t>(at), std::ssize(bytes_) / 4);
    for (int64_t i = 1; i <= count; ++i) list.push_back(Read<uint32_t>(at + 4 * i));
    return list;
  }

 private:
  template <class T>
  T Read(int64_t at) const {
    T value{};
    if (at >= 0 && at + static_cast<int64_t>(sizeof(T)) <= std::ssize(bytes_))
      std::memcpy(&value, bytes_.data() + at, sizeof(T));
    return value;
  }
  int64_t PositionOf(int64_t slot) const {
    const int64_t entry = 4 + 2 * slot;
    if (entry >= Read<uint16_t>(vtable_)) return 0;
    const int64_t offset = Read<uint16_t>(vtable_ + entry);
    return offset == 0 ? 0 : table_ + offset;
  }

  std::span<const uint8_t> bytes_;
  int64_t table_, vtable_;
};

FftDescriptor ReadDescriptor(const Array& bytes) {
  const FlatTable table(bytes.As<uint8_t>());
  constexpr int64_t kType = 2, kAxes = 3, kForward = 4;
  return {table.Get<int8_t>(kType), table.Get<int8_t>(kForward) != 0, table.List(kAxes)};
}

template <class T>
void Scale(Array& array, double factor) {
  for (T& x : array.Mutable<T>()) x *= static_cast<lapack::Real<T>>(factor);
}

}  // namespace

// dynamic_ducc_fft: (descriptor, x, sizes, strides, strides, scale) -> the transform of x, multiplied by scale. A last
// operand may have the sizes of the result.
Result<Value> DuccFft(Call& call) {
  const Shape& shape = call.hlo.shape();
  const bool has_count = call.operands.size() == 6 || call.operands.size() == 7;
  const bool are_arrays = has_count && std::all_of(call.operands.begin(), call.operands.end(),
                                                                   [](const Value& value) { return value.IsArray(); });
  if (!are_arrays || call.array(0).type() != ElementType::kU8 || !shape.IsArray()) return BadCall(call);
  const FftDescriptor descriptor = ReadDescriptor(call.array(0));
  const Array& x = call.array(1);
  const Array& scale = call.array(5);
  const bool is_scale = scale.count() == 1 && (scale.type() == ElementType::kF32 || scale.type() == ElementType::kF64);
  // The axes are the last ones, in order; the type is complex, complex to real, or real to complex.
  const auto count = std::ssize(descriptor.axes);
  bool are_last = count > 0 && count <= x.rank() && shape.rank() == x.rank() && is_scale;
  for (int64_t i = 0; are_last && i < count; ++i)
    are_last = descriptor.axes[static_cast<size_t>(i)] == x.rank() - count + i;
  const bool is_real = IsComplex(x.type()) != IsComplex(shape.element_type());
  if (!are_last || (descriptor.type != 0) != is_real || (!is_real && !IsComplex(x.type()))) return BadCall(call);
  const FftType type = !is_real              ? descriptor.forward ? FftType::kFft : FftType::kIfft
                       : IsComplex(x.type()) ? FftType::kIrfft
                                             : FftType::kRfft;
  // The transformed sizes are those of the real or complex signal: of the result if it is real, else of the operand.
  const Ints signal = type == FftType::kIrfft ? shape.dims() : x.dims();
  const Ints length = signal.subspan(signal.size() - static_cast<size_t>(count));
  Array out = Array::Zeros(shape.element_type(), shape.dims());
  for (int64_t i = 0; i < x.rank(); ++i)
    if (x.dim(i) != shape.dim(i) && (!is_real || i + 1 < x.rank())) return BadCall(call);
  const int64_t spectrum = length.back() / 2 + 1;
  if (is_real && (type == FftType::kRfft ? shape.dims().back() : x.dims().back()) != spectrum) return BadCall(call);
  if (out.count() == 0) return Value(std::move(out));
  TransformBatches(type, length, x, out);
  // XLA's inverse transforms divide by the number of elements.
  const bool inverse = type == FftType::kIfft || type == FftType::kIrfft;
  const double factor = (scale.type() == ElementType::kF32 ? scale.As<float>()[0] : scale.As<double>()[0]) *
                        (inverse ? static_cast<double>(ElementCount(length)) : 1);
  if (out.type() == ElementType::kF32) Scale<float>(out, factor);
  if (out.type() == ElementType::kF64) Scale<double>(out, factor);
  if (out.type() == ElementType::kC64) Scale<std::complex<float>>(out, factor);
  if (out.type() == ElementType::kC128) Scale<std::complex<double>>(out, factor);
  return Value(std::move(out));
}

}  // namespace shoal::internal
