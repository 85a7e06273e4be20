#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What an undefined symbol means in a plug-in of operators: called by the linker with the kind of
# error and the symbol (--error-handling-script), before its own message.
[ "$1" = undefined-symbol ] || exit 0
name=$(c++filt "$2" 2>/dev/null || echo "$2")
case $name in
  *::run\(*)
    operator=${name%%::run\(*}
    echo "operators: no source defines the kernel ${operator}: SOURCES of intarsia_add_operators" \
      "has to name the file with its \`run\`, and where that is a template the file ends with" \
      "\`template struct intarsia::Instances<LIST>;\`" >&2 ;;
  *)
    echo "operators: nothing defines ${name}: link the library that does to the target of" \
      "intarsia_add_operators, with target_link_libraries" >&2 ;;
esac
exit 0
