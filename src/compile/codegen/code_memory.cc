#include "compile/codegen/code_memory.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <complex>
#include <cstring>
#include <new>
#include <string_view>

#include "kernels/elementwise/numbers.h"

namespace shoal::internal {
namespace {

struct LibraryEntry {
  std::string_view name;
  void* address;
};

using Unary = double (*)(double);
using Binary = double (*)(double, double);

// The functions that ComplexBuilder::CallLibrary calls. Each argument and the result are the real parts of all lanes,
// followed by the imaginary parts.
template <class T, auto f>
void ApplyToLanes(const double* in, double* out, int64_t lanes) {
  using Part = typename T::value_type;
  Numbers numbers;
  auto argument = [&](int64_t number, int64_t lane) {
    const double* parts = in + 2 * lanes * number + lane;
    return T(static_cast<Part>(parts[0]), static_cast<Part>(parts[lanes]));
  };
  for (int64_t i = 0; i < lanes; ++i) {
    std::complex<double> result;
    if constexpr (requires { f(numbers, T(), T()); })
      result = static_cast<std::complex<double>>(f(numbers, argument(0, i), argument(1, i)));
    else
      result = static_cast<std::complex<double>>(f(numbers, argument(0, i)));
    out[i] = result.real();
    out[lanes + i] = result.imag();
  }
}

using PairFunction = void (*)(const double*, double*, int64_t);
struct ComplexEntry {
  std::string_view name;
  PairFunction c64, c128;
};

// Arithmetic uses the type itself; other functions of c64 are computed in f64, as in the interpreter.
void* ComplexLibraryFunction(std::string_view name) {
  using C64 = std::complex<float>;
  using C128 = std::complex<double>;
#define ROW(name, Narrow, f) {name, &ApplyToLanes<Narrow, f>, &ApplyToLanes<C128, f>}
#define UNARY(name, F) ROW(name, C128, ([](Numbers& b, auto x) { return b.F(x); }))
#define BINARY(name, Narrow, F) ROW(name, Narrow, ([](Numbers& b, auto x, auto y) { return b.F(x, y); }))
  static const ComplexEntry kFunctions[] = {
      BINARY("multiply", C64, Multiply), BINARY("divide", C64, Divide), BINARY("power", C128, Power), BINARY("atan2", C128, Atan2),
      UNARY("abs", Abs),     UNARY("exp", Exp),     UNARY("log", Log),     UNARY("sqrt", Sqrt),   UNARY("rsqrt", Rsqrt),
      UNARY("expm1", Expm1), UNARY("log1p", Log1p), UNARY("acos", Acos),   UNARY("acosh", Acosh), UNARY("asin", Asin),
      UNARY("asinh", Asinh), UNARY("atanh", Atanh), UNARY("cos", Cos),     UNARY("cosh", Cosh),   UNARY("sin", Sin),
      UNARY("sinh", Sinh),   UNARY("tan", Tan),     UNARY("tanh", Tanh)};
#undef UNARY
#undef BINARY
#undef ROW
  for (const auto& [prefix, is_wide] : {std::pair<std::string_view, bool>("shoal_c64_", false), {"shoal_c128_", true}}) {
    if (!name.starts_with(prefix)) continue;
    for (const ComplexEntry& entry : kFunctions)
      if (entry.name == name.substr(prefix.size())) return reinterpret_cast<void*>(is_wide ? entry.c128 : entry.c64);
  }
  return nullptr;
}

// The functions that VectorBuilder::Call calls.
void* LibraryFunction(std::string_view name) {
#define UNARY(f) {"shoal_" #f, reinterpret_cast<void*>(static_cast<Unary>(&std::f))}
#define BINARY(f) {"shoal_" #f, reinterpret_cast<void*>(static_cast<Binary>(&std::f))}
  static const LibraryEntry kFunctions[] = {
      UNARY(acos), UNARY(acosh), UNARY(asin),  UNARY(asinh), UNARY(atanh), UNARY(cbrt),   UNARY(cos),
      UNARY(cosh), UNARY(erf),   UNARY(exp),   UNARY(expm1), UNARY(log),   UNARY(log1p),  UNARY(sin),
      UNARY(sinh), UNARY(tan),   UNARY(tanh),  BINARY(atan2), BINARY(fmod), BINARY(pow)};
#undef UNARY
#undef BINARY
  for (const LibraryEntry& entry : kFunctions)
    if (entry.name == name) return entry.address;
  return ComplexLibraryFunction(name);
}

size_t WholePages(size_t bytes) {
  static const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) / page * page;
}

}  // namespace

CodeMemory::~CodeMemory() {
  for (const Mapping& mapping : mappings_) munmap(mapping.begin, mapping.size);
}

void CodeMemory::reserveAllocationSpace(uintptr_t code_size, llvm::Align code_align, uintptr_t constants_size,
                                        llvm::Align constants_align, uintptr_t data_size, llvm::Align data_align) {
  // The linker's sizes do not include the padding that aligning the first section may add.
  const size_t sizes[] = {WholePages(code_size + code_align.value()), WholePages(constants_size + constants_align.value()),
                          WholePages(data_size + data_align.value())};
  static constexpr int kProtections[] = {PROT_READ | PROT_EXEC, PROT_READ, PROT_READ | PROT_WRITE};
  const size_t all = sizes[0] + sizes[1] + sizes[2];
  void* begin = mmap(nullptr, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (begin == MAP_FAILED) throw std::bad_alloc();
  mappings_.push_back({begin, all});
  auto* at = static_cast<std::byte*>(begin);
  for (size_t i = 0; i < 3; ++i) {
    parts_.push_back({at, sizes[i], 0, kProtections[i]});
    at += sizes[i];
  }
}

uint8_t* CodeMemory::Take(Part& part, size_t size, size_t align) {
  align = std::max<size_t>(align, 16);
  const size_t begin = (part.used + align - 1) / align * align;
  if (begin + size > part.size) return nullptr;
  part.used = begin + size;
  return reinterpret_cast<uint8_t*>(part.begin + begin);
}

uint8_t* CodeMemory::allocateCodeSection(uintptr_t size, unsigned align, unsigned, llvm::StringRef) {
  return Take(parts_[parts_.size() - 3], size, align);
}

uint8_t* CodeMemory::allocateDataSection(uintptr_t size, unsigned align, unsigned, llvm::StringRef, bool is_constant) {
  return Take(parts_[parts_.size() - (is_constant ? 2 : 1)], size, align);
}

bool CodeMemory::finalizeMemory(std::string* error) {
  for (const Part& part : parts_) {
    if (mprotect(part.begin, part.size, part.protection) == 0) continue;
    if (error != nullptr) *error = std::strerror(errno);
    return true;
  }
  return false;
}

uint64_t CodeMemory::getSymbolAddress(const std::string& name) {
  if (void* function = LibraryFunction(name)) return reinterpret_cast<uint64_t>(function);
  return reinterpret_cast<uint64_t>(dlsym(RTLD_DEFAULT, name.c_str()));
}

}  // namespace shoal::internal
