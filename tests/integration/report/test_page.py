"""The page of `dbt-paimon report` in a real Chromium, with made-up figures: looks, clicks, a thousand tables."""

from __future__ import annotations

import time

import pytest
from selenium.webdriver.common.by import By

from browser import chromium, complaints, darken, narrow, overflow
from dbt_paimon.report import page
from dbt_paimon.report.figures import Table
from dbt_paimon.report.page import MANY_TABLES
from synthetic_report import report, table

EVIL = "<script>document.title='taken'</script>"


@pytest.fixture(scope="module")
def browser():
    with chromium() as driver:
        yield driver


@pytest.fixture
def opened(browser, tmp_path):
    def of(made) -> float:
        file = tmp_path / f"{id(made)}.html"
        if not file.exists():
            file.write_text(page.html(made), "utf-8")
        narrow(browser, 1200)
        darken(browser, "light")
        begun = time.perf_counter()
        browser.get(file.as_uri())
        return time.perf_counter() - begun

    return of


def test_a_click_opens_a_table(browser, opened):
    opened(report(5, Table("model.shop.gone", "shop.gone", "table", problem=f"No manifest {EVIL}")))
    details = browser.find_element(By.ID, "t-model-shop-table-0003")
    assert details.get_attribute("open") is None
    details.find_element(By.TAG_NAME, "summary").click()
    assert details.get_attribute("open") == "true"
    assert details.find_element(By.CSS_SELECTOR, "svg[role=img]").is_displayed()
    advised = browser.find_element(By.CSS_SELECTOR, "#advice li:last-child a")
    advised.click()
    target = browser.find_element(By.ID, advised.get_attribute("href").partition("#")[2])
    assert target.get_attribute("open") == "true"
    assert browser.title.startswith("shop:")
    assert EVIL in browser.find_element(By.ID, "advice").text
    assert complaints(browser) == []


@pytest.mark.parametrize("count", [5, MANY_TABLES + 1])
def test_a_click_on_a_column_opens_it_in_the_other_table(browser, opened, count):
    opened(report(count))
    browser.find_element(By.CSS_SELECTOR, "#t-model-shop-table-0004 > summary").click()
    browser.find_element(By.CSS_SELECTOR, "#t-model-shop-table-0004 details.columns > summary").click()
    for name in ("a name", "amount_<b>", "naïve"):
        link = browser.find_element(By.LINK_TEXT, f"table_0001.{name}")
        for _ in range(2):
            browser.execute_script("arguments[0].click()", link)
            row = browser.switch_to.active_element
            assert (row.tag_name, row.find_element(By.TAG_NAME, "th").text) == ("tr", name)
            details = browser.find_element(By.ID, "t-model-shop-table-0001")
            assert details.get_attribute("open") == "true"
            assert row.is_displayed()
            assert f"table_0000.{name}" in row.text and f"table_0004.{name}" in row.text
            browser.execute_script("arguments[0].open = false", details)
    assert complaints(browser) == []


@pytest.mark.parametrize("width", [360, 768, 1200])
def test_no_width_overflows(browser, opened, width):
    opened(report(12, table(4, "a_name_without_any_blank_that_is_longer_than_a_phone_is_wide_" * 2)))
    narrow(browser, width)
    browser.execute_script("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    assert overflow(browser) <= 0


def test_dark(browser, opened):
    opened(report(2))
    colours = []
    for scheme in ("light", "dark"):
        darken(browser, scheme)
        colours.append(browser.execute_script("return getComputedStyle(document.body).backgroundColor"))
    assert colours == ["rgb(245, 246, 248)", "rgb(15, 19, 25)"]


def test_without_javascript_a_table_opens(browser, opened, tmp_path):
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        opened(report(2))
        summary = browser.find_element(By.CSS_SELECTOR, "details.table summary")
        summary.click()
        assert browser.find_element(By.CSS_SELECTOR, "details.table").get_attribute("open") == "true"
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_a_screen_reader_has_names_for_all(browser, opened):
    opened(report(6))
    unnamed = browser.execute_script(
        "return [...document.querySelectorAll('svg, section, nav, table, input, select, button')].filter((each) => "
        "!each.getAttribute('aria-label') && !each.getAttribute('aria-labelledby') && !each.caption && "
        "!each.closest('label') && !each.innerText).map((each) => each.outerHTML.slice(0, 100))"
    )
    assert unnamed == []
    levels = browser.execute_script("return [...document.querySelectorAll('h1, h2, h3, h4')].map((h) => h.tagName)")
    assert levels[0] == "H1"
    assert levels.count("H1") == 1


def test_no_request_for_a_resource(browser, opened):
    opened(report(3))
    assert browser.execute_script("return performance.getEntriesByType('resource').length") == 0


def test_a_hundred_tables_are_less_than_two_megabytes():
    assert len(page.html(report(100)).encode()) < 2_000_000


@pytest.mark.full
def test_a_thousand_tables_stay_usable(browser, opened):
    made = report(1000)
    # Take the faster of two attempts, because the machine may be busy.
    assert min(opened(made), opened(made)) < 3
    search = browser.find_element(By.ID, "filter")
    took = browser.execute_script(
        "const begun = performance.now(); arguments[0].value = 'table_09'; "
        "arguments[0].dispatchEvent(new Event('input')); document.body.offsetHeight; return performance.now() - begun",
        search,
    )
    assert took < 200
    assert browser.find_element(By.ID, "shown").text == "100 of 1000 tables"
    visible = browser.execute_script("return document.querySelectorAll('#list > :not([hidden])').length")
    assert visible == 100
    details = browser.find_element(By.ID, "t-model-shop-table-0900")
    details.find_element(By.TAG_NAME, "summary").click()
    assert details.find_element(By.CSS_SELECTOR, "svg[role=img]").is_displayed()
    assert "<b>not bold</b>" in details.text
    assert complaints(browser) == []
