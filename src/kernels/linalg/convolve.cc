#include "kernels/linalg/convolve.h"

#include <algorithm>

#include "kernels/linalg/gemm.h"
#include "kernels/linalg/window_phases.h"

namespace shoal::internal {
namespace {

using PhaseSpan = std::span<const Phase>;

// Strides in elements: for each spatial dimension, and from one image of the batch to the next.
struct Strides {
  std::vector<int64_t> input, output, kernel;
  int64_t input_image = 1, output_image = 1;

  explicit Strides(const ConvolutionSizes& sizes) {
    const size_t rank = sizes.spatial.size();
    input.resize(rank), output.resize(rank), kernel.resize(rank);
    input_image = sizes.feature_groups * sizes.features;
    output_image = sizes.groups() * sizes.outputs;
    int64_t taps = 1;
    for (size_t d = rank; d-- > 0;) {
      input[d] = input_image, output[d] = output_image, kernel[d] = taps;
      input_image *= sizes.spatial[d].input;
      output_image *= sizes.spatial[d].output;
      taps *= sizes.spatial[d].kernel;
    }
  }
};

// The part of a convolution that a single GEMM computes: one combination of phases and one group.
template <class T>
class ConvolutionPart {
 public:
  ConvolutionPart(const ConvolutionSizes& sizes, const Strides& strides, PhaseSpan phases)
      : sizes_(sizes), strides_(strides), phases_(phases) {
    for (const Phase& phase : phases) positions_ *= phase.positions, taps_ *= phase.taps;
  }

  int64_t rows() const { return sizes_.batch * positions_; }
  int64_t depth() const { return taps_ * sizes_.features; }

  // Copies the part of the kernel that these phases use: a matrix of [taps, features] by all outputs.
  std::vector<T> PackKernel(const T* kernel) const {
    const int64_t block = sizes_.features * sizes_.groups() * sizes_.outputs;
    std::vector<T> packed(static_cast<size_t>(taps_ * block));
    T* to = packed.data();
    std::vector<int64_t> index(phases_.size(), 0);
    for (int64_t t = 0; t < taps_; ++t, to += block) {
      int64_t tap = 0;
      for (size_t d = 0; d < index.size(); ++d) {
        const SpatialDim& dim = sizes_.spatial[d];
        const int64_t at = phases_[d].first_tap + index[d] * phases_[d].tap_step;
        tap += (dim.window.reversal ? dim.kernel - 1 - at : at) * strides_.kernel[d];
      }
      std::copy_n(kernel + tap * block, block, to);
      for (size_t d = index.size(); d-- > 0;) {
        if (++index[d] < phases_[d].taps) break;
        index[d] = 0;
      }
    }
    return packed;
  }

  // True if the kernel already has all taps in order.
  bool IsKernelPacked() const {
    for (size_t d = 0; d < phases_.size(); ++d)
      if (phases_[d].taps != sizes_.spatial[d].kernel || sizes_.spatial[d].window.reversal) return false;
    return true;
  }

  // Calls f(row - first, image, offset in the result, position in each dimension) for rows [first, last).
  template <class F>
  void ForRows(int64_t first, int64_t last, F f) const {
    std::vector<int64_t> at(phases_.size());
    for (int64_t row = first; row < last; ++row) {
      int64_t rest = row, offset = 0;
      for (size_t d = phases_.size(); d-- > 0;) {
        at[d] = rest % phases_[d].positions;
        rest /= phases_[d].positions;
        offset += (phases_[d].first_position + at[d] * phases_[d].position_step) * strides_.output[d];
      }
      f(row - first, rest, offset + rest * strides_.output_image, std::span<const int64_t>(at));
    }
  }

  // Writes the elements under the window at one position to `out` as [taps, features], with zeros outside the base.
  void Patch(size_t d, std::span<const int64_t> at, const T* input, T*& out) const {
    if (d == phases_.size()) {
      out = std::copy_n(input, sizes_.features, out);
      return;
    }
    const Phase& phase = phases_[d];
    int64_t block = sizes_.features;
    for (size_t inner = d + 1; inner < phases_.size(); ++inner) block *= phases_[inner].taps;
    const int64_t base = phase.start + at[d] * phase.per_position;
    const bool is_contiguous = d + 1 == phases_.size() && phase.per_tap == 1 && sizes_.feature_groups == 1;
    for (int64_t j = 0; j < phase.taps; ++j) {
      const int64_t element = base + j * phase.per_tap;
      if (element < 0 || element >= sizes_.spatial[d].input) {
        out = std::fill_n(out, block, T{});
      } else if (is_contiguous) {
        const int64_t run = std::min(phase.taps - j, sizes_.spatial[d].input - element);
        out = std::copy_n(input + element * strides_.input[d], run * block, out);
        j += run - 1;
      } else {
        Patch(d + 1, at, input + element * strides_.input[d], out);
      }
    }
  }

 private:
  const ConvolutionSizes& sizes_;
  const Strides& strides_;
  PhaseSpan phases_;
  int64_t positions_ = 1, taps_ = 1;
};

// Rows of patches per GEMM: enough for BLAS to be fast, few enough to stay in the cache.
int64_t RowsPerTile(int64_t depth) {
  constexpr int64_t kElements = 1 << 18, kMinRows = 48;
  return std::max(kMinRows, kElements / std::max<int64_t>(depth, 1));
}

// With groups of one feature, GEMMs would multiply vectors. Instead, this computes all groups together, tap by tap.
template <class T>
void ConvolveSingleFeatures(const ConvolutionSizes& sizes, const Strides& strides, PhaseSpan phases, const T* input,
                            const T* kernel, T* out) {
  ConvolutionSizes whole = sizes;
  whole.features = sizes.feature_groups;
  whole.feature_groups = 1;
  const ConvolutionPart<T> part(whole, strides, phases);
  std::vector<T> patch(static_cast<size_t>(part.depth()));
  part.ForRows(0, part.rows(), [&](int64_t, int64_t image, int64_t offset, std::span<const int64_t> at) {
    T* end = patch.data();
    part.Patch(0, at, input + image * strides.input_image, end);
    const T* weight = kernel;
    for (const T* tap = patch.data(); tap != end; tap += whole.features) {
      T* sum = out + offset;
      for (int64_t f = 0; f < whole.features; ++f)
        for (int64_t o = 0; o < sizes.outputs; ++o) *sum++ += tap[f] * *weight++;
    }
  });
}

template <class T>
void ConvolvePart(const ConvolutionSizes& sizes, const Strides& strides, PhaseSpan phases, const T* input,
                  const T* kernel, T* out) {
  const ConvolutionPart<T> part(sizes, strides, phases);
  if (part.rows() == 0 || part.depth() == 0) return;  // the result is zero already
  std::vector<T> packed;
  if (!part.IsKernelPacked()) {
    packed = part.PackKernel(kernel);
    kernel = packed.data();
  }
  if (sizes.features == 1 && sizes.feature_groups > 1)
    return ConvolveSingleFeatures(sizes, strides, phases, input, kernel, out);
  const int64_t columns = sizes.groups() * sizes.outputs, tile = std::min(RowsPerTile(part.depth()), part.rows());
  std::vector<T> patches(static_cast<size_t>(tile * part.depth()));
  std::vector<T> sums(static_cast<size_t>(tile * sizes.outputs));
  for (int64_t group = 0; group < sizes.groups(); ++group) {
    const T* images =
        input + (sizes.batch_groups > 1 ? group * sizes.batch * strides.input_image : group * sizes.features);
    for (int64_t first = 0; first < part.rows(); first += tile) {
      const int64_t last = std::min(first + tile, part.rows());
      T* patch = patches.data();
      part.ForRows(first, last, [&](int64_t, int64_t image, int64_t, std::span<const int64_t> at) {
        part.Patch(0, at, images + image * strides.input_image, patch);
      });
      Gemm<T>(last - first, sizes.outputs, part.depth(), {patches.data(), part.depth(), 1},
              {kernel + group * sizes.outputs, columns, 1}, sums.data(), sizes.outputs, false);
      part.ForRows(first, last, [&](int64_t row, int64_t, int64_t offset, std::span<const int64_t>) {
        std::copy_n(sums.data() + row * sizes.outputs, sizes.outputs, out + offset + group * sizes.outputs);
      });
    }
  }
}

}  // namespace

template <class T>
void Convolve(const ConvolutionSizes& sizes, const T* input, const T* kernel, T* out) {
  const Strides strides(sizes);
  std::fill_n(out, sizes.batch * strides.output_image, T{});
  std::vector<std::vector<Phase>> phases;
  size_t combinations = 1;
  for (const SpatialDim& dim : sizes.spatial) {
    phases.push_back(PhasesOf(dim));
    combinations *= phases.back().size();
  }
  std::vector<Phase> chosen(phases.size());
  for (size_t i = 0; i < combinations; ++i) {
    size_t rest = i;
    for (size_t d = phases.size(); d-- > 0;) {
      chosen[d] = phases[d][rest % phases[d].size()];
      rest /= phases[d].size();
    }
    ConvolvePart(sizes, strides, chosen, input, kernel, out);
  }
}

#define SHOAL_CONVOLVE(T) template void Convolve(const ConvolutionSizes&, const T*, const T*, T*);
SHOAL_CONVOLVE(float)
SHOAL_CONVOLVE(double)
SHOAL_CONVOLVE(std::complex<float>)
SHOAL_CONVOLVE(std::complex<double>)
SHOAL_CONVOLVE(uint8_t)
SHOAL_CONVOLVE(uint16_t)
SHOAL_CONVOLVE(uint32_t)
SHOAL_CONVOLVE(uint64_t)
#undef SHOAL_CONVOLVE

}  // namespace shoal::internal
