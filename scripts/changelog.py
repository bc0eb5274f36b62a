#!/usr/bin/env python3
"""changelog.py check | collect [--root DIR]: fragments of changelog.d, see its README.md."""

import argparse
import pathlib
import re
import sys

KINDS = ("added", "changed", "fixed", "removed")


def fragments(folder):
    """{kind: [path]}, by name. Errors: ValueError naming the file."""
    found = {}
    for path in sorted(folder.iterdir()):
        if path.name == "README.md":
            continue
        match = re.fullmatch(r"[\w-]+\.(\w+)\.md", path.name)
        text = path.read_text(encoding="utf-8").strip()
        if not match or match[1] not in KINDS:
            raise ValueError(f"{path}: must be NAME.KIND.md, KIND one of {', '.join(KINDS)}")
        if not text or text.startswith(("-", "#")) or "\n\n" in text:
            raise ValueError(f"{path}: must be the text of one entry, without dash and heading")
        found.setdefault(match[1], []).append(path)
    return found


def collected(changelog, entries):
    """The changelog with entries, {kind: [text]}, first under their headings of [Unreleased]."""
    head, mark, rest = changelog.partition("## [Unreleased]\n")
    if not mark:
        raise ValueError("CHANGELOG.md has no ## [Unreleased]")
    section, following, older = rest.partition("\n## [")
    for kind, texts in entries.items():
        heading = f"### {kind.capitalize()}\n"
        lines = "".join("- " + text.replace("\n", "\n  ") + "\n" for text in texts)
        if heading in section:
            section = section.replace(heading, heading + lines, 1)
        else:
            section = section.rstrip("\n") + f"\n\n{heading}{lines}"
    return head + mark + section + following + older


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("way", choices=["check", "collect"])
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).parents[1])
    chosen = parser.parse_args()
    try:
        found = fragments(chosen.root / "changelog.d")
    except ValueError as error:
        print(f"changelog: {error}", file=sys.stderr)
        return 1
    if chosen.way == "collect":
        path = chosen.root / "CHANGELOG.md"
        entries = {kind: [each.read_text(encoding="utf-8").strip() for each in paths] for kind, paths in found.items()}
        path.write_text(collected(path.read_text(encoding="utf-8"), entries), encoding="utf-8")
        for each in (each for paths in found.values() for each in paths):
            each.unlink()
    print(f"changelog: {sum(map(len, found.values()))} fragments")
    return 0


if __name__ == "__main__":
    sys.exit(main())
