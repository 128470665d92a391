"""The page of label findings in Chromium: keys decide, decisions are downloaded, texts are never markup."""

import json

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect, sync_playwright

from plaudit import RewardOutput, Trajectory
from plaudit.labels import Decision, examine, read_decisions, write_page
from plaudit.rollouts import Rollout
from tests.browser import find_chromium

HOSTILE = "<script>document.title = 'owned'</script> The answer is 1,800."


@pytest.fixture(scope="module")
def page_file(tmp_path_factory):
    """A page with two findings of one kind."""
    samples = [
        Rollout(Trajectory(prompt=f"<b>{group}</b>", response=response, ground_truth="1800"), RewardOutput(reward))
        for group in ("one", "two")
        for response, reward in ((HOSTILE, 0.0), ("The answer is 1800.", 1.0))
    ]
    path = tmp_path_factory.mktemp("labels") / "labels.html"
    write_page(path, examine(samples), "Labels of <rollouts>")
    return path


@pytest.fixture
def page(page_file):
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
        page = browser.new_page()
        errors = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda message: errors.append(message.text))
        page.goto(page_file.as_uri())
        yield page
        assert errors == []
        browser.close()


def test_keys_decide_and_the_download_is_read_again(page, tmp_path):
    expect(page.locator("#progress")).to_have_text("finding 1 of 2, 0 decided")
    page.keyboard.press("3")
    expect(page.locator("#progress")).to_have_text("finding 2 of 2, 1 decided")
    page.keyboard.press("e")
    page.keyboard.type("1801")
    page.keyboard.press("Enter")
    with page.expect_download() as download:
        page.keyboard.press("d")
    download.value.save_as(tmp_path / "decisions.json")
    decisions = read_decisions(tmp_path / "decisions.json")
    assert sorted(decisions.values()) == [(Decision.LABEL_WRONG, "1801"), (Decision.REWARD_WRONG, "")]
    assert len(json.loads((tmp_path / "decisions.json").read_text())["decisions"]) == 2


def test_texts_are_shown_as_texts_and_the_page_is_accessible(page):
    assert "owned" not in page.title()
    expect(page.locator("#prompt")).to_contain_text("<b>")
    violations = Axe().run(page).response["violations"]
    assert [each["id"] for each in violations] == []
