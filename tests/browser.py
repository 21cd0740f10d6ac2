"""Debian's Chromium, headless, driven by selenium; nothing is downloaded."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

MISSING = "The tests of the report's page need Chromium. Install it with `apt-get install -y chromium chromium-driver`."


@contextmanager
def chromium() -> Iterator[Any]:
    """A headless browser. `narrow(driver, width)` and `darken(driver)` emulate another width and color scheme."""
    browser, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if browser is None or driver is None:
        raise AssertionError(MISSING)
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--window-size=1200,900"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    started = webdriver.Chrome(options=options, service=Service(driver))
    try:
        yield started
    finally:
        started.quit()


def narrow(driver: Any, width: int) -> None:
    size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


def darken(driver: Any, scheme: str = "dark") -> None:
    feature = {"name": "prefers-color-scheme", "value": scheme}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})


def overflow(driver: Any) -> int:
    """By how many pixels the page is wider than its window."""
    found: int = driver.execute_script("return document.documentElement.scrollWidth - innerWidth")
    return found


def complaints(driver: Any) -> list[str]:
    return [entry["message"] for entry in driver.get_log("browser")]
