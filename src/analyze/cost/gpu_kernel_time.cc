// Times of kernels on a GPU. Section 3 of docs/time.md describes the formulas. Their times are in microseconds.
#include <algorithm>
#include <cmath>

#include "analyze/cost/gpu_gemm_time.h"
#include "analyze/cost/kernel_time.h"
#include "core/base/strings.h"
#include "core/base/units.h"

namespace shoal::internal {
namespace {

// Evaluates the time formula of a kernel on a device and collects the terms of the formula.
class GpuKernelTimer {
 public:
  GpuKernelTimer(const KernelDescriptor& kernel, const CacheTraffic& traffic, const Machine& machine)
      : kernel_(kernel), traffic_(traffic), device_(machine.device), c_(machine.kernels) {}

  KernelTime Time() {
    timing_.launches = kernel_.launches;
    timing_.flops = kernel_.flops;
    const double us = Microseconds();
    timing_.seconds = us * 1e-6;
    double longest = -1;
    for (const TimeTerm& term : timing_.terms)
      if (term.seconds > longest) longest = term.seconds, timing_.bound = term.bound;
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
  // A smooth maximum of overlapping times: the longest time plus a small part of the others.
  static double Overlapped(double a, double b, double c = 0, double power = 4) {
    return std::pow(std::pow(a, power) + std::pow(b, power) + std::pow(c, power), 1 / power);
  }

  double Cold() const { return traffic_.miss > 0 ? c_.cold : 0; }
  double ReadRate() const { return c_.read * device_.bandwidth * 1e-6; }  // bytes per microsecond

  // Reads and writes share the memory bandwidth. Alternation between reads and writes takes extra time.
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

  double ResidentThreads() const { return device_.cores * 2048; }

  double Dispatch(double elements) {
    // In a large loop, each thread computes four elements, unless the loop reduces to elements of at least four bytes.
    const bool reduces = kernel_.reductions > 0 && kernel_.element_bytes >= 4 && kernel_.in_place < 0;
    const double blocks = std::ceil(elements / (elements >= ResidentThreads() && !reduces ? 512 : 128));
    // A small grid starts and ends faster.
    const double first = c_.first_wave * std::min(1.0, blocks / device_.cores);
    return Term(Bound::kBlocks, blocks / (c_.dispatch * device_.clock * 1e-6) + first, StrCat(blocks, " blocks of 128 threads"));
  }

  double Loop() {
    const double start = Start(c_.start + Cold());
    const double memory = Memory();
    const double blocks = Dispatch(kernel_.elements);
    const double busy = Overlapped(memory, blocks, Instructions());
    if (kernel_.window <= 1) return start + busy;
    // Each thread processes the elements of its window in sequence.
    return start + Overlapped(busy, Term(Bound::kLatency, kernel_.window * c_.window_step, StrCat("windows of ", kernel_.window, " elements")));
  }

  double RowReduce() {
    const double start = Start(c_.row_start + Cold());
    const double memory = Memory();
    const double resident_blocks = ResidentThreads() / kernel_.threads;
    const double lifetimes = Term(Bound::kLatency,
                                  kernel_.blocks / resident_blocks * c_.row_life +
                                      std::ceil(kernel_.blocks / resident_blocks) * kernel_.rounds * c_.row_step,
                                  StrCat(kernel_.blocks, " blocks, ", FormatSi(kernel_.rounds), " iterations each"));
    return start + Overlapped(memory, lifetimes + Instructions());
  }

  double ColumnReduce() {
    const double start = Start(c_.column_start + Cold());
    const double memory = Memory();
    const double waves = std::ceil(kernel_.blocks / (2 * device_.cores));
    const double lifetimes = Term(Bound::kLatency, waves * kernel_.rounds * c_.column_step * (traffic_.miss > 0 ? 1.6 : 1),
                                  StrCat(kernel_.blocks, " blocks, ", FormatSi(kernel_.rounds), " iterations each"));
    return start + Overlapped(memory, lifetimes, Instructions());
  }

  double Transpose() {
    const double start = Start(c_.transpose_start + Cold());
    const double memory = Memory(c_.transpose_rate);
    const double lifetimes = Term(Bound::kLatency, kernel_.blocks * kernel_.threads / ResidentThreads() * c_.transpose_life,
                                  StrCat(kernel_.blocks, " blocks"));
    return start + Overlapped(memory, lifetimes, Instructions());
  }

  double TritonRow() {
    const double start = Start(c_.tile_start + c_.tile_reduce * kernel_.reductions + Cold());
    const double memory = Memory();
    if (kernel_.masked) {
      const bool both = kernel_.reductions > 1 && kernel_.written > kernel_.source_elements;
      const double element_ps = both ? c_.tile_mask_both * (1 + .5 * std::max(0.0, kernel_.full_inputs - 1)) : c_.tile_mask;
      return start + std::max(memory, Term(Bound::kInstructions, kernel_.source_elements * element_ps * 1e-6,
                                           "a mask broadcast over the tile"));
    }
    const double full_waves = kernel_.blocks * kernel_.threads / ResidentThreads();
    const double per_thread = kernel_.source_elements / std::max(1.0, kernel_.blocks * kernel_.threads);
    const double waves = std::max(1.0, .5 * std::ceil(full_waves) + .5 * full_waves);
    const double lifetimes = Term(Bound::kLatency, waves * (c_.tile_life + c_.tile_step * per_thread),
                                  StrCat(kernel_.blocks, " blocks, ", FormatSi(per_thread), " elements per thread"));
    return start + Overlapped(c_.tile_memory * memory, lifetimes, 0, c_.tile_power) + Instructions(c_.tile_issue);
  }

  double TritonColumn() {
    const double start = Start(c_.strip_start + Cold());
    // A row shorter than a sector (32 bytes) wastes the rest of the sector.
    const double memory = Memory(1 / std::max(1.0, 32 / std::max(1.0, kernel_.contiguous)));
    const double per_thread = kernel_.source_elements / std::max(1.0, kernel_.blocks * kernel_.threads);
    const double lifetimes = Term(Bound::kLatency,
                                  kernel_.blocks * kernel_.threads / ResidentThreads() * c_.strip_life + c_.strip_step * per_thread,
                                  StrCat(kernel_.blocks, " blocks, ", FormatSi(per_thread), " elements per thread"));
    return start + Overlapped(memory, lifetimes);
  }

  double LibraryGemm() {
    const double start = Start(c_.product_start);
    const double memory = Memory();
    const LibraryTiles tiles = ChooseTiles(*kernel_.product, memory, device_, c_);
    Term(Bound::kMatrix, tiles.us, tiles.from);
    // If there are more tiles than cores, the kernel needs a tile counter, which a memset clears.
    const bool clears_counter = tiles.count > device_.cores && kernel_.product->unit != MatrixUnit::kF32;
    if (clears_counter) timing_.launches = 2;
    return start + tiles.with_memory + (clears_counter ? .75 : 0);
  }

  double TiledGemm() {
    const double start = Start(c_.triton_start);
    const double memory = Memory();
    const TiledTime time = TiledGemmTime(kernel_, device_, c_);
    Term(Bound::kMatrix, time.compute, time.from);
    Term(Bound::kLatency, time.total - time.compute, "loads and stores that multiplication does not hide");
    return start + Overlapped(time.total, memory, 0, c_.triton_power);
  }

  double Memcpy() {
    const double bytes = traffic_.hit + traffic_.miss + kernel_.written;
    return Start(c_.memcpy_start) + Term(Bound::kMemory, bytes / (c_.memcpy_rate * device_.bandwidth * 1e-6),
                                         StrCat(FormatSi(bytes), "B copied by the driver"));
  }

  double HostCopy() {
    const double bytes = std::max(kernel_.read(), kernel_.written);
    return Start(c_.memcpy_start) +
           Term(Bound::kHost, bytes / (device_.host_bandwidth * 1e-6), StrCat(FormatSi(bytes), "B over the host link"));
  }

  // A scatter reads its updates and writes its destination. If it adds, it also reads the destination. A destination
  // that fits into the cache stays in the cache.
  double Scatter() {
    const double start = Start(c_.start + Cold());
    const double updates = kernel_.elements * kernel_.element_bytes;
    const double cache = c_.cache_rate * device_.bandwidth * 1e-6;
    const double destination_rate = kernel_.row_length < device_.cache * c_.cache_share ? cache : c_.scatter_rate * ReadRate();
    const double memory = Term(Bound::kMemory, updates / ReadRate() + (kernel_.fast_copy ? 1 : 2) * updates / destination_rate,
                               StrCat(FormatSi(updates), "B of updates into ", FormatSi(kernel_.row_length), "B"));
    const double blocks = Dispatch(kernel_.elements);
    if (!kernel_.cas) return start + Overlapped(memory, blocks);
    return start + std::max(memory, Term(Bound::kInstructions, kernel_.elements * c_.scatter_swap * 1e-6,
                                         "compare-and-swap of elements under four bytes"));
  }

  double Attention() {
    const AttentionShape& a = *kernel_.attention;
    const double start = Start(a.backward ? c_.attention_back_start : c_.attention_start);
    const double share = a.causal ? std::min(1.0, (a.keys + 128) / (2 * a.keys)) : 1;
    const double flops = 4 * a.batch * a.heads * a.queries * a.keys * a.head * share * (a.backward ? 2.5 : 1);
    const double rate = AttentionEfficiency(a.head, a.backward, c_) * PeakOf(device_, MatrixUnit::kBf16) * 1e-6;
    const double matrix = Term(Bound::kMatrix, flops / rate, StrCat(FormatSi(flops), "flop at ", FormatSi(rate * 1e6), "flop/s"));
    return start + matrix + (a.backward ? Memory() : 0);
  }

  double Convolution() {
    const double start = Start(c_.convolution_start);
    const double memory = Memory();
    const double us = ConvolutionMicroseconds(kernel_, device_, c_);
    Term(Bound::kMatrix, us, StrCat(FormatSi(kernel_.flops), "flop"));
    return start + Overlapped(us, memory, 0, 3);
  }

  double RadixSort() {
    const double passes = kernel_.key_bytes;
    const double bytes = passes * 2 * (kernel_.key_bytes + kernel_.value_bytes) + kernel_.key_bytes;
    return Start(c_.radix_start) +
           Term(Bound::kInstructions, kernel_.elements * passes * c_.radix_key * 1e-6, StrCat(passes, " passes of 8 bits")) +
           Term(Bound::kMemory, kernel_.elements * bytes / ReadRate(), "keys and values, in each pass");
  }

  // Models a bitonic sort. First, tiles of 2^12 elements are sorted in shared memory. Then each merge level takes one
  // pass through memory per stride that exceeds a tile, and a last pass that merges within tiles.
  double Sort() {
    const double levels = std::ceil(std::log2(std::max(2.0, kernel_.row_length)));
    const double tile_levels = std::min(levels, 12.0), memory_levels = levels - tile_levels;
    const double passes = memory_levels * (memory_levels + 1) / 2, stages = tile_levels * (tile_levels + 1) / 2;
    timing_.launches = static_cast<int>(2 + passes + memory_levels);
    const double padded = kernel_.rows * std::exp2(levels);
    const double bytes = kernel_.key_bytes + kernel_.value_bytes;
    const double start = Term(Bound::kStart, c_.start * timing_.launches, StrCat(timing_.launches, " kernels"));
    const double chain = (stages + memory_levels * tile_levels) * c_.sort_latency;
    const double copy = 2 * kernel_.rows * kernel_.row_length * kernel_.key_bytes / (c_.memcpy_rate * device_.bandwidth * 1e-6);
    const double compare = Term(Bound::kInstructions,
                                std::max(chain, padded * (stages + 1.4 * memory_levels * tile_levels) * c_.sort_step * 1e-6),
                                StrCat(stages + memory_levels * tile_levels, " stages in tiles"));
    return start + compare + Term(Bound::kMemory, copy + passes * padded * bytes * 2 / ReadRate(), StrCat(passes, " passes through memory"));
  }

  double TopK() {
    const double waves = std::ceil(kernel_.rows / device_.cores);
    return Start(c_.start) + Term(Bound::kInstructions, waves * kernel_.row_length * c_.top_k_step * 1e-3,
                                  StrCat(kernel_.rows, " rows, one block per row"));
  }

  double UnknownCall() {
    const double start = Start(c_.product_start);
    const double memory = Memory();
    const double matrix = kernel_.flops / (c_.product_bf16 * PeakOf(device_, MatrixUnit::kBf16) * 1e-6);
    if (kernel_.flops > 0) Term(Bound::kMatrix, matrix, StrCat(FormatSi(kernel_.flops), "flop"));
    return start + Overlapped(memory, matrix);
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
