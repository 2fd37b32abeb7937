#include <algorithm>

#include "core/ops/contraction.h"
#include "core/ops/dims.h"
#include "core/ops/window.h"

namespace shoal::internal {
namespace {

using Convolution = Op<Opcode::kConvolution>;

// True if the dimensions are a permutation of 0 … rank - 1.
bool Covers(int64_t first, int64_t second, Ints spatial) {
  std::vector<int64_t> dims(spatial.begin(), spatial.end());
  dims.push_back(first);
  dims.push_back(second);
  return AllDistinct(dims) && AllWithin(dims, 0, static_cast<int64_t>(dims.size()));
}

// True if dim_labels is self-consistent, as parsers ensure. Rules C5 and C6 check it against the operands.
bool AreLabelsConsistent(const ConvDims* labels) {
  return labels != nullptr && labels->input_spatial.size() == labels->kernel_spatial.size() &&
         labels->input_spatial.size() == labels->output_spatial.size() &&
         Covers(labels->input_batch, labels->input_feature, labels->input_spatial) &&
         Covers(labels->kernel_input_feature, labels->kernel_output_feature, labels->kernel_spatial) &&
         Covers(labels->output_batch, labels->output_feature, labels->output_spatial);
}

Status CheckConvolutionOperands(const Instruction& hlo) {
  if (hlo.operand_count() >= 2) return {};
  return Broken(hlo, "C1", StrCat("takes at least 2 operands, got ", hlo.operand_count()));
}

Status CheckGroupCounts(const Instruction& hlo) {
  const int64_t features = hlo[kFeatureGroupCount], batches = hlo[kBatchGroupCount];
  if (features <= 0) return Broken(hlo, "C2", StrCat("feature_group_count must be positive, got ", features));
  if (batches <= 0) return Broken(hlo, "C3", StrCat("batch_group_count must be positive, got ", batches));
  if (features > 1 && batches > 1)
    return Broken(
        hlo, "C4",
        StrCat("only one of feature_group_count and batch_group_count may exceed 1, got ", features, " and ", batches));
  return {};
}

Status CheckRanks(const Instruction& hlo, const ConvDims& labels) {
  const size_t spatial = labels.input_spatial.size();
  const size_t window = hlo[kWindow] == nullptr ? 0 : hlo[kWindow]->dims.size();
  if (window != spatial)
    return Broken(hlo, "C5",
                  StrCat("window must have ", Count(spatial, "dimension"), " like dim_labels, got ", window));
  for (size_t i = 0; i < 2; ++i)
    if (hlo.operand_shape(i).dims().size() != spatial + 2)
      return Broken(
          hlo, "C6",
          StrCat(i == 0 ? "input" : "kernel", " must have rank ", spatial + 2, ", got ", Str(hlo.operand_shape(i))));
  return {};
}

// Rules C15 to C18: the operands with the positions of the nonzeros.
Status CheckSparsity(const Instruction& hlo) {
  const SparsityConfig* sparsity = hlo[Convolution::kSparsity];
  if (sparsity == nullptr) return {};
  for (const auto& side : {sparsity->lhs, sparsity->rhs}) {
    if (!side) continue;
    if (side->idx < 2 || side->idx >= static_cast<int64_t>(hlo.operand_count()))
      return Broken(
          hlo, "C15",
          StrCat("sparsity_config idx must name an operand in [2, ", hlo.operand_count(), "), got ", side->idx));
    if (!hlo.operand_shape(static_cast<size_t>(side->idx)).IsArray())
      return Broken(hlo, "C16", StrCat("sparsity_config idx must name an array, got operand ", side->idx));
  }
  if (sparsity->lhs && sparsity->rhs && sparsity->lhs->idx == sparsity->rhs->idx)
    return Broken(hlo, "C17",
                  StrCat("sparsity_config must name two different operands, got ", sparsity->lhs->idx, " twice"));
  if (sparsity->rhs && sparsity->rhs->num_non_zero != 1)
    return Broken(
        hlo, "C18",
        StrCat("sparsity_config must have one nonzero per block of the kernel, got ", sparsity->rhs->num_non_zero));
  return {};
}

bool Divides(int64_t divisor, int64_t size) { return size == kUnboundedSize || size % divisor == 0; }

// A sparse kernel represents a dense one with block_size times as many input features.
bool FeaturesFit(const Instruction& hlo, int64_t input, int64_t kernel) {
  if (input == kUnboundedSize || kernel == kUnboundedSize) return true;
  const SparsityConfig* sparsity = hlo[Convolution::kSparsity];
  int64_t groups = hlo[kFeatureGroupCount];
  int64_t dense = kernel;
  if (sparsity != nullptr && sparsity->rhs && __builtin_mul_overflow(dense, sparsity->rhs->block_size, &dense))
    return false;
  return !__builtin_mul_overflow(dense, groups, &dense) && dense == input;
}

Status CheckFeatures(const Instruction& hlo, const ConvDims& labels) {
  const Shape& input = hlo.operand_shape(0);
  const Shape& kernel = hlo.operand_shape(1);
  const int64_t features = hlo[kFeatureGroupCount], batches = hlo[kBatchGroupCount];
  const int64_t out = kernel.dim(labels.kernel_output_feature);
  if (!Divides(batches, out))
    return Broken(hlo, "C7",
                  StrCat("output features must be a multiple of batch_group_count ", batches, ", got ", out));
  if (!Divides(features, out))
    return Broken(hlo, "C8",
                  StrCat("output features must be a multiple of feature_group_count ", features, ", got ", out));
  if (!Divides(batches, input.dim(labels.input_batch)))
    return Broken(hlo, "C9",
                  StrCat("input batch must be a multiple of batch_group_count ", batches, ", got ",
                         input.dim(labels.input_batch)));
  const int64_t input_features = input.dim(labels.input_feature);
  const int64_t kernel_features = kernel.dim(labels.kernel_input_feature);
  if (!FeaturesFit(hlo, input_features, kernel_features))
    return Broken(hlo, "C10",
                  StrCat("the number of input features must be feature_group_count ", features, " times the ",
                         kernel_features, " of the kernel, got ", input_features));
  for (size_t i = 0; i < labels.kernel_spatial.size(); ++i) {
    const int64_t size = kernel.dim(labels.kernel_spatial[i]);
    if (size != hlo[kWindow]->dims[i].size)
      return Broken(hlo, "C11",
                    StrCat("the window must have the size of the kernel, ", size, ", in spatial dimension ", i, ", got ",
                           hlo[kWindow]->dims[i].size));
  }
  return {};
}

}  // namespace

bool Op<Opcode::kConvolution>::HasWindowDims(const Instruction& hlo) {
  return hlo[kWindow] != nullptr && !hlo[kWindow]->dims.empty();
}

Status Op<Opcode::kConvolution>::Normalize(Instruction& hlo, Module&) { return CheckConvolutionOperands(hlo); }

// convolution_kind states the purpose of the op, not its computation: XLA infers the same shape for all kinds.
ShapeResult Op<Opcode::kConvolution>::Infer(const Instruction& hlo, ShapePool& shapes) {
  SHOAL_TRY(CheckConvolutionOperands(hlo));
  SHOAL_TRY(OperandIsArray(hlo, 0));
  SHOAL_TRY(OperandIsArray(hlo, 1));
  if (!AreLabelsConsistent(hlo[kDimLabels])) return Broken(hlo, "C0", "dim_labels must name each dimension once");
  const ConvDims& labels = *hlo[kDimLabels];
  SHOAL_TRY(CheckGroupCounts(hlo));
  SHOAL_TRY(CheckRanks(hlo, labels));
  SHOAL_TRY(CheckSparsity(hlo));
  SHOAL_TRY(CheckFeatures(hlo, labels));

  const Shape& input = hlo.operand_shape(0);
  const Shape& kernel = hlo.operand_shape(1);
  std::vector<int64_t> base;
  for (int64_t dim : labels.input_spatial) base.push_back(input.dim(dim));
  SHOAL_ASSIGN(output_sizes, WindowedOutputDims(hlo, hlo[kWindow], base, {"C5", "C12", "C13"}));
  if (kernel.is_dynamic(labels.kernel_output_feature))
    return Broken(hlo, "C14", StrCat("output features must not be dynamic, got ", Str(kernel)));

  const int64_t batch = input.dim(labels.input_batch);
  DimList result;
  for (int64_t i = 0; i < input.rank(); ++i) {
    if (i == labels.output_batch) {
      result.Add(batch == kUnboundedSize ? batch : batch / hlo[kBatchGroupCount], input.is_dynamic(labels.input_batch));
    } else if (i == labels.output_feature) {
      result.Add(kernel.dim(labels.kernel_output_feature));
    } else {
      const auto index =
          std::find(labels.output_spatial.begin(), labels.output_spatial.end(), i) - labels.output_spatial.begin();
      const auto nth = static_cast<size_t>(index);
      result.Add(output_sizes[nth],
                 input.is_dynamic(labels.input_spatial[nth]) || kernel.is_dynamic(labels.kernel_spatial[nth]));
    }
  }
  return result.Make(ContractionType(hlo), shapes);
}

}  // namespace shoal::internal
