"""The labelling page in Chromium: keys label, the download is read, nothing of the judge or the author is shown."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect, sync_playwright

from plaudit import Trajectory
from plaudit.calibration import read_labels, sample_key, write_labelling_page
from plaudit.judges import ChatEndpoint, LLMJudge
from tests.browser import find_chromium

SAMPLES = [
    Trajectory(
        f"<b>Question {number}</b>",
        f"<script>document.title = 'owned'</script> Answer {number}",
        ground_truth="the reference",
        columns={"model": "secret-author", "reward": 0.125},
    )
    for number in range(2)
]
RUBRIC = {
    "criteria": [{"name": "right", "description": "Is it right?"}, {"name": "kind", "description": "Is it kind?"}]
}
JUDGE = LLMJudge(ChatEndpoint("http://127.0.0.1:1/v1", "m"), RUBRIC)


@pytest.fixture
def page(tmp_path):
    path = tmp_path / "labels.html"
    assert write_labelling_page(path, JUDGE, SAMPLES, 10, "Labels for <rubric>") == 2
    assert "secret-author" not in path.read_text()
    assert "0.125" not in path.read_text()
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
        page = browser.new_page()
        errors = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda message: errors.append(message.text))
        page.goto(path.as_uri())
        yield page
        assert errors == []
        browser.close()


def test_keys_label_responses_and_the_file_is_read_back(page, tmp_path):
    expect(page.locator("#progress")).to_have_text("response 1 of 4, 0 decided")
    expect(page.locator("#heading")).to_have_text("Is it right?")
    expect(page.locator("#facts")).to_contain_text("the reference")
    expect(page.locator("#edit")).to_be_hidden()
    assert "owned" not in page.title()
    assert [each["id"] for each in Axe().run(page).response["violations"]] == []
    for key in "12k20":  # yes, no, back, no again, unclear
        page.keyboard.press(key)
    expect(page.locator("#progress")).to_have_text("response 4 of 4, 3 decided")
    page.keyboard.press("e")  # there is no label to correct here
    with page.expect_download() as download:
        page.keyboard.press("d")
    download.value.save_as(tmp_path / "decisions.json")
    labels = read_labels(tmp_path / "decisions.json", JUDGE, SAMPLES)
    first = min(map(sample_key, SAMPLES))
    assert labels == {(first, "right"): True, (first, "kind"): False}
