#!/usr/bin/env bash
# manual.sh TREE CHECK: of the tree that `cmake --install` made, CHECK is
#   pages       every command has a page; groff renders it without a warning; it has every option of
#               the command's help
#   bash, zsh, fish   the shell completes commands, options, their words, models and files
# Exit status 77 where the tool is missing.
set -euo pipefail
tree=$1
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
carom=$tree/bin/carom
export PATH=$tree/bin:$PATH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

wrong=0
differ() {  # differ WHAT EXPECTED FOUND
  [ "$2" = "$3" ] && return
  printf '%s\n  expected: %s\n  found:    %s\n' "$1" "$2" "$3" >&2
  wrong=1
}
need() { command -v "$1" >/dev/null || { echo "$1 is missing" && exit 77; }; }
commands() { "$carom" --help | sed -n '/^Subcommands/,/^$/ s/^  \([a-z-]*\) .*/\1/p'; }

pages() {
  need groff
  local command page said options option status=0
  local -a named
  differ "pages" "$( (echo carom.1 && commands | sed 's/.*/carom-&.1/') | sort)" \
    "$(cd "$tree/share/man/man1" && printf '%s\n' *.1 | sort)"
  [ "$(commands | wc -l)" -ge 15 ] || { echo "the help lists too few commands" >&2 && wrong=1; }
  for command in "" $(commands); do
    named=(${command:+"$command"})
    page=$tree/share/man/man1/carom${command:+-$command}.1
    differ "$page" "$("$carom" man "${named[@]}")" "$(cat "$page")"
    groff -man -Tutf8 -ww -P-cbou "$page" >"$work/text" 2>"$work/said"
    said=$(cat "$work/said")
    differ "warnings of groff about $page" "" "$said"
    options=$("$carom" "${named[@]}" --help | grep -oE '^  (-h,)?--[a-z-]+' | grep -oE -- '--[a-z-]+')
    for option in $options; do
      grep -qE -- "^ +(-h, )?$option( |\$)" "$work/text" || differ "$page" "$option" "nothing"
    done
    differ "headings of $page" "NAME SYNOPSIS OPTIONS EXIT STATUS" \
      "$(grep -oxE 'NAME|SYNOPSIS|OPTIONS|EXIT STATUS' "$work/text" | xargs)"
  done
  # A planted warning is found.
  printf '.TH x 1\n.no_such_request\n' | groff -man -Tutf8 -ww >/dev/null 2>"$work/said"
  [ -s "$work/said" ] || { echo "groff warns of nothing" >&2 && wrong=1; }
  said=$("$carom" man juggle 2>&1) || status=$?
  differ "man juggle" "2" "$status"
  differ "completion tcsh" "carom: shell is tcsh: must be one of bash, zsh, fish" \
    "$("$carom" completion tcsh 2>&1 || true)"
  differ "man --folder" "carom: $work/none/carom.1: cannot be written" \
    "$("$carom" man --folder "$work/none" 2>&1 || true)"
  case $said in *"command is juggle: must be one of info, "*) ;; *) differ "man juggle" "its name" "$said" ;; esac
}

# Lines "WORDS OF THE LINE => WHAT IS OFFERED, sorted"; `complete` is the shell's.
judge() {
  local line expected
  mkdir "$work/files" && cd "$work/files" && touch 'plain.json' 'two words.h5'
  while IFS='>' read -r line expected; do
    differ "$1 completes '$line'" "${expected# }" "$(offered "$line" | sort | xargs -d '\n' | sed 's/ *$//')"
  done <<'LINES'
carom imp> impact impact-models
carom stab> stability
carom impact --meth> --method
carom impact --method > events lcp
carom motion --restitution st> stronge
carom equilibrium --method g> graphic
carom impact rocking_b> rocking_block
carom motion rocking_block_z> rocking_block_zeno
carom verify pla> plain.json
carom solve two> two words.h5
carom impact box_wall --output pla> plain.json
carom completion > bash fish zsh
LINES
}

case $2 in
  pages) pages ;;
  bash)
    # shellcheck disable=SC1091
    source "$tree/share/bash-completion/completions/carom"
    offered() {
      read -ra COMP_WORDS <<<"$1"
      [[ $1 != *' ' ]] || COMP_WORDS+=('')
      COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
      _carom
      printf '%s\n' "${COMPREPLY[@]}"
    }
    judge bash
    # --method=e comes as three words
    COMP_WORDS=(carom impact --method '=' e) COMP_CWORD=4
    _carom
    differ "bash completes --method=e" events "${COMPREPLY[*]}"
    complete -p carom | grep -q -- '-F _carom' || differ "complete -p" "-F _carom" "another"
    ;;
  zsh)
    need zsh
    offered() { zsh -f "$here/complete.zsh" "$tree/share/zsh/site-functions" "$1"; }
    judge zsh
    ;;
  fish)
    need fish
    export XDG_DATA_HOME=$work XDG_CONFIG_HOME=$work
    offered() {
      fish --no-config -c "source '$tree/share/fish/vendor_completions.d/carom.fish'; complete -C '$1'" |
        cut -f1
    }
    judge fish
    ;;
esac
exit $wrong
