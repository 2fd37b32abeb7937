// collective-permute: each device hands its operands to its targets and waits for its own source alone.
#include <algorithm>

#include "execute/interp/control/device_collective.h"
#include "kernels/arrays/slice_offsets.h"

namespace shoal::internal {
namespace {

// Sends slice number `turn` each time the device is a source; what is to come is under way. Every slice has so many
// bytes.
template <class Slice>
Result<std::shared_ptr<Pending>> Dispatch(Call& call, int64_t bytes, Slice slice) {
  CollectiveRuntime& world = call.device.world();
  SHOAL_ASSIGN(routes, world.RoutesOf(call.hlo));
  const auto device = static_cast<size_t>(call.device.id());
  auto pending = std::make_shared<Pending>();
  for (const Route* route : routes->from[device]) {
    Arrays sent = slice(route->source_turn);
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
  SHOAL_ASSIGN(pending, Dispatch(call, TotalBytes(own), [&](int64_t) { return own; }));
  const Shape& shape = ResultShape(call.hlo);
  if (!pending->handles.empty()) {
    pending->assemble = [&shape](std::vector<Arrays> came) -> Result<Value> {
      return FromArrays(shape, std::move(came[0]));
    };
  } else {  // zeros where nobody sends, of the sizes the device's own operands have
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

// The buffers of an operand that is an array or a tuple of arrays.
std::vector<Value> BuffersOf(const Value& value) {
  return value.IsTuple() ? value.elements() : std::vector<Value>{value};
}

// A permute in place: operands (input, output, input offsets, output offsets). A device that is a source for the k-th
// time in source_target_pairs sends slice k of its input; one that is a target for the k-th time writes at offset k of
// its output. Each operand may be a tuple, one element per buffer; slice_sizes lists the slices of buffer 0 first.
struct InPlace {
  InPlace(const Instruction& hlo, std::span<const Value> operands) : hlo(hlo) {
    input = BuffersOf(operands[0]);
    output = BuffersOf(operands[1]);
    const bool many = operands[0].IsTuple();
    from = many ? BuffersOf(operands[2]) : std::vector<Value>{operands[2]};
    to = many ? BuffersOf(operands[3]) : std::vector<Value>{operands[3]};
  }

  Status Check() const {
    bool fits = !input.empty();
    for (const auto* each : {&output, &from, &to}) fits = fits && each->size() == input.size();
    for (size_t b = 0; fits && b < input.size(); ++b)
      fits = input[b].IsArray() && output[b].IsArray() && input[b].array().type() == output[b].array().type() &&
             AreSliceOffsets(from[b], input[b].array().rank()) && AreSliceOffsets(to[b], output[b].array().rank());
    if (fits) return {};
    return ExecutionError(hlo, "each input needs an output of its type, and offsets into both: scalars in a tuple, or such tuples");
  }

  Result<Dims> SliceSizes(size_t buffer, int64_t turn) const {
    const IntLists all = hlo[kPermuteSliceSizes];
    const size_t slices = std::max<size_t>(all.size() / input.size(), 1);
    const size_t i = buffer * slices + std::min(static_cast<size_t>(turn), slices - 1);
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
  auto in_place = std::make_shared<InPlace>(call.hlo, call.operands);
  SHOAL_TRY(in_place->Check());
  const auto buffers = in_place->input.size();
  int64_t bytes = 0;  // of the first slice, since all of a buffer have one size wherever this is used
  for (int64_t turn = 0; turn < std::ssize(call.hlo[kPermuteSliceSizes]); ++turn) {
    for (size_t b = 0; b < buffers; ++b) {
      SHOAL_ASSIGN(sizes, in_place->SliceSizes(b, turn));
      if (turn == 0) bytes += ElementCount(AsInts(sizes)) * in_place->input[b].array().element_bytes();
    }
  }
  SHOAL_ASSIGN(pending, Dispatch(call, bytes, [&](int64_t turn) {
                 Arrays slices;
                 for (size_t b = 0; b < buffers; ++b) {
                   const Array& in = in_place->input[b].array();
                   const Dims sizes = *in_place->SliceSizes(b, turn);
                   slices.push_back(Gathered(in, sizes, BoxIn(in, AsInts(sizes), in_place->from[b], turn)));
                 }
                 return slices;
               }));
  in_place->input.clear();
  const bool tuple = ResultShape(call.hlo).IsTuple();
  pending->assemble = [in_place, tuple](std::vector<Arrays> came) -> Result<Value> {
    for (size_t turn = 0; turn < came.size(); ++turn) {
      for (size_t b = 0; b < came[turn].size(); ++b) {
        Array& out = in_place->output[b].array();
        const Array& slice = came[turn][b];
        CopyStrided(slice.dims(), out.element_bytes(), out.mutable_data(),
                    BoxIn(out, slice.dims(), in_place->to[b], static_cast<int64_t>(turn)), slice.data(),
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
