"""Links between the repository's pages, and the start page's animation. scripts/check_site.py checks the built site."""

import re

import pytest
from conftest import ROOT

PAGES = sorted(
    path for path in [*ROOT.glob("*.md"), *ROOT.glob("[a-z]*/**/*.md")]
    if not path.relative_to(ROOT).parts[0].startswith("build") and path.parent.name != "measured"
    and path != ROOT / "docs" / "reference" / "help.md"
)  # fmt: skip
LINK = re.compile(r"\]\(([^)\s]+)\)|^(?:\.\. |```\{)image(?:::|\}) (\S+)", re.M)
MADE = ("docs/figures/", "docs/reference/measured/", "docs/reference/help.md")  # by scripts/docs.sh


def slugs(page):
    heads = re.findall(r"^#+ (.*)", re.sub(r"^```.*?^```", "", page.read_text(), flags=re.S | re.M), re.M)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def dead(page):
    text = re.sub(r"^```(?!\{).*?^```", "", page.read_text(), flags=re.S | re.M)
    for link in (one or two for one, two in LINK.findall(text)):
        path, _, name = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if "://" in link or link.startswith("mailto:") or str(target).startswith(tuple(f"{ROOT}/{made}" for made in MADE)):
            continue
        if not target.exists() or (name and target.suffix == ".md" and name not in slugs(target)):
            yield link


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    assert not list(dead(page))


def test_a_dead_link_is_found(tmp_path):
    (tmp_path / "there.md").write_text("# One head\n")
    page = tmp_path / "page.md"
    page.write_text("[a](there.md#one-head) [b](there.md#two) [c](gone.md)\n```\n[d](gone.md)\n```\n![e](none.png)\n")
    assert list(dead(page)) == ["there.md#two", "gone.md", "none.png"]


def test_the_animation_moves():
    """Of the start page's twelve blocks some part after the impact."""
    text = (ROOT / "docs" / "images" / "rocking_block_drop.svg").read_text()
    blocks = [values.split(";") for values in re.findall(r'values="([^"]*)"', text)]
    assert len(blocks) == 12 and len({len(frames) for frames in blocks}) == 1
    assert len({frames[0] for frames in blocks}) == 1
    assert len({frames[len(frames) // 3] for frames in blocks}) > 3
