#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# examples/inverse from a fresh clone: see examples/common/from_pytorch.sh.
exec bash "$(dirname "${BASH_SOURCE[0]}")/common/from_pytorch.sh" inverse
