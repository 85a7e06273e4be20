// SPDX-License-Identifier: Apache-2.0
//
// What a program consists of that does nothing.
int main() {
  return 0;
}
