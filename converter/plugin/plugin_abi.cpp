// SPDX-License-Identifier: Apache-2.0
//
// What a plug-in and the converter have to agree on, as a text: the C++ library's ABI, the layout
// of the types that pass between them, and a number for what no layout shows. The version of
// Intarsia is none of it. A source of its own, so that a plug-in links nothing else of the
// converter.
#include <cstdio>
#include <string>

#include "converter/plugin/layout.h"
#include "converter/plugin/plugin.h"
#include "core/definitions/dim_algebra.h"
#include "intarsia/string_pool.h"

namespace intarsia {

using definitions::Algebra;

/// The classes that pass between a plug-in and the converter.
struct MemberLists : converter::StandardLists {
  using converter::StandardLists::list;

  // What the two say to each other.
  INTARSIA_LIST_MEMBERS(converter::Plugin, abi, load)
  INTARSIA_LIST_MEMBERS(converter::PluginRequest, files, options)
  INTARSIA_LIST_MEMBERS(converter::Extension, name, definitions, replacements, kernels, find,
                        shapes, services, owner)
  INTARSIA_LIST_MEMBERS(Service, key, pointer)

  // Definitions.
  INTARSIA_LIST_MEMBERS(definitions::OperatorDefinition, domain, name, since_version, until_version,
                        inputs, outputs, facts, types, kernel_operator, kernel_types,
                        kernel_revision, attributes, infer, shape, shape_name, source, result_type,
                        view, impure, makes_strings, has_replacement, extents_vary,
                        promises_extents, trial, extents_hint, value_names, graphs, control)
  INTARSIA_LIST_MEMBERS(definitions::Parameter, name, type, kind, minimum, may_lack, axes, values,
                        extents)
  INTARSIA_LIST_MEMBERS(definitions::Values, domain, of, decide_extents)
  INTARSIA_LIST_MEMBERS(definitions::TypeConstraint, variable, allowed)
  INTARSIA_LIST_MEMBERS(definitions::AttributeCodec, bytes, read, print, list, members)
  INTARSIA_LIST_MEMBERS(definitions::AttributeField, name, kind, required, limit, choices, limits)
  INTARSIA_LIST_MEMBERS(definitions::AttributeMember, name, place, bytes)
  INTARSIA_LIST_MEMBERS(AttributeLimits, lowest, highest, among)
  INTARSIA_LIST_MEMBERS(definitions::TensorValue, type, extents, data, size, characters)
  INTARSIA_LIST_MEMBERS(ProgramSource, header, list)
  INTARSIA_LIST_MEMBERS(definitions::Facts, axes, element_wise, exact, rounds_integers,
                        rounds_within, selects, copies, activation, epilogue, neutral, propagate,
                        fast_channels_last, channels_last_gain, window, state, gradient,
                        gradient_formula, expand, special, computed, stream)
  INTARSIA_LIST_MEMBERS(definitions::ImageNode, attributes, data, weights, result, computed_weights)
  INTARSIA_LIST_MEMBERS(definitions::AxisNaming, form, attribute, input, absent, keep, fixed_if,
                        none_if_absent, channels_last)
  INTARSIA_LIST_MEMBERS(definitions::IntegerAttribute, name, get, set)
  INTARSIA_LIST_MEMBERS(definitions::NeutralElement, value, either_side)
  INTARSIA_LIST_MEMBERS(definitions::Epilogue, op, bias, residual, get, set)
  INTARSIA_LIST_MEMBERS(definitions::SpecialForm, holds, expand)
  INTARSIA_LIST_MEMBERS(definitions::Elements, values, denominator)
  INTARSIA_LIST_MEMBERS(ActivationSpec, kind, alpha, beta)

  // Shape functions over symbols.
  INTARSIA_LIST_PRIVATE(definitions::SymbolicShapeContext, inputs_, outputs_, attributes_,
                        diagnostic_, text_)
  INTARSIA_LIST_MEMBERS(definitions::SymbolicInput, present, type, shape, values, denominator,
                        reals, sequence)
  INTARSIA_LIST_MEMBERS(definitions::SymbolicOutput, type, shape, has_shape, sequence)
  INTARSIA_LIST_MEMBERS(definitions::SequenceType, type, shape, count, inner, key)
  INTARSIA_LIST_MEMBERS(Shape<definitions::Dim>, rank, extents)
  INTARSIA_LIST_PRIVATE(definitions::Dim, constant_, polynomial_)
  INTARSIA_LIST_MEMBERS(definitions::Dim::Polynomial, terms, size)
  INTARSIA_LIST_MEMBERS(Algebra::Term, coefficient, monomial)
  INTARSIA_LIST_MEMBERS(Algebra::Factor, atom, power)
  INTARSIA_LIST_MEMBERS(Algebra::Atom, kind, id, table, lower, upper, arguments, size)
  INTARSIA_LIST_PRIVATE(definitions::SymbolTable, symbols_)
  INTARSIA_LIST_MEMBERS(definitions::SymbolTable::Symbol, name, min, max)

  // Kernels.
  static void list(auto& layout, const definitions::KernelRow*) {
    const definitions::KernelRow row;
    layout.template add<KernelDescriptor>();
    layout.members(row, std::tie(row.replaces, row.state_at));
  }
  INTARSIA_LIST_MEMBERS(KernelDescriptor, id, key, kernel, trusted, supports, workspace,
                        packed_bytes, pack, state_bytes, device, layout, targets, packing, source,
                        cost)
  INTARSIA_LIST_MEMBERS(KernelId, op, variant, types, revision)
  INTARSIA_LIST_MEMBERS(KernelTypes, all, count)
  INTARSIA_LIST_MEMBERS(KernelType, code)
  INTARSIA_LIST_MEMBERS(KernelTargets, bits)
  INTARSIA_LIST_MEMBERS(Kernel, key, run, check, create, destroy, in_place)
  INTARSIA_LIST_MEMBERS(InPlace, inputs)
  INTARSIA_LIST_MEMBERS(ShapeFunction, key, infer)
  INTARSIA_LIST_MEMBERS(KernelContext, operands_, input_count_, output_count_, node_,
                        attribute_bytes_, attributes_, workspace_, workspace_bytes_, state_, host_,
                        runtime_, state_bytes_)
  INTARSIA_LIST_MEMBERS(KernelHost, parallel, isa, graph_count, diagnostic, run_graph,
                        resize_output, service, capacity, planned_extents, strings)
  INTARSIA_LIST_MEMBERS(Parallel, self, threads, run, grain_bytes, share, share_steps)
  INTARSIA_LIST_MEMBERS(Parallel::Steps, count, body, ahead, step)
  INTARSIA_LIST_MEMBERS(TensorView, data, extents, type, rank)
  INTARSIA_LIST_MEMBERS(Diagnostic, code, what, node, operand, axis, expected, found, text,
                        text_length)
  INTARSIA_LIST_PRIVATE(Status, code_)
  INTARSIA_LIST_PRIVATE(StringPool, constants_, characters_, constant_bytes_, bytes_, used_, end_)
};

namespace converter {

/// To be raised by hand where the meaning of something that passes changes and no layout does: of
/// an enumerator, of a member, of what a function is given.
constexpr int kInterface = 1;

const char* plugin_abi() {
#if defined(_LIBCPP_VERSION)
  constexpr const char* kLibrary = "libc++";
#elif defined(_GLIBCXX_USE_CXX11_ABI) && _GLIBCXX_USE_CXX11_ABI
  constexpr const char* kLibrary = "libstdc++ (cxx11)";
#else
  constexpr const char* kLibrary = "libstdc++ (old)";
#endif
  static const std::string kText = [] {
    Layout<MemberLists> layout;
    layout.add<Plugin>();
    char number[17];
    std::snprintf(number, sizeof number, "%016llx",
                  static_cast<unsigned long long>(layout.number()));
    return "intarsia plug-in " + std::to_string(kInterface) + ", " + kLibrary + ", layout " +
           number;
  }();
  return kText.c_str();
}

}  // namespace converter
}  // namespace intarsia
