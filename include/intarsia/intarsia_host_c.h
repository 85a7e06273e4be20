// SPDX-License-Identifier: Apache-2.0
//
// The C API's conveniences for programs with an operating system: they take memory from the heap,
// read files and start threads. Link `intarsia::c_host`; firmware links `intarsia::c` alone.
//
//     intarsia_diagnostic why = {.struct_size = sizeof why};
//     intarsia_session* s = intarsia_open_file("model.plan", intarsia_all_kernels(), NULL, &why);
//     ... "intarsia/intarsia_c.h" ...
//     intarsia_close(s);                          // frees what was taken
//
// Errors as in "intarsia/intarsia_c.h". Nothing here is called during a run.
#pragma once

#include "intarsia/intarsia_c.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Every kernel for the CPU that the library has: for programs that do not know their plans. Adds
/// some megabytes to the program, and is not there in builds with INTARSIA_FAMILIES. NULL if there
/// is no memory for its table, which is made at the first call. Any thread.
const intarsia_kernels* intarsia_all_kernels(void);

/// Opens the plan in a file, in memory of its own for plan and arena, which `intarsia_close` frees.
/// The file is read once. A file that cannot be read is INTARSIA_INVALID_ARGUMENT, with the path as
/// the diagnostic's text; too little memory is INTARSIA_ARENA_TOO_SMALL.
intarsia_session* intarsia_open_file(const char* path, const intarsia_kernels* kernels,
                                     const intarsia_options* options, intarsia_diagnostic* why);
/// The same for a plan in memory of any alignment, which is copied.
intarsia_session* intarsia_open_copy(const void* plan, size_t plan_bytes,
                                     const intarsia_kernels* kernels,
                                     const intarsia_options* options, intarsia_diagnostic* why);

/// Inputs or outputs of an entry point as JSON (`intarsia_write_signature`). The text ends with a
/// zero byte and belongs to the session: it is valid until `intarsia_close`, which frees it. NULL
/// if there is no such entry point or no memory. Asking again gives another copy.
const char* intarsia_signature(intarsia_session* session, int32_t entry, intarsia_kind kind);

/// A team of threads, the caller's included, for `intarsia_options.team`; one session at a time has
/// it ("intarsia/thread_team.h"). NULL if the system gives no threads. Destroy it after its
/// sessions are closed; NULL is ignored.
intarsia_team* intarsia_team_create(int32_t threads);
void intarsia_team_destroy(intarsia_team* team);

#ifdef __cplusplus
}  // extern "C"
#endif
