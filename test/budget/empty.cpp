// SPDX-License-Identifier: Apache-2.0
//
// The yardstick: a program that does nothing.
int main() {
  return 0;
}
