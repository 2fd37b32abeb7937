// The definitions of all ops.
#pragma once

#include "core/ops/collective.h"
#include "core/ops/contraction.h"
#include "core/ops/control_flow.h"
#include "core/ops/elementwise.h"
#include "core/ops/gather_scatter.h"
#include "core/ops/index_ops.h"
#include "core/ops/linear_algebra.h"
#include "core/ops/random.h"
#include "core/ops/reduce.h"
#include "core/ops/structure.h"
#include "core/ops/transfer.h"
