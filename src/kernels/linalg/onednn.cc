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

bool HasIsa(dnnl_cpu_isa_t required) {
  const auto bits = static_cast<unsigned>(required);
  return (static_cast<unsigned>(dnnl_get_effective_cpu_isa()) & bits) == bits;
}

// Restricts oneDNN to the calling thread. In OpenMP, every thread has its own setting for the number of threads.
void UseOneThread() {
  thread_local bool is_set = false;
  if (is_set) return;
  omp_set_num_threads(1);
  is_set = true;
}

const dnnl::engine& Cpu() {
  static const auto* engine = new dnnl::engine(dnnl::engine::kind::cpu, 0);
  return *engine;
}

dnnl::stream& Stream() {
  thread_local dnnl::stream stream(Cpu());
  return stream;
}

// The caller provides the scratch memory. oneDNN's own scratch memory belongs to the thread that created the primitive,
// so a primitive that runs in another thread has none.
dnnl::primitive_attr OwnScratchpad() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

// The scratch memory of this thread, which grows to the largest size requested.
Memory ScratchpadFor(const Desc& required) {
  struct Free {
    void operator()(void* block) const { std::free(block); }
  };
  thread_local std::unique_ptr<void, Free> block;
  thread_local size_t size = 0;
  if (required.get_size() > size) {
    constexpr size_t kPage = 4096;
    size = (required.get_size() + kPage - 1) / kPage * kPage;
    block.reset();
    block.reset(std::aligned_alloc(kPage, size));
    if (block == nullptr) {
      size = 0;
      throw std::bad_alloc();
    }
  }
  return {required, Cpu(), block.get()};
}

Desc Strided(const Memory::dims& sizes, const std::vector<int64_t>& strides, Memory::data_type type) {
  return {sizes, type, Memory::dims(strides.begin(), strides.end())};
}

// Describes [batch, features, spatial…] with the given strides. A dimension of one element may have any stride, so it
// gets the stride of a dense array with features innermost, which needs no copy.
Desc StridedImages(const Memory::dims& sizes, std::vector<int64_t> strides, Memory::data_type type) {
  int64_t stride = 1;
  auto fit = [&](size_t d) {
    if (sizes[d] == 1) strides[d] = stride;
    stride *= sizes[d];
  };
  fit(1);
  for (size_t d = sizes.size(); d-- > 2;) fit(d);
  fit(0);
  return Strided(sizes, strides, type);
}

void Reorder(const Desc& from_desc, const void* from, const Desc& to_desc, void* to) {
  Memory source(from_desc, Cpu(), const_cast<void*>(from)), target(to_desc, Cpu(), to);
  dnnl::reorder(source, target).execute(Stream(), source, target);
}

// The user's layout of an array, and the layout that the primitive requires.
struct Layouts {
  Desc user, required;
  bool is_same() const { return user == required; }
};

class Primitive : public OneDnn::Convolution {
 public:
  using Kind = DnnConvolution::Kind;

  explicit Primitive(const DnnConvolution& conv) : kind_(conv.kind) {
    const Memory::dims source = Sizes(conv.batch, conv.in_features, conv.source);
    const Memory::dims result = Sizes(conv.batch, conv.out_features, conv.result);
    Memory::dims weights = Sizes(conv.out_features / conv.groups, conv.in_features / conv.groups, conv.kernel);
    std::vector<int64_t> weight_strides = conv.weight_strides;
    if (conv.groups > 1)
      weights.insert(weights.begin(), conv.groups);
    else
      weight_strides.erase(weight_strides.begin());
    using Type = Memory::data_type;
    const Type in = conv.is_int8 ? Type::s8 : conv.is_bf16 ? Type::bf16 : Type::f32;
    const Type out = conv.is_int8 ? Type::s32 : Type::f32;
    source_.user = StridedImages(source, conv.source_strides, in);
    result_.user = StridedImages(result, conv.result_strides, out);
    weights_.user = Strided(weights, weight_strides, in);
    // Source and result have features innermost; oneDNN chooses the layout of the weights.
    const Tag tag = conv.kernel.size() == 1 ? Tag::nwc : conv.kernel.size() == 2 ? Tag::nhwc : Tag::ndhwc;
    const Desc source_desc(source, in, tag), result_desc(result, out, tag);
    const Desc weight_desc(weights, in, Tag::any);
    Memory::dims strides(conv.strides.begin(), conv.strides.end()), dilations, low(conv.pad_low.begin(), conv.pad_low.end()), high;
    for (size_t d = 0; d < conv.kernel.size(); ++d) {
      dilations.push_back(conv.dilations[d] - 1);
      const int64_t extent = (conv.kernel[d] - 1) * conv.dilations[d] + 1;
      high.push_back((conv.result[d] - 1) * conv.strides[d] + extent - conv.source[d] - conv.pad_low[d]);
    }
    Create(source_desc, weight_desc, result_desc, strides, dilations, low, high);
  }

  std::shared_ptr<void> PackWeights(const void* weights) const override {
    if (kind_ == Kind::kBackwardWeights) return nullptr;
    UseOneThread();
    auto packed = std::make_shared<Memory>(weights_.required, Cpu());
    Reorder(weights_.user, weights, weights_.required, packed->get_data_handle());
    return packed;
  }

  bool Run(void* source, void* weights, void* packed, void* result) const override {
    UseOneThread();
    try {
      Execute(source, weights, packed, result);
      return true;
    } catch (const dnnl::error&) {
      return false;
    }
  }

 private:
  void Execute(void* source, void* weights, void* packed, void* result) const {
    Memory source_memory = MemoryFor(source_, source, kind_ != Kind::kBackwardData);
    Memory result_memory = MemoryFor(result_, result, kind_ != Kind::kForward);
    Memory weight_memory = kind_ == Kind::kBackwardWeights ? MemoryFor(weights_, weights, false) : *static_cast<Memory*>(packed);
    const Memory scratchpad = ScratchpadFor(scratchpad_);
    switch (kind_) {
      case Kind::kForward:
        primitive_.execute(Stream(), {{DNNL_ARG_SRC, source_memory}, {DNNL_ARG_WEIGHTS, weight_memory}, {DNNL_ARG_DST, result_memory}, {DNNL_ARG_SCRATCHPAD, scratchpad}});
        return CopyToUser(result_, result_memory, result);
      case Kind::kBackwardData:
        primitive_.execute(Stream(), {{DNNL_ARG_DIFF_SRC, source_memory}, {DNNL_ARG_WEIGHTS, weight_memory}, {DNNL_ARG_DIFF_DST, result_memory}, {DNNL_ARG_SCRATCHPAD, scratchpad}});
        return CopyToUser(source_, source_memory, source);
      case Kind::kBackwardWeights:
        primitive_.execute(Stream(), {{DNNL_ARG_SRC, source_memory}, {DNNL_ARG_DIFF_WEIGHTS, weight_memory}, {DNNL_ARG_DIFF_DST, result_memory}, {DNNL_ARG_SCRATCHPAD, scratchpad}});
        return CopyToUser(weights_, weight_memory, weights);
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
      SetDescs(forward.src_desc(), forward.weights_desc(), forward.dst_desc(), forward.scratchpad_desc());
      primitive_ = Forward(forward);
    } else if (kind_ == Kind::kBackwardData) {
      using Backward = dnnl::convolution_backward_data;
      const Backward::primitive_desc backward({kDirect, source, weights, result, strides, dilations, low, high}, OwnScratchpad(), Cpu(), forward);
      SetDescs(backward.diff_src_desc(), backward.weights_desc(), backward.diff_dst_desc(), backward.scratchpad_desc());
      primitive_ = Backward(backward);
    } else {
      using Backward = dnnl::convolution_backward_weights;
      const Backward::primitive_desc backward({kDirect, source, weights, result, strides, dilations, low, high}, OwnScratchpad(), Cpu(), forward);
      SetDescs(backward.src_desc(), backward.diff_weights_desc(), backward.diff_dst_desc(), backward.scratchpad_desc());
      primitive_ = Backward(backward);
    }
  }

  void SetDescs(const Desc& source, const Desc& weights, const Desc& result, const Desc& scratchpad) {
    scratchpad_ = scratchpad;
    source_.required = source;
    weights_.required = weights;
    result_.required = result;
  }

  // Memory that the primitive reads or writes: the user's own if it has the required layout.
  static Memory MemoryFor(const Layouts& layouts, void* data, bool is_read) {
    if (layouts.is_same()) return {layouts.required, Cpu(), data};
    Memory memory(layouts.required, Cpu());
    if (is_read) Reorder(layouts.user, data, layouts.required, memory.get_data_handle());
    return memory;
  }
  static void CopyToUser(const Layouts& layouts, const Memory& memory, void* data) {
    if (!layouts.is_same()) Reorder(layouts.required, memory.get_data_handle(), layouts.user, data);
  }

  Kind kind_;
  Layouts source_, weights_, result_;
  Desc scratchpad_;
  dnnl::primitive primitive_;
};

class Library : public OneDnn {
 public:
  void Sgemm(bool a_transposed, bool b_transposed, int64_t m, int64_t n, int64_t k, const float* a, int64_t lda,
             const float* b, int64_t ldb, float beta, float* c, int64_t ldc) const override {
    UseOneThread();
    dnnl_sgemm(a_transposed ? 'T' : 'N', b_transposed ? 'T' : 'N', m, n, k, 1, a, lda, b, ldb, beta, c, ldc);
  }

  bool HasBf16() const override {
    static const bool has = HasIsa(dnnl_cpu_isa_avx512_core_bf16);
    return has;
  }

  bool HasInt8() const override {
    static const bool has = HasIsa(dnnl_cpu_isa_avx512_core_vnni);
    return has;
  }

  void Int8Gemm(bool a_transposed, bool b_transposed, int64_t m, int64_t n, int64_t k, const int8_t* a, int64_t lda,
                const int8_t* b, int64_t ldb, int32_t* c, int64_t ldc) const override {
    UseOneThread();
    const int32_t no_offset = 0;
    dnnl_gemm_s8s8s32(a_transposed ? 'T' : 'N', b_transposed ? 'T' : 'N', 'F', m, n, k, 1, a, lda, 0, b, ldb, 0, 0, c, ldc, &no_offset);
  }

  void Bf16Gemm(bool a_transposed, bool b_transposed, int64_t m, int64_t n, int64_t k, const uint16_t* a, int64_t lda,
                const uint16_t* b, int64_t ldb, float* c, int64_t ldc) const override {
    UseOneThread();
    const Matmul& matmul = MatmulFor({a_transposed, b_transposed, m, n, k, lda, ldb, ldc});
    Memory left(matmul.desc.src_desc(), Cpu(), const_cast<uint16_t*>(a));
    Memory right(matmul.desc.weights_desc(), Cpu(), const_cast<uint16_t*>(b));
    Memory sums(matmul.desc.dst_desc(), Cpu(), c);
    matmul.primitive.execute(Stream(), {{DNNL_ARG_SRC, left}, {DNNL_ARG_WEIGHTS, right}, {DNNL_ARG_DST, sums},
                                         {DNNL_ARG_SCRATCHPAD, ScratchpadFor(matmul.desc.scratchpad_desc())}});
  }

  std::shared_ptr<const OneDnn::Convolution> ConvolutionFor(const DnnConvolution& conv) const override {
    std::vector<int64_t> key{static_cast<int64_t>(conv.kind), conv.is_int8 ? 1 : 0, conv.is_bf16 ? 1 : 0, conv.batch, conv.groups, conv.in_features, conv.out_features};
    for (const auto* part : {&conv.source, &conv.kernel, &conv.result, &conv.strides, &conv.dilations, &conv.pad_low,
                             &conv.source_strides, &conv.result_strides, &conv.weight_strides})
      key.insert(key.end(), part->begin(), part->end());
    std::lock_guard lock(mutex_);
    auto [found, is_new] = convolutions_.try_emplace(std::move(key));
    if (!is_new) return found->second;
    UseOneThread();
    try {
      found->second = std::make_shared<Primitive>(conv);
    } catch (const dnnl::error&) {
      // oneDNN does not support this convolution: null.
    }
    return found->second;
  }

 private:
  struct Matmul {
    dnnl::matmul::primitive_desc desc;
    dnnl::matmul primitive;
  };

  // key: a transposed, b transposed, m, n, k, leading dimensions. Each thread has its own table: tiles take so little time
  // that threads would wait for each other's lock. The code of a primitive is shared, in oneDNN's own cache.
  static const Matmul& MatmulFor(const std::vector<int64_t>& key) {
    thread_local std::map<std::vector<int64_t>, Matmul> matmuls;
    if (auto found = matmuls.find(key); found != matmuls.end()) return found->second;
    const int64_t m = key[2], n = key[3], k = key[4];
    auto matrix = [](int64_t rows, int64_t columns, bool transposed, int64_t leading, Memory::data_type type) {
      return Desc({rows, columns}, type, transposed ? Memory::dims{1, leading} : Memory::dims{leading, 1});
    };
    Matmul matmul;
    matmul.desc = dnnl::matmul::primitive_desc({matrix(m, k, key[0] != 0, key[5], Memory::data_type::bf16),
                                                 matrix(k, n, key[1] != 0, key[6], Memory::data_type::bf16),
                                                 matrix(m, n, false, key[7], Memory::data_type::f32)},
                                                OwnScratchpad(), Cpu());
    matmul.primitive = dnnl::matmul(matmul.desc);
    return matmuls[key] = std::move(matmul);
  }

  mutable std::mutex mutex_;
  mutable std::map<std::vector<int64_t>, std::shared_ptr<const OneDnn::Convolution>> convolutions_;
};

}  // namespace
}  // namespace shoal::internal

extern "C" __attribute__((visibility("default"))) shoal::internal::OneDnn* shoal_new_onednn() { return new shoal::internal::Library; }
