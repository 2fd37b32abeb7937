// All ops.
#pragma once

#include "ops/collective.h"
#include "ops/contraction.h"
#include "ops/control_flow.h"
#include "ops/elementwise.h"
#include "ops/gather_scatter.h"
#include "ops/index_ops.h"
#include "ops/linear_algebra.h"
#include "ops/random.h"
#include "ops/reduce.h"
#include "ops/structure.h"
#include "ops/transfer.h"
