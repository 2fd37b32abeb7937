// Arrays: from and to the buffer protocol, DLPack and NumPy, without copies where the layout allows.
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

// The kind of element that a format of the struct module stands for; none for byte orders and types that shoal lacks.
std::optional<Code> CodeOf(std::string_view format) {
  if (!format.empty() && std::string_view("@=<|").find(format[0]) != std::string_view::npos) format.remove_prefix(1);
  if (format == "Zf" || format == "Zd") return Code::Complex;
  if (format.size() != 1) return std::nullopt;
  if (format == "?") return Code::Bool;
  if (std::string_view("bhilqn").find(format[0]) != std::string_view::npos) return Code::Int;
  if (std::string_view("BHILQN").find(format[0]) != std::string_view::npos) return Code::UInt;
  if (std::string_view("efd").find(format[0]) != std::string_view::npos) return Code::Float;
  return std::nullopt;
}

// The format for the buffer protocol; null for types that it lacks.
const char* FormatOf(ElementType type) {
  static const std::map<ElementType, const char*> formats = {
      {ElementType::kPred, "?"}, {ElementType::kS8, "b"},  {ElementType::kS16, "h"}, {ElementType::kS32, "i"},
      {ElementType::kS64, "q"},  {ElementType::kU8, "B"},  {ElementType::kU16, "H"}, {ElementType::kU32, "I"},
      {ElementType::kU64, "Q"},  {ElementType::kF16, "e"}, {ElementType::kF32, "f"}, {ElementType::kF64, "d"},
      {ElementType::kC64, "Zf"}, {ElementType::kC128, "Zd"}};
  const auto found = formats.find(type);
  return found == formats.end() ? nullptr : found->second;
}

// The memory of an object with the buffer protocol, which is faster than DLPack; none if that does not know its type.
std::optional<Buffer> FromBufferProtocol(nb::handle object, ElementType expected) {
  if (!PyObject_CheckBuffer(object.ptr())) return std::nullopt;
  auto release = [](Py_buffer* view) {
    if (Py_IsInitialized()) {
      nb::gil_scoped_acquire acquire;
      PyBuffer_Release(view);
    }
    delete view;
  };
  auto view = std::make_unique<Py_buffer>();
  if (PyObject_GetBuffer(object.ptr(), view.get(), PyBUF_FULL_RO) != 0) {
    PyErr_Clear();
    return std::nullopt;
  }
  std::unique_ptr<Py_buffer, decltype(release)> held(view.release(), release);
  const std::optional<Code> code = CodeOf(held->format == nullptr ? "B" : held->format);
  if (!code || (held->suboffsets != nullptr && held->ndim > 0)) return std::nullopt;
  const auto item = static_cast<uint8_t>(held->itemsize);
  const ElementType type = TypeOf({static_cast<uint8_t>(*code), static_cast<uint8_t>(8 * item), 1}, expected);
  const std::span<const int64_t> strides(held->strides, static_cast<size_t>(held->ndim));
  std::vector<int64_t> dims(held->shape, held->shape + held->ndim);
  Py_buffer* owned = held.get();
  auto borrowed = Buffer::Borrow(owned->buf, type, std::move(dims), [release, owned] { release(owned); }, strides);
  if (borrowed.ok()) held.release();
  return Unwrap(std::move(borrowed));
}

// What Array gives to the buffer protocol.
struct ExportedBuffer {
  std::vector<Py_ssize_t> shape, strides;
};

int GetBuffer(PyObject* self, Py_buffer* view, int flags) {
  Buffer& buffer = *nb::inst_ptr<Buffer>(self);
  const char* format = buffer.empty() ? nullptr : FormatOf(buffer.type());
  if (format == nullptr || (flags & PyBUF_WRITABLE) != 0) {
    PyErr_SetString(PyExc_BufferError, format == nullptr ? "the buffer protocol does not know the element type"
                                                         : "arrays of shoal are read-only");
    return -1;
  }
  auto exported = std::make_unique<ExportedBuffer>();
  exported->shape.assign(buffer.dims().begin(), buffer.dims().end());
  exported->strides.resize(exported->shape.size());
  Py_ssize_t stride = shoal::ElementBytes(buffer.type());
  *view = Py_buffer{};
  view->itemsize = stride;
  for (size_t d = exported->shape.size(); d-- > 0; stride *= exported->shape[d]) exported->strides[d] = stride;
  Py_INCREF(self);
  view->obj = self;
  view->buf = const_cast<void*>(buffer.data());
  view->len = static_cast<Py_ssize_t>(buffer.bytes());
  view->readonly = 1;
  view->ndim = static_cast<int>(exported->shape.size());
  view->format = (flags & PyBUF_FORMAT) != 0 ? const_cast<char*>(format) : nullptr;
  view->shape = exported->shape.data();
  view->strides = exported->strides.data();
  view->internal = exported.release();
  return 0;
}

void ReleaseBuffer(PyObject*, Py_buffer* view) { delete static_cast<ExportedBuffer*>(view->internal); }

PyType_Slot kArraySlots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(GetBuffer)},
                             {Py_bf_releasebuffer, reinterpret_cast<void*>(ReleaseBuffer)},
                             {0, nullptr}};

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
  if (std::optional<Buffer> buffer = FromBufferProtocol(object, expected)) return *buffer;
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
  nb::class_<Buffer>(m, "Array", nb::type_slots(kArraySlots))
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
