#include "kernels/linalg/onednn.h"

#include <omp.h>

#include <cstdlib>
#include <map>
#include <mutex>
#include <oneapi/dnnl/dnnl.hpp>

namespace shoal::internal {
namespace {

using Memory = dnnl::memory;
using Desc = Memory::desc;
using Tag = Memory::format_tag;

bool Has(dnnl_cpu_isa_t wanted) {
  const auto bits = static_cast<unsigned>(wanted);
  return (static_cast<unsigned>(dnnl_get_effective_cpu_isa()) & bits) == bits;
}

// This thread works alone: how many OpenMP would take is kept for each thread.
void WorkAlone() {
  thread_local bool alone = false;
  if (alone) return;
  omp_set_num_threads(1);
  alone = true;
}

const dnnl::engine& Cpu() {
  static const auto* engine = new dnnl::engine(dnnl::engine::kind::cpu, 0);
  return *engine;
}

dnnl::stream& Stream() {
  thread_local dnnl::stream stream(Cpu());
  return stream;
}

// Working memory comes from whoever calls: oneDNN's own belongs to the thread that created the primitive, and a primitive
// that runs in another has none.
dnnl::primitive_attr OwnScratchpad() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

// This thread's, as large as was ever asked for.
Memory ScratchpadFor(const Desc& wanted) {
  struct Free {
    void operator()(void* block) const { std::free(block); }
  };
  thread_local std::unique_ptr<void, Free> block;
  thread_local size_t size = 0;
  if (wanted.get_size() > size) {
    constexpr size_t kPage = 4096;
    size = (wanted.get_size() + kPage - 1) / kPage * kPage;
    block.reset();
    block.reset(std::aligned_alloc(kPage, size));
    if (block == nullptr) {
      size = 0;
      throw std::bad_alloc();
    }
  }
  return {wanted, Cpu(), block.get()};
}

Desc Strided(const Memory::dims& sizes, const std::vector<int64_t>& strides) {
  return {sizes, Memory::data_type::f32, Memory::dims(strides.begin(), strides.end())};
}

// The same, [batch, features, spatial…]. Where a dimension has one element any stride is as good: then the one it has
// where features are innermost and nothing lies between, which needs no copy.
Desc StridedImages(const Memory::dims& sizes, std::vector<int64_t> strides) {
  int64_t stride = 1;
  auto fit = [&](size_t d) {
    if (sizes[d] == 1) strides[d] = stride;
    stride *= sizes[d];
  };
  fit(1);
  for (size_t d = sizes.size(); d-- > 2;) fit(d);
  fit(0);
  return Strided(sizes, strides);
}

void Reorder(const Desc& from_desc, const void* from, const Desc& to_desc, void* to) {
  Memory source(from_desc, Cpu(), const_cast<void*>(from)), target(to_desc, Cpu(), to);
  dnnl::reorder(source, target).execute(Stream(), source, target);
}

// An array as the user has it and as the primitive wants it.
struct Side {
  Desc users, wanted;
  bool is_same() const { return users == wanted; }
};

class Primitive : public OneDnn::Convolution {
 public:
  using Kind = DnnConvolution::Kind;

  explicit Primitive(const DnnConvolution& of) : kind_(of.kind) {
    const Memory::dims source = Sizes(of.batch, of.in_features, of.source);
    const Memory::dims result = Sizes(of.batch, of.out_features, of.result);
    Memory::dims weights = Sizes(of.out_features / of.groups, of.in_features / of.groups, of.kernel);
    std::vector<int64_t> weight_strides = of.weight_strides;
    if (of.groups > 1)
      weights.insert(weights.begin(), of.groups);
    else
      weight_strides.erase(weight_strides.begin());
    source_.users = StridedImages(source, of.source_strides);
    result_.users = StridedImages(result, of.result_strides);
    weights_.users = Strided(weights, weight_strides);
    // Features innermost for what is large; the weights as oneDNN likes them.
    const Tag tag = of.kernel.size() == 1 ? Tag::nwc : of.kernel.size() == 2 ? Tag::nhwc : Tag::ndhwc;
    const Desc source_desc(source, Memory::data_type::f32, tag), result_desc(result, Memory::data_type::f32, tag);
    const Desc weight_desc(weights, Memory::data_type::f32, Tag::any);
    Memory::dims strides(of.strides.begin(), of.strides.end()), dilations, low(of.pad_low.begin(), of.pad_low.end()), high;
    for (size_t d = 0; d < of.kernel.size(); ++d) {
      dilations.push_back(of.dilations[d] - 1);
      const int64_t extent = (of.kernel[d] - 1) * of.dilations[d] + 1;
      high.push_back((of.result[d] - 1) * of.strides[d] + extent - of.source[d] - of.pad_low[d]);
    }
    Create(source_desc, weight_desc, result_desc, strides, dilations, low, high);
  }

  std::shared_ptr<void> PackWeights(const float* weights) const override {
    if (kind_ == Kind::kBackwardWeights) return nullptr;
    WorkAlone();
    auto packed = std::make_shared<Memory>(weights_.wanted, Cpu());
    Reorder(weights_.users, weights, weights_.wanted, packed->get_data_handle());
    return packed;
  }

  bool Run(float* source, float* weights, void* packed, float* result) const override {
    WorkAlone();
    try {
      Execute(source, weights, packed, result);
      return true;
    } catch (const dnnl::error&) {
      return false;
    }
  }

 private:
  void Execute(float* source, float* weights, void* packed, float* result) const {
    Memory source_memory = In(source_, source, kind_ != Kind::kBackwardData);
    Memory result_memory = In(result_, result, kind_ != Kind::kForward);
    Memory weight_memory = kind_ == Kind::kBackwardWeights ? In(weights_, weights, false) : *static_cast<Memory*>(packed);
    const Memory scratchpad = ScratchpadFor(scratchpad_);
    switch (kind_) {
      case Kind::kForward:
        primitive_.execute(Stream(), {{DNNL_ARG_SRC, source_memory}, {DNNL_ARG_WEIGHTS, weight_memory}, {DNNL_ARG_DST, result_memory}, {DNNL_ARG_SCRATCHPAD, scratchpad}});
        return Out(result_, result_memory, result);
      case Kind::kBackwardData:
        primitive_.execute(Stream(), {{DNNL_ARG_DIFF_SRC, source_memory}, {DNNL_ARG_WEIGHTS, weight_memory}, {DNNL_ARG_DIFF_DST, result_memory}, {DNNL_ARG_SCRATCHPAD, scratchpad}});
        return Out(source_, source_memory, source);
      case Kind::kBackwardWeights:
        primitive_.execute(Stream(), {{DNNL_ARG_SRC, source_memory}, {DNNL_ARG_DIFF_WEIGHTS, weight_memory}, {DNNL_ARG_DIFF_DST, result_memory}, {DNNL_ARG_SCRATCHPAD, scratchpad}});
        return Out(weights_, weight_memory, weights);
    }
  }

  static Memory::dims Sizes(int64_t first, int64_t second, const std::vector<int64_t>& spatial) {
    Memory::dims sizes{first, second};
    sizes.insert(sizes.end(), spatial.begin(), spatial.end());
    return sizes;
  }

  void Create(const Desc& source, const Desc& weights, const Desc& result, const Memory::dims& strides,
              const Memory::dims& dilations, const Memory::dims& low, const Memory::dims& high) {
    constexpr auto kDirect = dnnl::algorithm::convolution_direct;
    using Forward = dnnl::convolution_forward;
    const auto prop = kind_ == Kind::kForward ? dnnl::prop_kind::forward_inference : dnnl::prop_kind::forward_training;
    const Forward::primitive_desc forward({prop, kDirect, source, weights, result, strides, dilations, low, high}, OwnScratchpad(), Cpu());
    if (kind_ == Kind::kForward) {
      Keep(forward.src_desc(), forward.weights_desc(), forward.dst_desc(), forward.scratchpad_desc());
      primitive_ = Forward(forward);
    } else if (kind_ == Kind::kBackwardData) {
      using Backward = dnnl::convolution_backward_data;
      const Backward::primitive_desc backward({kDirect, source, weights, result, strides, dilations, low, high}, OwnScratchpad(), Cpu(), forward);
      Keep(backward.diff_src_desc(), backward.weights_desc(), backward.diff_dst_desc(), backward.scratchpad_desc());
      primitive_ = Backward(backward);
    } else {
      using Backward = dnnl::convolution_backward_weights;
      const Backward::primitive_desc backward({kDirect, source, weights, result, strides, dilations, low, high}, OwnScratchpad(), Cpu(), forward);
      Keep(backward.src_desc(), backward.diff_weights_desc(), backward.diff_dst_desc(), backward.scratchpad_desc());
      primitive_ = Backward(backward);
    }
  }

  void Keep(const Desc& source, const Desc& weights, const Desc& result, const Desc& scratchpad) {
    scratchpad_ = scratchpad;
    source_.wanted = source;
    weights_.wanted = weights;
    result_.wanted = result;
  }

  // Memory that the primitive reads or writes: the user's own where it lies as wanted.
  static Memory In(const Side& side, float* data, bool is_read) {
    if (side.is_same()) return {side.wanted, Cpu(), data};
    Memory memory(side.wanted, Cpu());
    if (is_read) Reorder(side.users, data, side.wanted, memory.get_data_handle());
    return memory;
  }
  static void Out(const Side& side, const Memory& memory, float* data) {
    if (!side.is_same()) Reorder(side.wanted, memory.get_data_handle(), side.users, data);
  }

  Kind kind_;
  Side source_, weights_, result_;
  Desc scratchpad_;
  dnnl::primitive primitive_;
};

class Library : public OneDnn {
 public:
  void Sgemm(bool a_transposed, bool b_transposed, int64_t m, int64_t n, int64_t k, const float* a, int64_t lda,
             const float* b, int64_t ldb, float beta, float* c, int64_t ldc) const override {
    WorkAlone();
    dnnl_sgemm(a_transposed ? 'T' : 'N', b_transposed ? 'T' : 'N', m, n, k, 1, a, lda, b, ldb, beta, c, ldc);
  }

  bool HasBf16() const override {
    static const bool has = Has(dnnl_cpu_isa_avx512_core_bf16);
    return has;
  }

  bool HasBytes() const override {
    static const bool has = Has(dnnl_cpu_isa_avx512_core_vnni);
    return has;
  }

  void ByteGemm(bool a_transposed, bool b_transposed, int64_t m, int64_t n, int64_t k, const int8_t* a, int64_t lda,
                const int8_t* b, int64_t ldb, int32_t* c, int64_t ldc) const override {
    WorkAlone();
    const int32_t no_offset = 0;
    dnnl_gemm_s8s8s32(a_transposed ? 'T' : 'N', b_transposed ? 'T' : 'N', 'F', m, n, k, 1, a, lda, 0, b, ldb, 0, 0, c, ldc, &no_offset);
  }

  void Bf16Gemm(bool a_transposed, bool b_transposed, int64_t m, int64_t n, int64_t k, const uint16_t* a, int64_t lda,
                const uint16_t* b, int64_t ldb, float* c, int64_t ldc) const override {
    WorkAlone();
    const Matmul product = MatmulFor({a_transposed, b_transposed, m, n, k, lda, ldb, ldc});
    Memory left(product.desc.src_desc(), Cpu(), const_cast<uint16_t*>(a));
    Memory right(product.desc.weights_desc(), Cpu(), const_cast<uint16_t*>(b));
    Memory sums(product.desc.dst_desc(), Cpu(), c);
    product.primitive.execute(Stream(), {{DNNL_ARG_SRC, left}, {DNNL_ARG_WEIGHTS, right}, {DNNL_ARG_DST, sums},
                                         {DNNL_ARG_SCRATCHPAD, ScratchpadFor(product.desc.scratchpad_desc())}});
  }

  std::shared_ptr<const OneDnn::Convolution> ConvolutionFor(const DnnConvolution& of) const override {
    std::vector<int64_t> key{static_cast<int64_t>(of.kind), of.batch, of.groups, of.in_features, of.out_features};
    for (const auto* part : {&of.source, &of.kernel, &of.result, &of.strides, &of.dilations, &of.pad_low,
                             &of.source_strides, &of.result_strides, &of.weight_strides})
      key.insert(key.end(), part->begin(), part->end());
    std::lock_guard lock(mutex_);
    auto [found, is_new] = convolutions_.try_emplace(std::move(key));
    if (!is_new) return found->second;
    WorkAlone();
    try {
      found->second = std::make_shared<Primitive>(of);
    } catch (const dnnl::error&) {
      // It has no code for this one: null.
    }
    return found->second;
  }

 private:
  struct Matmul {
    dnnl::matmul::primitive_desc desc;
    dnnl::matmul primitive;
  };

  // key: transposed, transposed, m, n, k, leading dimensions.
  Matmul MatmulFor(const std::vector<int64_t>& key) const {
    std::lock_guard lock(mutex_);
    if (auto found = products_.find(key); found != products_.end()) return found->second;
    const int64_t m = key[2], n = key[3], k = key[4];
    auto matrix = [](int64_t rows, int64_t columns, bool transposed, int64_t leading, Memory::data_type type) {
      return Desc({rows, columns}, type, transposed ? Memory::dims{1, leading} : Memory::dims{leading, 1});
    };
    Matmul product;
    product.desc = dnnl::matmul::primitive_desc({matrix(m, k, key[0] != 0, key[5], Memory::data_type::bf16),
                                                 matrix(k, n, key[1] != 0, key[6], Memory::data_type::bf16),
                                                 matrix(m, n, false, key[7], Memory::data_type::f32)},
                                                OwnScratchpad(), Cpu());
    product.primitive = dnnl::matmul(product.desc);
    return products_[key] = product;
  }

  mutable std::mutex mutex_;
  mutable std::map<std::vector<int64_t>, Matmul> products_;
  mutable std::map<std::vector<int64_t>, std::shared_ptr<const OneDnn::Convolution>> convolutions_;
};

}  // namespace
}  // namespace shoal::internal

extern "C" shoal::internal::OneDnn* shoal_new_onednn() { return new shoal::internal::Library; }
