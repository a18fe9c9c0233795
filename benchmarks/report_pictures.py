"""Pictures of a report for a person to look at: three widths, light and dark, the first kernel, a search, and paper.

python -m benchmarks.report_pictures REPORT.html -o FOLDER
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from porter.system.programs import on_this_machine

WIDTHS = {390: 844, 768: 1024, 1440: 900}
LONGEST = 6000  # pixels of one picture
CLIPPED = """
[...document.querySelectorAll('body *')].filter((one) => {
  const style = getComputedStyle(one);
  return one.children.length === 0 && one.textContent.trim() && style.overflowX === 'hidden' && !one.closest('.sr')
    && one.scrollWidth > one.clientWidth + 1 && style.textOverflow !== 'ellipsis' && one.clientWidth > 1;
}).slice(0, 5).map((one) => one.className + ': ' + one.textContent.trim().slice(0, 60))
"""


def main() -> None:
    """Takes the pictures, and prints what can be told without looking: excess of width, clipped text."""
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("report", type=Path)
    arguments.add_argument("--output", "-o", type=Path, required=True)
    given = arguments.parse_args()
    given.output.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=on_this_machine("chromium"), args=["--no-sandbox"])
        for width, height in WIDTHS.items():
            for scheme in ("light", "dark"):
                window = {"viewport": {"width": width, "height": height}, "color_scheme": scheme}
                look(browser.new_page(**window), given.report.resolve().as_uri(), given.output, f"{width}-{scheme}")
        paper = browser.new_page()
        paper.goto(given.report.resolve().as_uri())
        settled(paper)
        paper.pdf(path=given.output / "paper.pdf", format="A4")
        browser.close()


def settled(page: Any) -> None:
    """Waits until what was asked for is laid out; plots come when they are looked at."""
    page.wait_for_function("document.documentElement.dataset.theme !== undefined")
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(500)


def look(page: Any, address: str, folder: Path, name: str) -> None:
    """The overview from top to bottom, a search in the table, and the first kernel."""
    page.goto(address)
    settled(page)
    page.screenshot(path=folder / f"{name}-first.png")
    tall = page.evaluate("document.documentElement.scrollHeight")
    for place in range(0, min(tall, LONGEST * 3), 800):  # plots are drawn when they come into sight
        page.evaluate(f"scrollTo(0, {place})")
        page.wait_for_timeout(50)
    page.evaluate("scrollTo(0, 0)")
    settled(page)
    told(page, f"{name} overview")
    page.screenshot(path=folder / f"{name}-overview.png", full_page=True, clip=whole(page))
    page.evaluate("location.hash = '#kernels?state=manual'")
    settled(page)
    page.screenshot(path=folder / f"{name}-search.png")
    page.evaluate("location.hash = document.querySelector('#table tbody a').getAttribute('href')")
    page.wait_for_selector("#detail .code")
    settled(page)
    told(page, f"{name} kernel")
    page.screenshot(path=folder / f"{name}-kernel.png", full_page=True, clip=whole(page))
    page.close()


def whole(page: Any) -> dict[str, int]:
    """The page, as far as a picture reaches."""
    size = page.evaluate("[innerWidth, document.documentElement.scrollHeight]")
    return {"x": 0, "y": 0, "width": size[0], "height": min(size[1], LONGEST)}


def told(page: Any, name: str) -> None:
    """One line: height, excess of width, clipped texts."""
    tall, excess = page.evaluate(
        "[document.documentElement.scrollHeight, document.documentElement.scrollWidth - innerWidth]"
    )
    print(f"{name}: {tall} px tall, {max(excess, 0)} px too wide, clipped: {page.evaluate(CLIPPED)}")


if __name__ == "__main__":
    main()
