// SPDX-License-Identifier: Apache-2.0
//
// The C API: sessions for programs in C, and for languages that call C. C99 and C++; link
// `intarsia::c`. A walk-through is docs/c_api.md.
//
//     intarsia_diagnostic why = {.struct_size = sizeof why};
//     intarsia_session* s =
//         intarsia_open(plan, plan_bytes, kernels, arena, arena_bytes, NULL, &why);
//     if (s == NULL) ...                                      // why.code; text: intarsia_describe
//     float* x = intarsia_input_data(s, 0, 0, INTARSIA_FLOAT);
//     ... fill x ...
//     if (intarsia_run(s, 0) != INTARSIA_OK) puts(intarsia_message(s));
//     const float* y = intarsia_output_data(s, 0, 0, INTARSIA_FLOAT);
//     intarsia_close(s);
//
// It is `Session` of "intarsia/session.h", which says the same at more length. In short:
//
// Memory: the caller gives the plan's bytes and the arena, both aligned to INTARSIA_ALIGNMENT; they
// and the kernels must outlive the session, which lies in the arena. Nothing is allocated. What a
// function returns by pointer (names, elements, messages) belongs to the session and is valid until
// `intarsia_close`, unless said otherwise. Functions that take memory from the heap are apart, in
// "intarsia/intarsia_host_c.h".
//
// Errors: a function returns a code, INTARSIA_OK or why it failed; one that returns a pointer
// returns NULL. What exactly was wrong stays with the session (`intarsia_last_error`,
// `intarsia_message`) until the next call that fails or runs. NULL for a session, or a session that
// is closed while its arena is still there, is INTARSIA_INVALID_ARGUMENT or a count of 0. No
// function prints, aborts or throws.
//
// Threads: one thread at a time may call a session; a second concurrent run returns INTARSIA_BUSY.
// Sessions are independent, also over the same plan. Functions without a session are pure.
//
// Binary interface: numbers never change their meaning. Structs that begin with `struct_size` may
// grow at the end; the caller sets that field to `sizeof` its own, and nothing beyond is read or
// written. `intarsia_tensor` never grows.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  /// Of this header; a library of the same number, or a greater one, serves it.
  INTARSIA_C_VERSION = 1,
  /// The address of a plan's bytes and of an arena is a multiple of this, in bytes.
  INTARSIA_ALIGNMENT = 64,
  /// Bytes of the arena that this API needs beyond the plan's own; contained in
  /// `intarsia_plan_info.arena_bytes`.
  INTARSIA_SESSION_BYTES = 256,
  /// The most axes of a tensor.
  INTARSIA_MAX_RANK = 8
};

/// The INTARSIA_C_VERSION that the library was built with.
int32_t intarsia_c_version(void);

/// Why a call failed: `Code` of "intarsia/status.h", where each is explained.
typedef int32_t intarsia_code;
enum {
  INTARSIA_OK = 0,
  INTARSIA_INVALID_ARGUMENT,
  INTARSIA_NOT_A_PLAN,
  INTARSIA_UNSUPPORTED_VERSION,
  INTARSIA_TRUNCATED_PLAN,
  INTARSIA_CORRUPT_PLAN,
  INTARSIA_MISSING_KERNEL,
  INTARSIA_ARENA_TOO_SMALL,
  INTARSIA_ARENA_MISALIGNED,
  INTARSIA_UNKNOWN_NAME,
  INTARSIA_WRONG_TYPE,
  INTARSIA_WRONG_RANK,
  INTARSIA_WRONG_EXTENT,
  INTARSIA_INDEX_OUT_OF_RANGE,
  INTARSIA_DIVISION_BY_ZERO,
  INTARSIA_INVALID_VALUE,
  INTARSIA_CONTRADICTION,
  INTARSIA_UNSUPPORTED,
  INTARSIA_BUSY,
  INTARSIA_OPERATOR_FAILED,
  INTARSIA_TOO_MANY_STEPS,
  INTARSIA_TOO_MANY_CHARACTERS
};

/// Element types: ONNX's TensorProto.DataType, and three of Intarsia's. A bool is a byte, 0 or 1;
/// elements of less than a byte are packed, the first in the low bits; a string is an
/// `intarsia_string`.
typedef int32_t intarsia_type;
enum {
  INTARSIA_UNDEFINED = 0,
  INTARSIA_FLOAT = 1,
  INTARSIA_UINT8 = 2,
  INTARSIA_INT8 = 3,
  INTARSIA_UINT16 = 4,
  INTARSIA_INT16 = 5,
  INTARSIA_INT32 = 6,
  INTARSIA_INT64 = 7,
  INTARSIA_STRING = 8,
  INTARSIA_BOOL = 9,
  INTARSIA_FLOAT16 = 10,
  INTARSIA_DOUBLE = 11,
  INTARSIA_UINT32 = 12,
  INTARSIA_UINT64 = 13,
  INTARSIA_COMPLEX64 = 14,
  INTARSIA_COMPLEX128 = 15,
  INTARSIA_BFLOAT16 = 16,
  INTARSIA_FLOAT8E4M3FN = 17,
  INTARSIA_FLOAT8E4M3FNUZ = 18,
  INTARSIA_FLOAT8E5M2 = 19,
  INTARSIA_FLOAT8E5M2FNUZ = 20,
  INTARSIA_UINT4 = 21,
  INTARSIA_INT4 = 22,
  INTARSIA_FLOAT4E2M1 = 23,
  INTARSIA_FLOAT8E8M0 = 24,
  INTARSIA_UINT2 = 25,
  INTARSIA_INT2 = 26,
  INTARSIA_FLOAT6E2M3 = 27,
  INTARSIA_FLOAT6E3M2 = 28,
  /// Of ports that are no tensors: their elements are bytes that C++ programs read
  /// ("intarsia/sequence.h"). `intarsia_run_tensors` refuses them with INTARSIA_UNSUPPORTED.
  INTARSIA_MAP = 29,
  INTARSIA_OPTIONAL = 30,
  INTARSIA_SEQUENCE = 31
};

/// An open plan. It lies in the arena.
typedef struct intarsia_session intarsia_session;
/// The kernels that a program links, constant data: those of a model that
/// `intarsia_add_model(... C)` has built in, all of them (`intarsia_all_kernels` of
/// "intarsia/intarsia_host_c.h"), or a C++ program's choice ("intarsia/c_kernels.h").
typedef struct intarsia_kernels intarsia_kernels;
/// Threads that share the work of a run (`intarsia_team_create`, or a C++ program's pool).
typedef struct intarsia_team intarsia_team;

/// What was wrong, as data; fields that do not apply are -1 or 0. Plain data: copies need no
/// freeing, `text` excepted, which belongs to the caller whose name was looked up, or to an
/// operator.
typedef struct intarsia_diagnostic {
  size_t struct_size;
  intarsia_code code;
  int32_t node;     ///< Index of the node in the plan.
  int32_t operand;  ///< Index of its operand, or of the input or output.
  int32_t axis;
  int64_t expected;  ///< In units that `what` says.
  int64_t found;
  const char* what;  ///< The thing that is wrong; static storage. May hold "{}" and "{expected}".
  const char* text;  ///< Of `text_length` bytes, not terminated; or NULL.
  uint32_t text_length;
} intarsia_diagnostic;

/// What a plan needs, read without opening it.
typedef struct intarsia_plan_info {
  size_t struct_size;
  uint32_t format_version;
  uint32_t node_count;
  uint32_t threads;  ///< The most that a team may have.
  uint32_t reserved;
  uint64_t arena_bytes;  ///< What `intarsia_open` needs, all included.
  uint64_t plan_bytes;
  uint64_t weights_bytes;
} intarsia_plan_info;

/// Something that kernels ask for by key: "intarsia/services.h".
typedef struct intarsia_service {
  uint64_t key;
  void* pointer;
} intarsia_service;

/// Choices of one session. All zero but `struct_size` is the default, as is NULL for the whole.
typedef struct intarsia_options {
  size_t struct_size;
  const intarsia_team* team;         ///< NULL: the calling thread alone. Outlives the session.
  const intarsia_service* services;  ///< Outlive the session.
  size_t service_count;
  int64_t max_steps;      ///< Nodes of loops' bodies that one run may execute; 0: 2^32.
  int32_t skip_checksum;  ///< Not 0: `intarsia_open` does not compare the structure's checksum.
  int32_t portable_only;  ///< Not 0: code for the processor's wider vectors is not used.
} intarsia_options;

/// Reads and verifies a plan, as `intarsia_open` does. `why` may be NULL.
intarsia_code intarsia_read_plan_info(const void* plan, size_t plan_bytes, intarsia_plan_info* info,
                                      intarsia_diagnostic* why);

/// Opens a plan of any origin: all of it is verified, hostile bytes are safe. NULL on failure, with
/// the reason in `why` unless that is NULL. `options` is copied; NULL is the default.
intarsia_session* intarsia_open(const void* plan, size_t plan_bytes,
                                const intarsia_kernels* kernels, void* arena, size_t arena_bytes,
                                const intarsia_options* options, intarsia_diagnostic* why);
/// The same for plans that are part of the program: only the header is checked.
intarsia_session* intarsia_open_trusted(const void* plan, size_t plan_bytes,
                                        const intarsia_kernels* kernels, void* arena,
                                        size_t arena_bytes, const intarsia_options* options,
                                        intarsia_diagnostic* why);
/// Ends the session; what it returned becomes invalid, the arena is the caller's again. NULL and
/// closed sessions are ignored.
void intarsia_close(intarsia_session* session);

/// Entry points are numbered from 0; most plans have one, "main". The name is NULL if there is none
/// of this number.
int32_t intarsia_entry_count(const intarsia_session* session);
const char* intarsia_entry_name(const intarsia_session* session, int32_t entry);
intarsia_code intarsia_find_entry(intarsia_session* session, const char* name, int32_t* entry);

/// Which of an entry point's tensors. States are the plan's: `entry` does not matter for them.
typedef int32_t intarsia_kind;
enum { INTARSIA_INPUT = 0, INTARSIA_OUTPUT = 1, INTARSIA_STATE = 2 };

/// An input, output or state. Extents change with `intarsia_resize_input` and with runs, and the
/// pointers show that; the other fields are a snapshot.
typedef struct intarsia_port {
  size_t struct_size;
  const char* name;        ///< Ends with a zero byte; "" in plans without names.
  const int32_t* extents;  ///< `rank` of them; NULL for rank 0.
  const int32_t* maximum;  ///< The planned ones, which are the largest.
  void* data;              ///< NULL for outputs of an entry point that has not run yet.
  int64_t count;           ///< Elements at the present extents.
  size_t bytes;            ///< ... and the bytes that they take.
  size_t maximum_bytes;    ///< What a bound buffer must hold.
  intarsia_type type;
  int32_t rank;
} intarsia_port;

/// An axis of a port.
typedef struct intarsia_axis {
  size_t struct_size;
  const char* symbol;  ///< Name of its symbolic dimension; NULL if it is fixed, or no symbol alone.
  int32_t extent;
  int32_t minimum;
  int32_t maximum;
  int32_t varies;  ///< 0 or 1.
} intarsia_axis;

/// How many there are (0 if there is no such entry point), one by number, and the number of a name.
int32_t intarsia_port_count(const intarsia_session* session, int32_t entry, intarsia_kind kind);
intarsia_code intarsia_get_port(intarsia_session* session, int32_t entry, intarsia_kind kind,
                                int32_t index, intarsia_port* port);
intarsia_code intarsia_find_port(intarsia_session* session, int32_t entry, intarsia_kind kind,
                                 const char* name, int32_t* index);
intarsia_code intarsia_get_axis(intarsia_session* session, int32_t entry, intarsia_kind kind,
                                int32_t index, int32_t axis, intarsia_axis* info);

/// All inputs or outputs of an entry point as JSON, byte for byte as onnx-mlir writes signatures:
/// type, dims (-1 where one varies) and name of each. A sequence is {"seq": ...} around what an
/// element of it is, an optional value {"optional": ...}, a map {"key": TYPE, "map": ...}. Writes
/// at most `capacity` bytes, always terminated, and returns the length of the whole text, as
/// snprintf does; 0 on failure. `intarsia_signature` of "intarsia/intarsia_host_c.h" finds the
/// memory itself.
size_t intarsia_write_signature(const intarsia_session* session, int32_t entry, intarsia_kind kind,
                                char* buffer, size_t capacity);

/// The elements. Inputs are written before a run, which leaves them undefined unless the buffer is
/// bound; outputs are read until the next run of the entry point. NULL and INTARSIA_WRONG_TYPE
/// unless `type` is their type; NULL and INTARSIA_INVALID_ARGUMENT for an output of an entry point
/// whose last run failed, or that has not run (of the first 64 entry points; later ones are not
/// watched). A tensor without elements may be NULL, too: `intarsia_get_port` tells.
void* intarsia_input_data(intarsia_session* session, int32_t entry, int32_t index,
                          intarsia_type type);
const void* intarsia_output_data(intarsia_session* session, int32_t entry, int32_t index,
                                 intarsia_type type);

/// Sets the extents of an input that varies, before it is written; they stay until set again.
intarsia_code intarsia_resize_input(intarsia_session* session, int32_t entry, int32_t index,
                                    const int32_t* extents, int32_t rank);

/// Uses the caller's buffer in place of the arena's, without a copy. It holds `maximum_bytes`, is
/// aligned for its element type, and stays until another is bound or the session is closed; NULL
/// returns to the arena's. Inputs are never written. Outputs must not overlap other buffers.
intarsia_code intarsia_bind_input(intarsia_session* session, int32_t entry, int32_t index,
                                  const void* buffer, size_t bytes);
intarsia_code intarsia_bind_output(intarsia_session* session, int32_t entry, int32_t index,
                                   void* buffer, size_t bytes);

/// Computes all outputs of an entry point. Blocks until done. After a failure outputs are
/// undefined, and the session may run again.
intarsia_code intarsia_run(intarsia_session* session, int32_t entry);

/// A tensor over memory of the caller's; a value, nothing to free. Elements are dense, the last
/// axis fastest.
typedef struct intarsia_tensor {
  void* data;
  size_t bytes;  ///< Of the memory, at least what the elements take.
  intarsia_type type;
  int32_t rank;
  int32_t extents[INTARSIA_MAX_RANK];
} intarsia_tensor;

/// Makes one. INTARSIA_WRONG_TYPE, INTARSIA_WRONG_RANK, INTARSIA_WRONG_EXTENT, or
/// INTARSIA_INVALID_ARGUMENT if `bytes` are too few or a pointer is NULL; then `tensor` is all
/// zero.
intarsia_code intarsia_make_tensor(intarsia_tensor* tensor, void* data, size_t bytes,
                                   intarsia_type type, const int32_t* extents, int32_t rank);

/// A whole run: sets the extents of every input and copies its elements in, runs, and copies the
/// outputs out. The numbers of tensors must be those of the entry point. Types, ranks and extents
/// are checked before anything is copied.
///
/// An input whose `data` is NULL is left as it is: already written or bound. Buffers that were
/// bound to the others are let go. An output with `data` is written there, and must have room
/// (`bytes`); one whose `data` is NULL is made to show the session's own memory. Type, rank and
/// extents of outputs are set by the call.
intarsia_code intarsia_run_tensors(intarsia_session* session, int32_t entry,
                                   const intarsia_tensor* inputs, int32_t input_count,
                                   intarsia_tensor* outputs, int32_t output_count);

/// Sets the extents of a state that varies, before it is written: to give a session what another
/// one has left.
intarsia_code intarsia_resize_state(intarsia_session* session, int32_t index,
                                    const int32_t* extents, int32_t rank);

/// Makes all states what they were at open. They are read and written by `intarsia_get_port`.
intarsia_code intarsia_reset_states(intarsia_session* session);

/// An element of a tensor of strings: where the session keeps its characters.
typedef struct intarsia_string {
  uint32_t offset;
  uint32_t length;  ///< In bytes.
} intarsia_string;

/// Copies `length` characters for an input's element. They serve the next run of the entry point;
/// the first string added after that run begins anew.
intarsia_code intarsia_add_string(intarsia_session* session, int32_t entry, const char* text,
                                  size_t length, intarsia_string* element);
/// The characters of an output's element, `element.length` bytes without a zero behind them, valid
/// until the entry point runs again. NULL if there are none.
const char* intarsia_string_text(const intarsia_session* session, intarsia_string element);

/// Why the last call of this session failed. With NULL for the session: that there is none.
intarsia_code intarsia_last_error(const intarsia_session* session, intarsia_diagnostic* why);
/// The same as a sentence that names the thing, ends with a zero byte and belongs to the session,
/// until the next call of this function; long ones are cut. Never NULL.
const char* intarsia_message(intarsia_session* session);
/// The sentence in full, into `buffer`, as snprintf: returns its length without the zero. `plan`,
/// or NULL, is the plan that failed, for the names of its nodes.
size_t intarsia_describe(const intarsia_diagnostic* why, const void* plan, size_t plan_bytes,
                         char* buffer, size_t capacity);
/// "kWrongExtent", ... and ONNX's name, "float", ...; static storage, never NULL.
const char* intarsia_code_name(intarsia_code code);
const char* intarsia_type_name(intarsia_type type);

#ifdef __cplusplus
}  // extern "C"
#endif
