"""The page in a browser: sorting, filtering, searching, kernels, keys, narrow screens, print, accessibility."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest

from porter.report.gap.inputs import read_inputs
from porter.report.gap.page import chart_library
from porter.report.gap.write import written
from tests.later import later
from tests.outside import needs, require
from tests.report.gap_documents import NASTY_PATH, built, estimated, ported, validated

playwright = later("playwright.sync_api")
pytestmark = [
    pytest.mark.slow,
    needs("chromium"),
]
ROW = "#table tbody tr"
TIMEOUT = 20_000


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a small project that tries to break out."""
    folder = tmp_path_factory.mktemp("page")
    documents = {"port": ported(folder), "build": built(), "validate": validated(), "estimate": estimated()}
    for name, document in documents.items():
        (folder / f"{name}.json").write_text(json.dumps(document))
    inputs = read_inputs([folder / f"{name}.json" for name in documents], folder)
    (folder / "report.html").write_text(written(inputs, "html"), "utf-8")
    return folder / "report.html"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """One headless browser for all tests."""
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=require("chromium"), args=["--no-sandbox"])
        yield started
        started.close()


class Seen:
    """What a page did that it should not."""

    def __init__(self) -> None:
        self.errors: list[str] = []
        self.requests: list[str] = []
        self.dialogs: list[str] = []


def _window(browser: Any, **wanted: Any) -> Any:
    page = browser.new_context(**wanted).new_page()
    page.set_default_timeout(TIMEOUT)
    return page


SIZE = {"width": 1280, "height": 900}


@pytest.fixture(scope="module")
def window(browser: Any) -> Any:
    """Where tests that want no more than another size of a window open the report: a new one takes as long as it."""
    return _window(browser, viewport=SIZE)


@pytest.fixture
def opened(browser: Any, window: Any, page_file: Path, request: pytest.FixtureRequest) -> Iterator[Any]:
    """The report; parameters are those of a window of its own."""
    wanted = getattr(request, "param", {"viewport": SIZE})
    is_shared = wanted.keys() == {"viewport"}
    page, seen = window if is_shared else _window(browser, **wanted), Seen()
    if is_shared:
        page.set_viewport_size(wanted["viewport"])
    listening = {
        "pageerror": lambda error: seen.errors.append(str(error)),
        "console": lambda message: seen.errors.append(message.text) if message.type == "error" else None,
        "request": lambda one: seen.requests.append(one.url),
        "dialog": lambda dialog: (seen.dialogs.append(dialog.message), dialog.dismiss()),
    }
    for event, heard in listening.items():
        page.on(event, heard)
    page.goto(page_file.as_uri())
    page.wait_for_selector("#overview h1")
    yield page
    for event, heard in listening.items():
        page.remove_listener(event, heard)
    if is_shared:  # the next test finds it as if it were new
        page.evaluate("localStorage.clear()")
        page.emulate_media(media="null", color_scheme="null")
        page.goto("about:blank")
    else:
        page.context.close()
    assert not seen.errors
    assert not seen.dialogs
    assert [url for url in seen.requests if not url.startswith(("file:", "data:"))] == []


def shown(page: Any) -> list[str]:
    """Names of the kernels in the table, in order."""
    return [link.inner_text() for link in page.locator(f"{ROW}:visible td:first-child a").all()]


def open_kernel(page: Any, name: str) -> None:
    """Follows the kernel's link, and waits for its code."""
    page.locator(f"{ROW} a", has_text=name).click()
    page.wait_for_selector("#detail .code")


def test_sort(opened: Any) -> None:
    """By name up and down, by registers, and the header says which."""
    assert sorted(shown(opened)[1:3]) == ["look_up", "nasty"]
    assert [shown(opened)[number] for number in (0, 3, 4)] == ["locked", "scale", "block_sum"]
    opened.get_by_role("button", name="Kernel", exact=True).click()
    assert shown(opened) == sorted(shown(opened))
    assert opened.locator("#table th", has_text="Kernel").first.get_attribute("aria-sort") == "ascending"
    opened.get_by_role("button", name="Kernel", exact=True).click()
    assert shown(opened) == sorted(shown(opened), reverse=True)
    opened.get_by_role("button", name="Registers").click()
    assert shown(opened)[:2] == ["locked", "block_sum"]
    opened.get_by_role("button", name="Work left").click()
    efforts = [int(row.get_attribute("data-effort")) for row in opened.locator(ROW).all()]
    assert efforts == sorted(efforts, reverse=True)
    assert efforts[0] > 0


def test_filter_and_search(opened: Any) -> None:
    """States, hazards and words narrow the table, together, and the count is said aloud."""
    opened.get_by_role("checkbox", name="agrees on virtual devices").check()
    assert shown(opened) == ["block_sum"]
    opened.get_by_role("checkbox", name="wrong result").check()
    assert shown(opened) == ["locked", "block_sum"]
    assert opened.get_by_role("status").inner_text() == "2 of 5 kernels"
    opened.get_by_role("checkbox", name="64-lane hazards").check()
    opened.get_by_role("searchbox").fill("reduce lock")
    opened.wait_for_function("document.querySelector('#shown').textContent.startsWith('1 ')")
    assert shown(opened) == ["locked"]


def test_keys(opened: Any) -> None:
    """Everything can be reached without a pointer."""
    opened.keyboard.press("/")
    assert opened.evaluate("document.activeElement.id") == "search"
    opened.keyboard.type("locked")
    opened.wait_for_function("document.querySelector('#shown').textContent.startsWith('1 ')")
    opened.keyboard.press("Escape")
    opened.wait_for_function("document.querySelector('#shown').textContent === '5 kernels'")
    opened.locator(f"{ROW} a").first.focus()
    opened.keyboard.press("Enter")
    opened.wait_for_selector("#detail .code")
    assert opened.evaluate("document.activeElement.tagName") == "H1"
    assert opened.locator("#detail h1").inner_text() == "locked"
    opened.keyboard.press("n")
    opened.wait_for_function("!['', 'locked'].includes(document.querySelector('#detail h1')?.textContent ?? '')")
    opened.keyboard.press("p")
    opened.wait_for_function("document.querySelector('#detail h1')?.textContent === 'locked'")
    opened.keyboard.press("Escape")
    opened.wait_for_selector("#table")
    assert opened.locator("#detail").is_hidden()


def test_a_view_of_the_table_has_an_address(opened: Any, page_file: Path) -> None:
    """What is searched, filtered and sorted is in it; it opens as it was sent, and a kernel's page leads back to it."""
    opened.get_by_role("checkbox", name="wrong result").check()
    opened.get_by_role("checkbox", name="agrees on virtual devices").check()
    opened.get_by_role("searchbox").fill("reduce s")
    opened.get_by_role("button", name="Registers").click()
    opened.wait_for_function("location.hash.includes('q=reduce')")
    address = opened.evaluate("location.hash")
    said = parse_qs(address.partition("?")[2])
    assert address.startswith("#kernels?")
    assert {name: set(value[0].split(",")) for name, value in said.items()} == {
        "q": {"reduce s"},
        "state": {"wrong", "proven"},
        "sort": {"registers:descending"},
    }
    before = shown(opened)
    open_kernel(opened, before[0])
    opened.get_by_role("link", name="All kernels").click()
    opened.wait_for_selector("#table", state="visible")
    assert (opened.evaluate("location.hash"), shown(opened)) == (address, before)

    opened.goto("about:blank")
    opened.goto(page_file.as_uri() + address)
    opened.wait_for_function("document.querySelector('#shown').textContent.includes(' of ')")
    assert shown(opened) == before
    assert opened.get_by_role("searchbox").input_value() == "reduce s"
    assert opened.get_by_role("checkbox", name="wrong result").is_checked()
    assert not opened.get_by_role("checkbox", name="64-lane hazards").is_checked()
    opened.evaluate("location.hash = '#kernels?hazards=1&state=nothing&sort=nothing:up'")
    opened.wait_for_function("document.querySelector('#hazardous').checked")
    assert opened.get_by_role("searchbox").input_value() == ""
    assert shown(opened) == ["locked"]


def test_the_keyboard_alone(opened: Any) -> None:
    """Tab comes to everything in the order of the page and shows where it is; Space and Enter work."""
    opened.keyboard.press("Tab")
    assert opened.evaluate("document.activeElement.className") == "skip"
    assert opened.evaluate("document.activeElement.getBoundingClientRect().left") >= 0
    reached = []
    for _ in range(80):
        opened.keyboard.press("Tab")
        seen = opened.evaluate(
            """(() => {
              const one = document.activeElement, style = getComputedStyle(one.closest('.chip') || one);
              return one === document.body ? null
                : [one.id || one.name || one.dataset.key || one.textContent.trim(), style.outlineStyle];
            })()"""
        )
        if seen is None:
            break
        reached.append(seen[0])
        assert seen[1] != "none", seen
    order = [reached.index(name) for name in ("Do next", "theme", "search", "state", "hazardous", "effort", "locked")]
    assert order == sorted(order)
    opened.get_by_role("checkbox", name="wrong result").focus()
    opened.keyboard.press("Space")
    assert shown(opened) == ["locked"]
    opened.keyboard.press("Space")
    opened.get_by_role("button", name="Kernel", exact=True).focus()
    opened.keyboard.press("Enter")
    assert shown(opened) == sorted(shown(opened))
    summary = opened.locator(".work summary").first
    summary.focus()
    opened.keyboard.press("Enter")
    opened.wait_for_function("document.querySelector('.work details').open")


def test_a_kernel(opened: Any) -> None:
    """Original beside port, findings at their lines, evidence, what it does not show, how to repeat it."""
    open_kernel(opened, "locked")
    text = opened.locator("#detail").inner_text()
    assert "S102" in text
    assert "memory ordering between blocks" in text
    assert "porter validate reduce/sum.cu.case.toml --case locked --seed 7" in text.replace("project/", "")
    assert "out[3] is 1.0, expected 2.0" in text
    assert "12 registers spilled" in text
    old, new = opened.locator(".side").all()
    assert "while (atomicCAS(lock, 0, 1) != 0)" in old.inner_text()
    assert "atomicCAS" in new.inner_text()
    assert opened.locator(".side .note", has_text="S102").first.is_visible()
    if chart_library() is not None:
        opened.wait_for_selector("#detail .chart svg")
        assert opened.locator("#detail .chart").first.get_attribute("aria-label")
    opened.get_by_role("button", name="Show the whole file").click()
    assert "#include <hip/hip_runtime.h>" in new.inner_text()


def test_lines_stand_beside_their_port(opened: Any) -> None:
    """Both sides have the same number of rows, and rows that pair up begin at the same height."""
    open_kernel(opened, "block_sum")
    counts = opened.evaluate(
        "[...document.querySelectorAll('.lines')].map((one) => one.querySelectorAll('.tx').length)"
    )
    assert counts[0] == counts[1]
    heights = opened.evaluate(
        "[...document.querySelectorAll('.lines')].map((one) => [...one.querySelectorAll('.tx')].pop().offsetTop)"
    )
    assert abs(heights[0] - heights[1]) <= 1


def test_nasty_names_are_text(opened: Any) -> None:
    """Scripts, quotes and characters that turn text around are shown, never obeyed."""
    opened.locator(f"{ROW} a", has_text="nasty").click()
    opened.wait_for_selector("#detail .code")
    code = opened.locator("#detail .code").inner_text()
    assert "<script>alert(4)</script>" in code
    assert "\\u202eevil\\u202c" in code
    assert "\u202e" not in opened.evaluate("document.body.innerText")
    assert "more)" in opened.locator("#detail .code").inner_text()
    assert opened.locator("#detail img, #detail script").count() == 0
    assert NASTY_PATH in opened.locator("#detail .signature").inner_text()
    assert opened.evaluate("document.documentElement.scrollWidth") <= 1280


PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "color_scheme": "dark"}


@pytest.mark.parametrize("opened", [PHONE], indirect=True)
def test_a_narrow_screen(opened: Any) -> None:
    """Nothing is wider than the screen, neither the overview nor a kernel."""
    width = "document.documentElement.scrollWidth"
    assert opened.evaluate(width) <= 390
    assert opened.locator(f"{ROW} a").first.is_visible()
    open_kernel(opened, "locked")
    assert opened.evaluate(width) <= 390
    for note in opened.locator(".side .note").all():
        box = note.bounding_box()
        assert box is None or box["x"] + box["width"] <= 390
    old, new = (side.bounding_box() for side in opened.locator(".side").all())
    assert new["y"] >= old["y"] + old["height"] - 1


@pytest.mark.parametrize("opened", [{"viewport": {"width": 1280, "height": 900}}], indirect=True)
def test_print(opened: Any) -> None:
    """On paper: light, without controls, all rows, charts included, and the code wraps."""
    opened.emulate_media(media="print", color_scheme="dark")
    opened.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert opened.locator(".tools").is_hidden()
    assert opened.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert len(shown(opened)) == 5
    opened.set_viewport_size({"width": 690, "height": 980})  # A4 within its margins
    assert opened.evaluate("document.documentElement.scrollWidth") <= 690
    assert len(opened.pdf()) > 20_000


def test_the_theme_can_be_chosen(opened: Any) -> None:
    """Automatic, light, dark; and the choice is said to screen readers."""
    button = opened.locator("#theme")
    colours = []
    for name in ("light", "dark"):
        button.click()
        assert name in button.get_attribute("aria-label")
        colours.append(opened.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert len(set(colours)) == 2


def test_the_address_says_what_is_shown(opened: Any) -> None:
    """A kernel has a link of its own, and the browser's back leads to where one was."""
    opened.evaluate("location.hash = '#kernels'")
    open_kernel(opened, "scale")
    assert opened.evaluate("location.hash").startswith("#k")
    opened.go_back()
    opened.wait_for_selector("#table", state="visible")
    opened.locator(".work summary").first.click()
    opened.locator(".places a").first.click()
    opened.wait_for_selector("#detail .code")
    assert "Original" in opened.locator("#detail").inner_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("view", ["overview", "kernel"])
def test_accessibility(opened: Any, page_file: Path, scheme: str, view: str) -> None:
    """axe finds nothing, in both themes."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    page = opened
    page.emulate_media(color_scheme=scheme)
    page.goto("about:blank")
    page.goto(page_file.as_uri())
    for summary in page.locator("summary").all():
        summary.click()
    if view == "kernel":
        open_kernel(page, "block_sum")
    if chart_library() is not None:
        page.wait_for_selector(f"{'#detail' if view == 'kernel' else '#overview'} .chart svg")
    results = axe.Axe().run(page, options={"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]})
    found = [(v["id"], v["impact"], [n["html"][:120] for n in v["nodes"]][:3]) for v in results.response["violations"]]
    assert not found


@pytest.mark.parametrize(
    "opened", [{"viewport": {"width": width, "height": 900}} for width in (390, 1024, 1600)], indirect=True
)
def test_estimates(opened: Any) -> None:
    """Below the roofs, by band; per kernel with its band, what costs it, and the port's lines by their shares."""
    if chart_library() is not None:
        plot = opened.locator("#charts figure", has_text="Estimates below the roofs of MI300X")
        assert "no measurements" in plot.inner_text()
        plot.scroll_into_view_if_needed()
        plot.locator("svg").wait_for()
        assert {"memory", "L2", "f32 VALU"} <= set(plot.locator("svg text").all_text_contents())
    open_kernel(opened, "block_sum")
    told = opened.locator("#detail").inner_text()
    assert "nothing was measured" in told and "Left out: TLB misses" in told
    assert "9.00 us" in told and "6.92 us \u2013 11.7 us" in told and "atomics of one line (not tested)" in told
    assert "lanes <off>: less divergence" in told and "15\u00a0% of the estimate lies in other files" in told
    shares = opened.locator("#detail .share").all_inner_texts()
    assert shares == ["60\u00a0%", "25\u00a0%"]
    colours = opened.evaluate(
        "[...document.querySelectorAll('.share')].map((one) => getComputedStyle(one, '::before').backgroundColor)"
    )
    assert len(set(colours)) == 2
    assert opened.evaluate("document.documentElement.scrollWidth <= innerWidth")
