// Arrays: from and to DLPack and NumPy, without copies where the layout allows.
#include <nanobind/ndarray.h>

#include "bindings.h"

using namespace nb::literals;
using shoal::Buffer;
using shoal::ElementType;

namespace {

using Code = nb::dlpack::dtype_code;

struct TypeRow {
  ElementType type;
  Code code;
  uint8_t bits;
};
constexpr TypeRow kTypes[] = {
    {ElementType::kPred, Code::Bool, 8},     {ElementType::kS8, Code::Int, 8},      {ElementType::kS16, Code::Int, 16},
    {ElementType::kS32, Code::Int, 32},      {ElementType::kS64, Code::Int, 64},    {ElementType::kU8, Code::UInt, 8},
    {ElementType::kU16, Code::UInt, 16},     {ElementType::kU32, Code::UInt, 32},   {ElementType::kU64, Code::UInt, 64},
    {ElementType::kF16, Code::Float, 16},    {ElementType::kBf16, Code::Bfloat, 16}, {ElementType::kF32, Code::Float, 32},
    {ElementType::kF64, Code::Float, 64},    {ElementType::kC64, Code::Complex, 64}, {ElementType::kC128, Code::Complex, 128},
};

// The type of an array; unsigned integers of the right size stand for types that DLPack does not know, such as f8.
ElementType TypeOf(const nb::dlpack::dtype& dtype, ElementType expected) {
  for (const TypeRow& row : kTypes)
    if (static_cast<uint8_t>(row.code) == dtype.code && row.bits == dtype.bits && dtype.lanes == 1)
      if (expected == ElementType::kInvalid || expected == row.type) return row.type;
  const bool is_bits = dtype.code == static_cast<uint8_t>(Code::UInt) && dtype.lanes == 1;
  if (is_bits && expected != ElementType::kInvalid && shoal::ElementBytes(expected) * 8 == dtype.bits) return expected;
  throw nb::type_error("the array does not have the element type of the parameter");
}

// `for_numpy`: NumPy does not know bf16, so its bits are returned as for f8.
nb::dlpack::dtype DtypeOf(ElementType type, bool for_numpy) {
  for (const TypeRow& row : kTypes)
    if (row.type == type && !(for_numpy && row.code == Code::Bfloat)) return {static_cast<uint8_t>(row.code), row.bits, 1};
  return {static_cast<uint8_t>(Code::UInt), static_cast<uint8_t>(8 * shoal::ElementBytes(type)), 1};
}

// Releases the array with the GIL, from whichever thread drops the last reference.
std::function<void()> ReleaserOf(nb::ndarray<nb::ro, nb::device::cpu> array) {
  auto held = std::make_shared<nb::ndarray<nb::ro, nb::device::cpu>>(std::move(array));
  return [held]() mutable {
    if (!Py_IsInitialized()) return;
    nb::gil_scoped_acquire acquire;
    held.reset();
  };
}

// A view of the memory. It is read-only, because the module, other results and runs may share the memory.
template <class Framework>
nb::ndarray<Framework, nb::ro> View(Buffer& buffer, nb::handle owner) {
  std::vector<size_t> dims(buffer.dims().begin(), buffer.dims().end());
  return nb::ndarray<Framework, nb::ro>(buffer.data(), dims.size(), dims.data(), owner, nullptr,
                                        DtypeOf(buffer.type(), std::is_same_v<Framework, nb::numpy>));
}

}  // namespace

Buffer ToBuffer(nb::handle object, ElementType expected) {
  if (Buffer* buffer = nb::inst_check(object) && nb::isinstance<Buffer>(object) ? nb::inst_ptr<Buffer>(object) : nullptr)
    return *buffer;
  nb::ndarray<nb::ro, nb::device::cpu> array;
  if (!nb::try_cast(object, array)) throw nb::type_error("expected an array in the memory of the host");
  const ElementType type = TypeOf(array.dtype(), expected);
  const auto item = static_cast<int64_t>(array.itemsize());
  std::vector<int64_t> dims, strides;
  for (size_t d = 0; d < array.ndim(); ++d) {
    dims.push_back(static_cast<int64_t>(array.shape(d)));
    strides.push_back(array.stride(d) * item);
  }
  return Unwrap(Buffer::Borrow(array.data(), type, std::move(dims), ReleaserOf(array), strides));
}

void BindBuffers(nb::module_& m) {
  nb::class_<Buffer>(m, "Array")
      .def_prop_ro("dtype", [](const Buffer& b) { return std::string(shoal::Name(b.type())); })
      .def_prop_ro("shape", [](const Buffer& b) {
        return nb::tuple(nb::cast(std::vector<int64_t>(b.dims().begin(), b.dims().end())));
      })
      .def_prop_ro("nbytes", &Buffer::bytes)
      .def("_bits", [](nb::handle_t<Buffer> self) {
        return View<nb::numpy>(*nb::inst_ptr<Buffer>(self), self);
      })
      .def("__dlpack__", [](nb::handle_t<Buffer> self, nb::kwargs) {
        return nb::cast(View<nb::array_api>(*nb::inst_ptr<Buffer>(self), self)).attr("__dlpack__")();
      })
      .def("__dlpack_device__", [](const Buffer&) { return nb::make_tuple(1, 0); });
}
