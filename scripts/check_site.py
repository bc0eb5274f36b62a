#!/usr/bin/env python3
"""check_site.py FOLDER [--screenshots DIR]: links of a built site, and its pages in a browser.

Every link to another place of the site must lead to a page, and to a name in it. With the package playwright and a
Chromium (CHROMIUM, else `chromium` or `google-chrome`) every page is opened at 400 and 1200 pixels: nothing may be wider than the window but
what scrolls by itself, and the console must have no error. Addresses outside are not asked.
"""

import argparse
import html.parser
import os
import pathlib
import shutil
import sys
import urllib.parse


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.links, self.names = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.names.update(given[key] for key in ("id", "name") if given.get(key))
        for key in ("href", "src"):
            if given.get(key):
                self.links.append(given[key])


def dead_links(folder):
    pages = {path.resolve(): Page(path.read_text(encoding="utf-8", errors="replace")) for path in folder.rglob("*.html")}
    dead = []
    for path, page in pages.items():
        for link in page.links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
            place = f"{path.relative_to(folder.resolve())}: {link}"
            if not target.exists():
                dead.append(place)
            elif parts.fragment and target in pages and urllib.parse.unquote(parts.fragment) not in pages[target].names:
                dead.append(place)
    return len(pages), dead


# The widest element that sticks out of the window and lies in nothing that scrolls.
WIDER = """() => {
  const out = [];
  for (const e of document.querySelectorAll("main *, article *")) {
    const box = e.getBoundingClientRect();
    if (box.width === 0 || box.right <= window.innerWidth + 1) continue;
    let held = false;
    for (let p = e.parentElement; p; p = p.parentElement)
      if (["auto", "scroll", "hidden"].includes(getComputedStyle(p).overflowX) && p !== document.body && p.getBoundingClientRect().right <= window.innerWidth + 1) held = true;
    const own = getComputedStyle(e).overflowX;
    if (!held && getComputedStyle(e).position !== "absolute") out.push(e.tagName + "." + e.className + " " + Math.round(box.right) + " " + e.textContent.slice(0, 40));
  }
  return out.slice(0, 3);
}"""


def in_browser(folder, chromium, screenshots):
    from playwright.sync_api import sync_playwright

    wrong = []
    with sync_playwright() as tools:
        browser = tools.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for width in (400, 1200):
            page = browser.new_page(viewport={"width": width, "height": 800})
            page.route("**/*", lambda route: route.continue_() if route.request.url.startswith("file:") else route.fulfill(status=200, body=""))
            said = []
            page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
            page.on("pageerror", lambda error: said.append(str(error)))
            for path in sorted(folder.rglob("*.html")):
                name = str(path.relative_to(folder))
                page.goto(path.resolve().as_uri(), wait_until="load")
                wrong += [f"{name} at {width}: console: {text}" for text in said]
                said.clear()
                wrong += [f"{name} at {width}: wider than the window: {text}" for text in page.evaluate(WIDER)]
                if screenshots and name in ("index.html", "howto/install.html", "explanation/proven.html", "tutorials/outcome_sets.html", "reference/measured/history.html"):
                    screenshots.mkdir(parents=True, exist_ok=True)
                    page.screenshot(path=str(screenshots / f"{name.replace('/', '-')}-{width}.png"))
            page.close()
        browser.close()
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--screenshots", type=pathlib.Path)
    chosen = parser.parse_args()
    pages, wrong = dead_links(chosen.folder)
    if not pages:
        print(f"{chosen.folder} has no page", file=sys.stderr)
        return 1
    chromium = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, ("chromium", "google-chrome"))), None)
    how = "links, console, widths"
    try:
        if chromium:
            wrong += in_browser(chosen.folder, chromium, chosen.screenshots)
        else:
            how = "links only: no Chromium"
    except ImportError:
        how = "links only: no package playwright"
    print("\n".join(wrong) or f"{pages} pages: {how}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
