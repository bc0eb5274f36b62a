#!/usr/bin/env bash
# docs_header.sh FILE: a public header for doxygen, with the structs of carom/types that it includes
# in their place, and without the words of enumerations, which say what the values' names say.
set -euo pipefail
types=${1%/include/carom/*}/include/carom/types
name=${1##*/include/carom/}
sed -e "\|^#include <carom/types/$name>\$|{r $types/$name" -e 'd}' "$1" |
  sed '/^template <>$/{N;/auto words</{:a;/});$/!{N;ba};d}}'
