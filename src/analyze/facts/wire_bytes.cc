#include "analyze/facts/wire_bytes.h"

#include <algorithm>

#include "core/ir/sizes.h"
#include "core/ops/families.h"

namespace shoal::internal {
namespace {

// Returns the size of n - 1 of n equal parts of b bytes. Does not overflow, even for the sizes of a malicious file.
int64_t AllButOwn(int64_t b, int64_t n) { return static_cast<int64_t>(static_cast<__int128>(b) * (n - 1) / n); }

struct Formula {
  Opcode kind;
  int64_t (*direct)(const WireShare&);
  int64_t (*ring)(const WireShare&);
  double (*pair)(double payload, double members, int64_t from, int64_t to);
};

int64_t Gathered(const WireShare& s) { return SaturatingMul(s.payload, s.members - 1); }
int64_t Scattered(const WireShare& s) { return AllButOwn(s.payload, s.members); }
int64_t Reduced(const WireShare& s) { return AllButOwn(SaturatingMul(s.payload, 2), s.members); }
// Each member sends n - 1 parts of b / n bytes. On a ring, the average distance to the receiver is n / 2 links.
int64_t RingExchanged(const WireShare& s) { return SaturatingMul(s.payload, s.members - 1) / 2; }
int64_t Sent(const WireShare& s) { return s.payload - s.rooted; }
int64_t Collected(const WireShare& s) { return SaturatingMul(s.rooted, s.members - 1); }
// Partial sums move along the ring to the root. The member after the root only sends.
int64_t PassedToRoot(const WireShare& s) {
  if (s.members == 1) return 0;
  return s.position == 1 % s.members && s.rooted == 0 ? 0 : s.payload;
}

double Whole(double payload, double, int64_t, int64_t) { return payload; }
double Part(double payload, double members, int64_t, int64_t) { return payload / members; }
double PartTwice(double payload, double members, int64_t, int64_t) { return 2 * payload / members; }
double FromRoot(double payload, double, int64_t from, int64_t) { return from == 0 ? payload : 0; }
double ToRoot(double payload, double, int64_t, int64_t to) { return to == 0 ? payload : 0; }

constexpr Formula kFormulas[] = {
    {Opcode::kAllGather, Gathered, Gathered, Whole},
    {Opcode::kAllReduce, Reduced, Reduced, PartTwice},
    {Opcode::kAllToAll, Scattered, RingExchanged, Part},
    {Opcode::kCollectiveBroadcast, Sent, Sent, FromRoot},
    {Opcode::kCollectiveReduce, Collected, PassedToRoot, ToRoot},
    {Opcode::kRaggedAllToAll, Scattered, RingExchanged, Part},
    {Opcode::kReduceScatter, Scattered, Scattered, Part},
};

const Formula* Find(Opcode kind) {
  auto found = std::find_if(std::begin(kFormulas), std::end(kFormulas),
                            [&](const Formula& formula) { return formula.kind == kind; });
  return found == std::end(kFormulas) ? nullptr : found;
}

// Bytes of the first slice of each buffer that an in-place permute sends.
int64_t SliceBytes(const Instruction& permute) {
  if (permute.operand_count() == 0) return 0;
  const Shape& input = permute.operand_shape(0);
  const std::vector<const Shape*> buffers = input.IsTuple()
                                                ? std::vector(input.elements().begin(), input.elements().end())
                                                : std::vector<const Shape*>{&input};
  const IntLists slices = permute[kPermuteSliceSizes];
  const size_t per_buffer = std::max<size_t>(slices.size() / std::max<size_t>(buffers.size(), 1), 1);
  int64_t bytes = 0;
  for (size_t b = 0; b < buffers.size() && b * per_buffer < slices.size(); ++b) {
    int64_t size = buffers[b]->IsArray() ? StorageBytes(buffers[b]->element_type()) : 0;
    for (int64_t dim : slices[b * per_buffer]) size = SaturatingMul(size, std::max<int64_t>(dim, 0));
    bytes = SaturatingAdd(bytes, size);
  }
  return bytes;
}

// Number of data operands. The other operands are offsets, sizes or roots.
size_t DataOperands(const Instruction& hlo) {
  const size_t all = hlo.operand_count();
  if (hlo.opcode == Opcode::kRaggedAllToAll || hlo.opcode == Opcode::kSend) return std::min<size_t>(all, 1);
  return hlo[kHasDynamicRoot] && all > 0 ? all - 1 : all;
}

}  // namespace

int64_t DirectBytes(Opcode kind, const WireShare& share) {
  const Formula* formula = Find(kind);
  return formula == nullptr || share.members < 1 ? 0 : formula->direct(share);
}

int64_t RingBytes(Opcode kind, const WireShare& share) {
  const Formula* formula = Find(kind);
  return formula == nullptr || share.members < 1 ? 0 : formula->ring(share);
}

double PairBytes(Opcode kind, int64_t members, double payload, int64_t from, int64_t to) {
  const Formula* formula = Find(kind);
  if (formula == nullptr || members < 2 || from == to) return 0;
  return formula->pair(payload, static_cast<double>(members), from, to);
}

int64_t PayloadOf(const Instruction& hlo) {
  if (!hlo[kPermuteSliceSizes].empty()) return SliceBytes(hlo);
  if (hlo.opcode == Opcode::kRecv && !hlo.shape().elements().empty()) return HostBytesOf(hlo.shape().element(0));
  int64_t bytes = 0;
  for (size_t i = 0; i < DataOperands(hlo); ++i)
    bytes = SaturatingAdd(bytes, HostBytesOf(hlo.operand_shape(i)));
  return bytes;
}

}  // namespace shoal::internal
