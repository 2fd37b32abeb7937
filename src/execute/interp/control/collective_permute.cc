// collective-permute: each device sends its operands to its targets and waits only for the source that sends to it.
#include <algorithm>

#include "execute/interp/control/device_collective.h"
#include "kernels/arrays/slice_offsets.h"

namespace shoal::internal {
namespace {

// For each route from this device, sends slice `slice_index` with `bytes` bytes. Returns the pending receives.
template <class Slice>
Result<std::shared_ptr<Pending>> SendSlices(Call& call, int64_t bytes, Slice slice) {
  CollectiveRuntime& world = call.device.world();
  SHOAL_ASSIGN(routes, world.RoutesOf(call.hlo));
  const auto device = static_cast<size_t>(call.device.id());
  auto pending = std::make_shared<Pending>();
  for (const Route* route : routes->from[device]) {
    Arrays sent = slice(route->source_index);
    UnchargeFromDevice(sent);
    world.Deliver(call.hlo, *route, std::move(sent));
  }
  int64_t wire = 0;
  for (const Route* route : routes->to[device]) {
    pending->handles.push_back(world.Expect(call.hlo, *route));
    if (route->source != route->target) wire += bytes;
  }
  world.Count(call.device.id(), call.hlo.opcode, {1, std::ssize(routes->from[device]) * bytes, wire});
  return pending;
}

Result<Value> BeginWhole(Call& call) {
  Arrays own = TakeArrays(call);
  SHOAL_ASSIGN(pending, SendSlices(call, TotalBytes(own), [&](int64_t) { return own; }));
  const Shape& shape = ResultShape(call.hlo);
  if (!pending->handles.empty()) {
    pending->assemble = [&shape](std::vector<Arrays> received) -> Result<Value> {
      return FromArrays(shape, std::move(received[0]));
    };
  } else {  // no device sends to this one: zeros with the sizes of its own operands
    std::vector<Dims> sizes;
    for (const Array& array : own) sizes.push_back(ToDims(array.dims()));
    pending->assemble = [&shape, &hlo = call.hlo, sizes](const std::vector<Arrays>&) -> Result<Value> {
      Arrays zeros;
      for (size_t i = 0; i < sizes.size(); ++i)
        zeros.push_back(Array::Zeros(hlo.operand_shape(i).element_type(), AsInts(sizes[i])));
      return FromArrays(shape, std::move(zeros));
    };
  }
  return Value::Pending(std::move(pending));
}

// The buffers of an operand: the array itself, or the elements of a tuple.
std::vector<Value> BuffersOf(const Value& value) {
  return value.IsTuple() ? value.elements() : std::vector<Value>{value};
}

// An in-place permute with operands (input, output, input offsets, output offsets). When a device is a source for the
// k-th time in source_target_pairs, it sends slice k of its input. When it is a target for the k-th time, it writes at
// output offset k. Each operand may be a tuple with one element per buffer. slice_sizes lists buffer 0 first.
struct InPlacePermute {
  InPlacePermute(const Instruction& hlo, std::span<const Value> operands) : hlo(hlo) {
    input = BuffersOf(operands[0]);
    output = BuffersOf(operands[1]);
    const bool is_tuple = operands[0].IsTuple();
    from = is_tuple ? BuffersOf(operands[2]) : std::vector<Value>{operands[2]};
    to = is_tuple ? BuffersOf(operands[3]) : std::vector<Value>{operands[3]};
  }

  Status Check() const {
    bool fits = !input.empty();
    for (const auto* each : {&output, &from, &to}) fits = fits && each->size() == input.size();
    for (size_t b = 0; fits && b < input.size(); ++b)
      fits = input[b].IsArray() && output[b].IsArray() && input[b].array().type() == output[b].array().type() &&
             AreSliceOffsets(from[b], input[b].array().rank()) && AreSliceOffsets(to[b], output[b].array().rank());
    if (fits) return {};
    return ExecutionError(hlo, "each input must have an output of its type, and offsets into both: "
                               "a tuple of scalars, or a tuple of such tuples");
  }

  Result<Dims> SliceSizes(size_t buffer, int64_t slice_index) const {
    const IntLists all = hlo[kPermuteSliceSizes];
    const size_t slices = std::max<size_t>(all.size() / input.size(), 1);
    const size_t i = buffer * slices + std::min(static_cast<size_t>(slice_index), slices - 1);
    const Array &in = input[buffer].array(), &out = output[buffer].array();
    bool fits = i < all.size() && std::ssize(all[i]) == in.rank() && in.rank() == out.rank();
    for (size_t d = 0; fits && d < all[i].size(); ++d)
      fits = all[i][d] >= 0 && all[i][d] <= in.dims()[d] && all[i][d] <= out.dims()[d];
    if (fits) return ToDims(all[i]);
    return ExecutionError(hlo, StrCat("slice_sizes must fit into ", ToString(in), " and ", ToString(out)));
  }

  const Instruction& hlo;
  std::vector<Value> input, output, from, to;
};

Result<Value> BeginInPlace(Call& call) {
  auto in_place = std::make_shared<InPlacePermute>(call.hlo, call.operands);
  SHOAL_TRY(in_place->Check());
  const auto buffers = in_place->input.size();
  int64_t bytes = 0;  // bytes of the first slice; in known modules, all slices of a buffer have the same size
  for (int64_t slice_index = 0; slice_index < std::ssize(call.hlo[kPermuteSliceSizes]); ++slice_index) {
    for (size_t b = 0; b < buffers; ++b) {
      SHOAL_ASSIGN(sizes, in_place->SliceSizes(b, slice_index));
      if (slice_index == 0) bytes += ElementCount(AsInts(sizes)) * in_place->input[b].array().element_bytes();
    }
  }
  SHOAL_ASSIGN(pending, SendSlices(call, bytes, [&](int64_t slice_index) {
                 Arrays slices;
                 for (size_t b = 0; b < buffers; ++b) {
                   const Array& in = in_place->input[b].array();
                   const Dims sizes = *in_place->SliceSizes(b, slice_index);
                   slices.push_back(Gathered(in, sizes, SliceBox(in, AsInts(sizes), in_place->from[b], slice_index)));
                 }
                 return slices;
               }));
  in_place->input.clear();
  const bool tuple = ResultShape(call.hlo).IsTuple();
  pending->assemble = [in_place, tuple](std::vector<Arrays> received) -> Result<Value> {
    for (size_t slice_index = 0; slice_index < received.size(); ++slice_index) {
      for (size_t b = 0; b < received[slice_index].size(); ++b) {
        Array& out = in_place->output[b].array();
        const Array& slice = received[slice_index][b];
        CopyStrided(slice.dims(), out.element_bytes(), out.mutable_data(),
                    SliceBox(out, slice.dims(), in_place->to[b], static_cast<int64_t>(slice_index)), slice.data(),
                    {0, RowMajorStrides(slice.dims())});
      }
    }
    if (!tuple) return in_place->output[0];
    return Value::Tuple(in_place->output);
  };
  return Value::Pending(std::move(pending));
}

}  // namespace

Result<Value> BeginCollectivePermute(Call& call) {
  return call.hlo[kPermuteSliceSizes].empty() ? BeginWhole(call) : BeginInPlace(call);
}

}  // namespace shoal::internal
