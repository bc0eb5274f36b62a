# complete.zsh FOLDER LINE: what zsh offers after LINE, one word a line, with FOLDER in $fpath. A
# shell on a pseudo-terminal is asked, whose compadd prints its matches instead of keeping them.
zmodload zsh/zpty
zpty asked "TERM=dumb zsh -f -i"
feed() { zpty -w asked "$1"; }
feed "PROMPT= RPROMPT= ; unsetopt zle_bracketed_paste beep; fpath=(${(q)1} \$fpath)"
feed "autoload -U compinit && compinit -u -D"
feed 'compadd() {
  local -a __
  [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]] && { builtin compadd "$@"; return; }
  builtin compadd -O __ "$@"
  local each
  for each in $__; do print -r -- "<<${(Q)each}>>"; done
  builtin compadd "$@"
}
zstyle ":completion:*" list-prompt ""
show() { zle complete-word; print -r -- "<<end>>"; exit }
zle -C offer complete-word _main_complete
finish() { zle offer; print -r -- "<<"end">>"; exit }
zle -N finish
bindkey "^I" finish; print "<<"ready">>"'
zpty -r asked line '*<<ready>>*'
zpty -w -n asked "$2"$'\t'
zpty -r asked line '*<<end>>*'
print -r -- $line | tr -d '\r' | grep -o '<<[^<>]*>>' | sed 's/^<<//; s/>>$//' | grep -vx end | sort -u
zpty -d asked
