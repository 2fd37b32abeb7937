// Prices of kernels on a GPU. Forms of section 3 and 4 of docs/time.md; constants of kernel_constants.def. Times in the
// formulas are microseconds.
#include <algorithm>
#include <cmath>

#include "analyze/cost/gpu_gemm_time.h"
#include "analyze/cost/kernel_time.h"
#include "core/base/strings.h"
#include "core/base/units.h"

namespace shoal::internal {
namespace {

// One kernel on one device: the rates its formula uses, and the terms that come together.
class GpuKernelTimer {
 public:
  GpuKernelTimer(const KernelDescriptor& kernel, const CacheTraffic& traffic, const Machine& machine)
      : kernel_(kernel), traffic_(traffic), device_(machine.device), c_(machine.kernels) {}

  KernelTime Time() {
    timing_.launches = kernel_.launches;
    timing_.flops = kernel_.flops;
    const double us = Microseconds();
    timing_.seconds = us * 1e-6;
    double most = -1;
    for (const TimeTerm& term : timing_.terms)
      if (term.seconds > most) most = term.seconds, timing_.bound = term.bound;
    return timing_;
  }

 private:
  double Microseconds() {
    switch (kernel_.family) {
      case KernelKind::kNothing: return 0;
      case KernelKind::kLoop: return Loop();
      case KernelKind::kRowReduce: return RowReduce();
      case KernelKind::kColumnReduce: return ColumnReduce();
      case KernelKind::kTranspose: return Transpose();
      case KernelKind::kTritonRow: return TritonRow();
      case KernelKind::kTritonColumn: return TritonColumn();
      case KernelKind::kGemm: return LibraryGemm();
      case KernelKind::kTritonGemm: return TiledGemm();
      case KernelKind::kCopy: return Start(c_.copy_start) + Memory();
      case KernelKind::kMemcpy: return Memcpy();
      case KernelKind::kScatter: return Scatter();
      case KernelKind::kAttention: return Attention();
      case KernelKind::kConvolution: return Convolution();
      case KernelKind::kRadixSort: return RadixSort();
      case KernelKind::kSort: return Sort();
      case KernelKind::kTopK: return TopK();
      case KernelKind::kHostCopy: return HostCopy();
      case KernelKind::kUnknownCall: return UnknownCall();
    }
    return 0;
  }

  double Term(Bound bound, double us, std::string from) {
    timing_.terms.push_back({bound, us * 1e-6, std::move(from)});
    return us;
  }
  double Start(double us) { return Term(Bound::kStart, us, "start of the kernel"); }
  // A rounded maximum: the longest of what overlaps, and a little of the rest.
  static double Soft(double a, double b, double c = 0, double power = 4) {
    return std::pow(std::pow(a, power) + std::pow(b, power) + std::pow(c, power), 1 / power);
  }

  double Cold() const { return traffic_.miss > 0 ? c_.cold : 0; }
  double ReadRate() const { return c_.read * device_.bandwidth * 1e-6; }  // bytes a microsecond

  // Reads and writes share the memory; turning from one to the other takes its time.
  double Memory(double efficiency = 1) {
    const double written = std::max(0.0, kernel_.written - traffic_.write_hit);
    const double bytes = traffic_.miss + written + c_.mix * std::min(traffic_.miss, written);
    const double memory = bytes / ReadRate() / efficiency;
    const double cached = traffic_.hit + traffic_.write_hit;
    const double cache = cached / (c_.cache_rate * device_.bandwidth * 1e-6) / efficiency;
    Term(Bound::kMemory, memory,
         StrCat(FormatSi(traffic_.miss), "B read and ", FormatSi(written), "B written at ", FormatSi(ReadRate() * efficiency * 1e6), "B/s"));
    if (cached > 0) Term(Bound::kCache, cache, StrCat(FormatSi(cached), "B in L2"));
    return memory + cache;
  }

  double Instructions(double share = 1) {
    const double rate = c_.issue * device_.cores * device_.lanes * device_.clock * 1e-6;
    return Term(Bound::kInstructions, share * kernel_.instructions / rate,
                StrCat(FormatSi(kernel_.instructions), " instructions"));
  }

  double Threads() const { return device_.cores * 2048; }

  double Dispatch(double elements) {
    // Four elements a thread where there are many, unless each is a sum of its own, of whole words.
    const bool sums = kernel_.reductions > 0 && kernel_.element_bytes >= 4 && kernel_.in_place < 0;
    const double blocks = std::ceil(elements / (elements >= Threads() && !sums ? 512 : 128));
    // A small grid begins and ends sooner.
    const double first = c_.first_wave * std::min(1.0, blocks / device_.cores);
    return Term(Bound::kBlocks, blocks / (c_.dispatch * device_.clock * 1e-6) + first, StrCat(blocks, " blocks of 128 threads"));
  }

  double Loop() {
    const double start = Start(c_.start + Cold());
    const double memory = Memory();
    const double blocks = Dispatch(kernel_.elements);
    const double busy = Soft(memory, blocks, Instructions());
    if (kernel_.window <= 1) return start + busy;
    // One after the other, in each thread.
    return start + Soft(busy, Term(Bound::kLatency, kernel_.window * c_.window_step, StrCat("windows of ", kernel_.window, " elements")));
  }

  double RowReduce() {
    const double start = Start(c_.row_start + Cold());
    const double memory = Memory();
    const double slots = Threads() / kernel_.threads;
    const double life = Term(Bound::kLatency,
                             kernel_.blocks / slots * c_.row_life +
                                 std::ceil(kernel_.blocks / slots) * kernel_.rounds * c_.row_step,
                             StrCat(kernel_.blocks, " blocks, ", FormatSi(kernel_.rounds), " rounds each"));
    return start + Soft(memory, life + Instructions());
  }

  double ColumnReduce() {
    const double start = Start(c_.column_start + Cold());
    const double memory = Memory();
    const double waves = std::ceil(kernel_.blocks / (2 * device_.cores));
    const double life = Term(Bound::kLatency, waves * kernel_.rounds * c_.column_step * (traffic_.miss > 0 ? 1.6 : 1),
                             StrCat(kernel_.blocks, " blocks, ", FormatSi(kernel_.rounds), " rounds each"));
    return start + Soft(memory, life, Instructions());
  }

  double Transpose() {
    const double start = Start(c_.transpose_start + Cold());
    const double memory = Memory(c_.transpose_rate);
    const double life = Term(Bound::kLatency, kernel_.blocks * kernel_.threads / Threads() * c_.transpose_life,
                             StrCat(kernel_.blocks, " blocks"));
    return start + Soft(memory, life, Instructions());
  }

  double TritonRow() {
    const double start = Start(c_.tile_start + c_.tile_reduce * kernel_.reductions + Cold());
    const double memory = Memory();
    if (kernel_.masked) {
      const bool both = kernel_.reductions > 1 && kernel_.written > kernel_.source_elements;
      const double each = both ? c_.tile_mask_both * (1 + .5 * std::max(0.0, kernel_.full_inputs - 1)) : c_.tile_mask;
      return start + std::max(memory, Term(Bound::kInstructions, kernel_.source_elements * each * 1e-6,
                                           "a mask broadcast over the tile"));
    }
    const double there = kernel_.blocks * kernel_.threads / Threads();
    const double per_thread = kernel_.source_elements / std::max(1.0, kernel_.blocks * kernel_.threads);
    const double waves = std::max(1.0, .5 * std::ceil(there) + .5 * there);
    const double life = Term(Bound::kLatency, waves * (c_.tile_life + c_.tile_step * per_thread),
                             StrCat(kernel_.blocks, " blocks, ", FormatSi(per_thread), " elements a thread"));
    return start + Soft(c_.tile_memory * memory, life, 0, c_.tile_power) + Instructions(c_.tile_issue);
  }

  double TritonColumn() {
    const double start = Start(c_.strip_start + Cold());
    // Less than a sector of 32 bytes a row wastes the rest of it.
    const double memory = Memory(1 / std::max(1.0, 32 / std::max(1.0, kernel_.contiguous)));
    const double per_thread = kernel_.source_elements / std::max(1.0, kernel_.blocks * kernel_.threads);
    const double life = Term(Bound::kLatency,
                             kernel_.blocks * kernel_.threads / Threads() * c_.strip_life + c_.strip_step * per_thread,
                             StrCat(kernel_.blocks, " blocks, ", FormatSi(per_thread), " elements a thread"));
    return start + Soft(memory, life);
  }

  double LibraryGemm() {
    const double start = Start(c_.product_start);
    const double memory = Memory();
    const LibraryTiles tiles = ChooseTiles(*kernel_.product, memory, device_, c_);
    Term(Bound::kMatrix, tiles.us, tiles.from);
    // The counter of tiles is cleared by a memset.
    const bool clears = tiles.count > device_.cores && kernel_.product->unit != MatrixUnit::kF32;
    if (clears) timing_.launches = 2;
    return start + tiles.with_memory + (clears ? .75 : 0);
  }

  double TiledGemm() {
    const double start = Start(c_.triton_start);
    const double memory = Memory();
    const TiledTime time = TimeOfTiles(kernel_, device_, c_);
    Term(Bound::kMatrix, time.compute, time.from);
    Term(Bound::kLatency, time.total - time.compute, "loads and stores of its blocks that no product hides");
    return start + Soft(time.total, memory, 0, c_.triton_power);
  }

  double Memcpy() {
    const double bytes = traffic_.hit + traffic_.miss + kernel_.written;
    return Start(c_.memcpy_start) + Term(Bound::kMemory, bytes / (c_.memcpy_rate * device_.bandwidth * 1e-6),
                                         StrCat(FormatSi(bytes), "B by the driver"));
  }

  double HostCopy() {
    const double bytes = std::max(kernel_.read(), kernel_.written);
    return Start(c_.memcpy_start) +
           Term(Bound::kHost, bytes / (device_.host_bandwidth * 1e-6), StrCat(FormatSi(bytes), "B over the host's link"));
  }

  // Updates are read; destinations are written, and read before where something is added. A destination that fits into
  // the cache stays there.
  double Scatter() {
    const double start = Start(c_.start + Cold());
    const double updates = kernel_.elements * kernel_.element_bytes;
    const double cache = c_.cache_rate * device_.bandwidth * 1e-6;
    const double there = kernel_.row_length < device_.cache * c_.cache_share ? cache : c_.scatter_rate * ReadRate();
    const double moves = Term(Bound::kMemory, updates / ReadRate() + (kernel_.fast_copy ? 1 : 2) * updates / there,
                              StrCat(FormatSi(updates), "B of updates into ", FormatSi(kernel_.row_length), "B"));
    const double blocks = Dispatch(kernel_.elements);
    if (!kernel_.cas) return start + Soft(moves, blocks);
    return start + std::max(moves, Term(Bound::kInstructions, kernel_.elements * c_.scatter_swap * 1e-6,
                                        "compare-and-swap of short elements"));
  }

  double Attention() {
    const AttentionShape& a = *kernel_.attention;
    const double start = Start(a.backward ? c_.attention_back_start : c_.attention_start);
    const double share = a.causal ? std::min(1.0, (a.keys + 128) / (2 * a.keys)) : 1;
    const double flops = 4 * a.batch * a.heads * a.queries * a.keys * a.head * share * (a.backward ? 2.5 : 1);
    const double rate = AttentionRate(a.head, a.backward, c_) * PeakOf(device_, MatrixUnit::kBf16) * 1e-6;
    const double matrix = Term(Bound::kMatrix, flops / rate, StrCat(FormatSi(flops), "flop at ", FormatSi(rate * 1e6), "flop/s"));
    return start + matrix + (a.backward ? Memory() : 0);
  }

  double Convolution() {
    const double start = Start(c_.convolution_start);
    const double memory = Memory();
    const double us = ConvolutionTime(kernel_, device_, c_);
    Term(Bound::kMatrix, us, StrCat(FormatSi(kernel_.flops), "flop"));
    return start + Soft(us, memory, 0, 3);
  }

  double RadixSort() {
    const double passes = kernel_.key_bytes;
    const double bytes = passes * 2 * (kernel_.key_bytes + kernel_.value_bytes) + kernel_.key_bytes;
    return Start(c_.radix_start) +
           Term(Bound::kInstructions, kernel_.elements * passes * c_.radix_key * 1e-6, StrCat(passes, " passes of 8 bits")) +
           Term(Bound::kMemory, kernel_.elements * bytes / ReadRate(), "keys and values, each pass");
  }

  // A bitonic sort. Tiles of 2^12 are sorted in shared memory; a level beyond that takes one pass through memory for
  // each distance longer than a tile, and one that merges within tiles.
  double Sort() {
    const double levels = std::ceil(std::log2(std::max(2.0, kernel_.row_length)));
    const double inside = std::min(levels, 12.0), outside = levels - inside;
    const double passes = outside * (outside + 1) / 2, stages = inside * (inside + 1) / 2;
    timing_.launches = static_cast<int>(2 + passes + outside);
    const double padded = kernel_.rows * std::exp2(levels);
    const double bytes = kernel_.key_bytes + kernel_.value_bytes;
    const double start = Term(Bound::kStart, c_.start * timing_.launches, StrCat(timing_.launches, " kernels"));
    const double chain = (stages + outside * inside) * c_.sort_latency;
    const double copy = 2 * kernel_.rows * kernel_.row_length * kernel_.key_bytes / (c_.memcpy_rate * device_.bandwidth * 1e-6);
    const double compare = Term(Bound::kInstructions,
                                std::max(chain, padded * (stages + 1.4 * outside * inside) * c_.sort_step * 1e-6),
                                StrCat(stages + outside * inside, " stages in tiles"));
    return start + compare + Term(Bound::kMemory, copy + passes * padded * bytes * 2 / ReadRate(), StrCat(passes, " passes through memory"));
  }

  double TopK() {
    const double waves = std::ceil(kernel_.rows / device_.cores);
    return Start(c_.start) + Term(Bound::kInstructions, waves * kernel_.row_length * c_.top_k_step * 1e-3,
                                  StrCat(kernel_.rows, " rows, a block each"));
  }

  double UnknownCall() {
    const double start = Start(c_.product_start);
    const double memory = Memory();
    const double matrix = kernel_.flops / (c_.product_bf16 * PeakOf(device_, MatrixUnit::kBf16) * 1e-6);
    if (kernel_.flops > 0) Term(Bound::kMatrix, matrix, StrCat(FormatSi(kernel_.flops), "flop"));
    return start + Soft(memory, matrix);
  }

  const KernelDescriptor& kernel_;
  const CacheTraffic& traffic_;
  const DeviceModel& device_;
  const KernelConstants& c_;
  KernelTime timing_;
};

}  // namespace

KernelTime GpuKernelTime(const KernelDescriptor& kernel, const CacheTraffic& traffic, const Machine& machine) {
  return GpuKernelTimer(kernel, traffic, machine).Time();
}

}  // namespace shoal::internal
