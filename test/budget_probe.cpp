// SPDX-License-Identifier: Apache-2.0
//
// What test/run.sh compiles to learn how fast a machine is (test/budgets.txt): templates of the
// standard library, as most of the project's sources are to a compiler.
#include <algorithm>
#include <iostream>
#include <map>
#include <regex>
#include <string>
#include <vector>

int main(int argc, char** argv) {
  std::map<std::string, std::vector<std::smatch>> found;
  const std::regex letters("[a-z]+");
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    for (std::sregex_iterator at(word.begin(), word.end(), letters), end; at != end; ++at) {
      found[at->str()].push_back(*at);
    }
  }
  for (auto& [word, places] : found) {
    std::sort(places.begin(), places.end(), [](const std::smatch& a, const std::smatch& b) {
      return a.position() < b.position();
    });
    std::cout << word << ' ' << places.size() << '\n';
  }
}
