#!/usr/bin/env bash
# check_linker.sh [BUILD_DIR]: fails if code of a lower layer uses a symbol of a higher one, or
# one backend of another (docs/explanation/architecture.md):
#   cli, python > io > run > analysis, enclosure > api > cpu, cuda, reference > families > core
# It reads the objects of a complete build, as the linker does, because a call can go to a higher
# layer without an #include of it (scripts/check_layers.sh reads the #include lines). A symbol counts
# if neither the layer that uses it nor a lower one defines it, so that inline functions and
# templates that several layers instantiate do not count. --self-test tests the check.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# Reads lines "ROOM OBJECT KIND SYMBOL", as nm has kinds; prints what goes up.
judge() {
  awk '
    BEGIN {
      levels = split("core families backends api analysis run io cli", step, " ")
      for (i = 1; i <= levels; ++i) rank[step[i]] = i
      rank["models"] = rank["families"]
      rank["cpu"] = rank["cuda"] = rank["reference"] = rank["backends"]
      rank["enclosure"] = rank["analysis"]
      rank["python"] = rank["cli"]
    }
    !($1 in rank) { printf "check_linker: no room %s (%s)\n", $1, $2; broken = 1; exit }
    # Undefined, or weak without a definition; else defined.
    $3 ~ /^[Uwv]$/ { needed[$1, $4] = $2; next }
    { ++definitions }
    !(($4, $1) in defined) { defined[$4, $1] = $2; rooms[$4] = rooms[$4] " " $1 }
    END {
      if (broken) exit 2
      for (key in needed) {
        split(key, part, SUBSEP)
        from = part[1]; symbol = part[2]
        if (!(symbol in rooms)) continue  # of a library outside
        count = split(rooms[symbol], room, " ")
        to = ""
        fine = 0
        for (i = 1; i <= count; ++i) {
          below = rank[room[i]] < rank[from]
          aside = rank[room[i]] == rank[from] && rank[from] != rank["backends"]
          if (room[i] == from || below || aside) fine = 1
          else to = room[i]
        }
        if (fine) continue
        ++wrong
        printf "%-9s > %-9s  %s\n", from, to, symbol | "sort | c++filt"
      }
      close("sort | c++filt")
      printf "check_linker: %d definitions, %d symbols taken from a higher room or another backend\n",
        definitions, wrong
      exit wrong > 0
    }'
}

if [ "${1:-}" = --self-test ]; then
  expect() {  # expect STATUS TEXT LINES...: the judge's exit status, and a text among its output
    local status=0 output
    output=$(printf '%s\n' "${@:3}" | judge) || status=$?
    if [ "$status" != "$1" ] || [[ $output != *"$2"* ]]; then
      printf 'check_linker: self-test: status %s instead of %s, or no "%s" in:\n%s\n' \
        "$status" "$1" "$2" "$output" >&2
      exit 1
    fi
  }
  expect 0 "0 symbols" "api a.o U down" "core c.o T down" "core c.o U abort"
  expect 1 "core      > api        up" "core c.o U up" "api a.o T up"
  expect 1 "1 symbols" "families f.o U up" "families g.o U up" "cpu c.o W up"
  expect 1 "cpu       > reference  aside" "cpu c.o U aside" "reference r.o T aside"
  expect 1 "cuda      > cpu        aside" "cuda c.o U aside" "cpu r.o W aside"
  expect 0 "0 symbols" "core c.o U both" "core d.o W both" "api a.o W both"
  expect 0 "0 symbols" "cpu c.o U lower" "families f.o W lower" "reference r.o W lower"
  expect 1 "1 symbols" "io i.o w weak" "cli c.o T weak"
  expect 1 "families  > api        data" "models m.o T f" "families m.o U data" "api a.o D data"
  expect 2 "no room attic" "attic a.o T f"
  # Objects of a compiler, by way of nm.
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  mkdir -p "$work"/CMakeFiles/carom_{core,api}.dir
  echo 'int above(); int below() { return above(); }' >"$work/core.cpp"
  echo 'int above() { return 1; }' >"$work/api.cpp"
  commands=()
  for room in core api; do
    command="${CXX:-c++} -c $work/$room.cpp -o CMakeFiles/carom_$room.dir/$room.o "
    (cd "$work" && $command)
    commands+=("{\"command\": \"$command-g\"}")
  done
  printf '%s\n' "${commands[@]}" >"$work/compile_commands.json"
  status=0
  output=$("${BASH_SOURCE[0]}" "$work") || status=$?
  if [ $status != 1 ] || [[ $output != *"core      > api        above()"* ]]; then
    printf 'check_linker: self-test: of two objects it says, with status %s:\n%s\n' $status "$output" >&2
    exit 1
  fi
  echo "check_linker: the check finds what goes up"
  exit 0
fi

build=${1:-${CAROM_BUILD_DIR:-$here/build-release}}
# Libraries of CUDA would cost every start a tenth of a second (src/cuda/libraries.cpp opens them).
if readelf -d "$build/bin/carom" 2>/dev/null | grep -E 'NEEDED.*lib(cuda|cudart|cublas|cusolver)'; then
  echo "check_linker: the command loads the libraries above at its start" >&2
  exit 1
fi

# Those of this build's rooms, not what an earlier one left in the folder. Each instruction set is a
# target of its own in room cpu; the command is room cli. tests/cuda_on_host compiles room cuda.
rooms='carom_(core|families|models|cpu|simd_[a-z0-9]+|cuda|reference|api|analysis|enclosure|run|io|command)|_core'
mapfile -t listed < <(
  cd "$build"
  grep -oE ' -o [^ ]+\.o ' compile_commands.json | sed -E 's/^ -o | $//g' | sort -u |
    grep -E "(^|/)CMakeFiles/($rooms)\.dir/|carom_on_host\.dir/.*/src/cuda/" |
    while read -r object; do realpath -m "$object"; done)
objects=()
for object in ${listed[@]+"${listed[@]}"}; do
  if [ -f "$object" ]; then objects+=("$object"); fi
done
missing=$((${#listed[@]} - ${#objects[@]}))
if [ ${#objects[@]} = 0 ] || { [ $missing -gt 0 ] && [ "${2:-}" != --partial ]; }; then
  echo "check_linker: $missing of ${#listed[@]} objects of carom's rooms are not in $build" >&2
  exit 2
fi
nm -A "${objects[@]}" | awk '
  {
    at = index($0, ".o:")
    object = substr($0, 1, at + 1)
    n = split(substr($0, at + 3), part, " ")
    if (part[n - 1] ~ /^[a-tx-zN]$/) next  # local to its object
    match(object, /CMakeFiles\/[a-z_0-9]+\.dir\//)
    room = substr(object, RSTART + 11, RLENGTH - 16)
    if (room == "_core") room = "python"
    else sub(/^carom_/, "", room)
    if (room ~ /^simd_/) room = "cpu"
    else if (room == "command") room = "cli"
    else if (room == "on_host") room = "cuda"
    print room, object, part[n - 1], part[n]
  }' | judge
