// SPDX-License-Identifier: Apache-2.0
//
// Runs an entry point of any plan on numbers that count up, or on words, and prints its outputs:
//
//   c_program FILE.plan [ENTRY]
//
// The program knows nothing of the plan: what there is to fill and to print it asks the session.
#include <stdio.h>
#include <string.h>

#include "intarsia/intarsia_host_c.h"

enum { kShown = 8 };

static int fail(intarsia_session* session, const char* what) {
  fprintf(stderr, "c_program: %s: %s\n", what, intarsia_message(session));
  return 0;
}

// An input, at its largest extents: floats that count from 1, words, or zero bytes.
static int fill(intarsia_session* session, int32_t entry, int32_t index) {
  intarsia_port port = {.struct_size = sizeof port};
  if (intarsia_get_port(session, entry, INTARSIA_INPUT, index, &port) != INTARSIA_OK) {
    return fail(session, "input");
  }
  if (port.type == INTARSIA_FLOAT) {
    for (int64_t i = 0; i < port.count; ++i) ((float*)port.data)[i] = (float)(i + 1);
  } else if (port.type == INTARSIA_STRING) {
    intarsia_string* words = port.data;
    for (int64_t i = 0; i < port.count; ++i) {
      const char* word = i % 2 == 0 ? "hello" : "world";
      if (intarsia_add_string(session, entry, word, strlen(word), &words[i]) != INTARSIA_OK) {
        return fail(session, port.name);
      }
    }
  } else if (port.bytes != 0) {
    memset(port.data, 0, port.bytes);
  }
  return 1;
}

static void show(intarsia_session* session, const intarsia_port* port) {
  printf("%s: %s [", port->name, intarsia_type_name(port->type));
  for (int32_t axis = 0; axis < port->rank; ++axis) {
    printf(axis == 0 ? "%d" : ", %d", (int)port->extents[axis]);
  }
  printf("]");
  for (int64_t i = 0; i < port->count && i < kShown; ++i) {
    if (port->type == INTARSIA_FLOAT) {
      printf(" %g", ((const float*)port->data)[i]);
    } else if (port->type == INTARSIA_STRING) {
      const intarsia_string word = ((const intarsia_string*)port->data)[i];
      const char* text = intarsia_string_text(session, word);
      printf(" \"%.*s\"", (int)word.length, text != NULL ? text : "");
    }
  }
  printf("\n");
}

static int run(intarsia_session* session, const char* name) {
  int32_t entry = 0;
  for (int32_t i = 0; i < intarsia_entry_count(session); ++i) {
    printf("entry point %d: %s\n", (int)i, intarsia_entry_name(session, i));
  }
  if (name != NULL && intarsia_find_entry(session, name, &entry) != INTARSIA_OK) {
    return fail(session, "ENTRY");
  }
  const char* signature = intarsia_signature(session, entry, INTARSIA_INPUT);
  printf("inputs of %s: %s\n", intarsia_entry_name(session, entry), signature);
  for (int32_t i = 0; i < intarsia_port_count(session, entry, INTARSIA_INPUT); ++i) {
    if (!fill(session, entry, i)) return 0;
  }
  if (intarsia_run(session, entry) != INTARSIA_OK) return fail(session, "run");
  for (int32_t i = 0; i < intarsia_port_count(session, entry, INTARSIA_OUTPUT); ++i) {
    intarsia_port port = {.struct_size = sizeof port};
    if (intarsia_get_port(session, entry, INTARSIA_OUTPUT, i, &port) != INTARSIA_OK) {
      return fail(session, "output");
    }
    show(session, &port);
  }
  return 1;
}

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    fprintf(stderr, "usage: c_program FILE.plan [ENTRY]\n");
    return 2;
  }
  intarsia_diagnostic why = {.struct_size = sizeof why};
  intarsia_session* session = intarsia_open_file(argv[1], intarsia_all_kernels(), NULL, &why);
  if (session == NULL) {
    char text[512];
    intarsia_describe(&why, NULL, 0, text, sizeof text);
    fprintf(stderr, "c_program: %s: %s\n", argv[1], text);
    return 1;
  }
  const int done = run(session, argc == 3 ? argv[2] : NULL);
  intarsia_close(session);
  return done ? 0 : 1;
}
