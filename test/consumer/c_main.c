// SPDX-License-Identifier: Apache-2.0
//
// What a user's program in C does with the model of make_model.py: linked in, and from the file
// that is the argument; exits with 0 if the numbers are right.
#include <stdio.h>

#include "intarsia/intarsia_host_c.h"
#include "tiny_c_c.h"

static int right(intarsia_session* session) {
  if (session == NULL) return 0;
  float* x = intarsia_input_data(session, 0, 0, INTARSIA_FLOAT);
  const float values[] = {1, 2, 3, -1, 0, 1}, expected[] = {0, 28.5f, 0, 4.5f};
  for (int i = 0; i < 6; ++i) x[i] = values[i];
  int same = intarsia_run(session, 0) == INTARSIA_OK;
  const float* y = intarsia_output_data(session, 0, 0, INTARSIA_FLOAT);
  for (int i = 0; same && i < 4; ++i) same = y[i] == expected[i];
  if (!same) fprintf(stderr, "%s\n", intarsia_message(session));
  intarsia_close(session);
  return same;
}

int main(int argc, char** argv) {
  intarsia_diagnostic why = {.struct_size = sizeof why};
  if (argc != 2 || !right(tiny_c_open(NULL, &why)) ||
      !right(intarsia_open_file(argv[1], intarsia_all_kernels(), NULL, &why))) {
    char text[256];
    intarsia_describe(&why, NULL, 0, text, sizeof text);
    fprintf(stderr, "consumer_c: the output is wrong: %s\n", text);
    return 1;
  }
  puts("consumer_c: the model's output is right in C");
  return 0;
}
