// Shared by the files of the extension module: conversion of errors, and the declarations of the parts.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>
#include <nanobind/stl/map.h>

#include "shoal/execute.h"

namespace nb = nanobind;

// Raises shoal.Error with the diagnostics of `error`.
[[noreturn]] void Raise(const shoal::Error& error);

template <class T>
T Unwrap(shoal::Result<T> result) {
  if (!result.ok()) Raise(result.error());
  return std::move(*result);
}

void BindModule(nb::module_& m);
void BindBuilder(nb::module_& m);
void BindFacts(nb::module_& m);
void BindBuffers(nb::module_& m);
void BindExecution(nb::module_& m);
