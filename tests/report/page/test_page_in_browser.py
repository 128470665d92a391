"""The page of a report in Chromium: opened from disk, it filters, sorts, pages and links, and shows any text as text.

One browser for all; whatever a page asks of the network, says on the console or raises is collected, and there is none.
"""

import re
from collections.abc import Iterator
from urllib.parse import quote

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect, sync_playwright

from plaudit import RewardOutput, Status, Trajectory
from plaudit.diff import compare_pairs
from plaudit.report.page.report_file import MAX_BYTES, build_report, write_page
from plaudit.report.view import ViewServer
from plaudit.rollouts import Rollout
from tests.browser import find_chromium
from tests.report.filter_cases import FILTERS
from tests.report.page.hostile_run import HOSTILE, hostile_rollouts

SIZES = {"desk": {"width": 1280, "height": 900}, "phone": {"width": 390, "height": 800}}


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def report(tmp_path_factory) -> str:
    path = tmp_path_factory.mktemp("report") / "report.html"
    rollouts = hostile_rollouts()
    runs = [
        build_report("<b>first</b>", rollouts, max_bytes=MAX_BYTES),
        build_report("second", rollouts[:40], max_bytes=MAX_BYTES),
    ]
    pairs = [
        (one.trajectory, one.output, other.output) for one, other in zip(rollouts[:40], rollouts[8:48], strict=True)
    ]
    write_page(runs, path, difference=compare_pairs(pairs))
    return path.as_uri()


@pytest.fixture
def page(browser) -> Iterator[Page]:
    context = browser.new_context(viewport=SIZES["desk"])
    page = context.new_page()
    noticed: list[str] = []
    page.on("request", lambda request: noticed.append(f"request: {request.url}"))
    page.on("console", lambda message: noticed.append(f"console: {message.text}"))
    page.on("pageerror", lambda error: noticed.append(f"error: {error}"))
    yield page
    assert "owned" not in page.title()
    assert [each for each in noticed if not each.startswith("request: file:///")] == []
    context.close()


def visit(page: Page, report: str, address: str = "") -> None:
    page.goto("about:blank")
    page.goto(f"{report}{address}")
    expect(page.locator("html")).to_have_attribute("data-ready", re.compile("."))


def rows(page: Page) -> list[int]:
    return [
        int(each)
        for each in page.locator("table.samples tbody tr").evaluate_all("all => all.map(r => r.dataset.sample)")
    ]


def test_the_overview_shows_a_card_with_advice_and_a_table_for_every_part(page, report):
    visit(page, report)
    titles = page.locator(".card h2").all_inner_texts()
    assert set(titles) >= {
        "Rewards",
        "Not scored",
        "Over training",
        "Groups",
        "Components",
        "Pass rates",
        "Length",
        "Time",
    }
    cards = page.locator(".card")
    assert page.locator(".card:has(table)").count() == cards.count()
    advised = page.locator(".card:has(.advice)").evaluate_all("all => all.map(each => each.dataset.level)")
    assert advised
    assert "good" not in advised  # advice only where there is something to do
    assert page.locator(".card svg[role=img]").count() >= 8
    expect(page.locator("h1")).to_have_text("<b>first</b>")


@pytest.mark.parametrize("address", ["#overview", "#samples?sample=3", "#compare"])
def test_no_foreign_name_turns_the_words_around_it(page, report, address):
    visit(page, report, address)
    assert not re.search("[\u202a-\u202e\u2066-\u2069]", page.locator("body").text_content().split('{"served"')[0])


@pytest.mark.parametrize(("sort", "expected"), [("constructor", 0), ("-constructor", 159), ("%252Dminus", 159)])
def test_samples_are_sorted_by_columns_of_any_name(page, report, sort, expected):
    visit(page, report, f"#samples?sort={sort}")
    assert rows(page)[0] == expected
    assert page.locator("th[aria-sort]").inner_text().split()[0] in ("constructor", "-minus")


def test_hostile_responses_are_shown_as_text(page, report):
    visit(page, report, "#samples")
    for number, hostile in enumerate(HOSTILE):
        page.evaluate(f"location.hash = '#samples?sample={number}'")
        expect(page.locator(".detail h2")).to_have_text(f"Sample {number}")
        printed = re.sub(r"U\+[0-9A-F]{4}", "", page.locator(".detail [aria-label=Response]").text_content())
        wanted = "".join(char for char in hostile if char.isprintable() or char == " ")
        assert printed == wanted[:20_000]
        assert page.locator(".detail script, .detail img, .detail a, .detail style, .detail meta").count() == 0


def test_a_long_response_is_shown_whole_on_demand(page, report):
    visit(page, report, "#samples?sample=11")
    page.get_by_role("button", name="Show all 1,000,000 characters").click()
    assert len(page.locator(".detail [aria-label=Response]").text_content()) == 1_000_000


def test_filters_narrow_the_list_and_stand_in_the_address(page, report):
    visit(page, report, "#samples")
    assert "160 samples" in page.locator(".count").inner_text()
    page.get_by_label("Filter by column").select_option("status")
    page.get_by_label("Comparison").select_option("!=")
    page.get_by_label("Value to compare with").fill("ok")
    page.get_by_role("button", name="Filter", exact=True).click()
    expect(page.locator(".count [role=status]")).to_contain_text("10 samples of")
    assert rows(page) == [number for number in range(160) if number % 17 == 3]
    assert "where=status" in page.url
    page.get_by_label("Remove the filter status != ok").click()
    expect(page.locator(".count [role=status]")).to_have_text("160 samples")


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("where=level%3D3", [n for n in range(160) if n % 5 == 3]),
        ("where=kind%3D%3Ceasy%3E&where=level%3D0", None),
        ("where=training_step%3E9", list(range(144, 160))),
        ("search=%3CSCRIPT%3Edoc", None),
        ("where=nothing%3D1", []),
    ],
)
def test_a_query_in_the_address_gives_its_samples(page, report, address, expected):
    visit(page, report, f"#samples?{address}")
    expect(page.locator(".count [role=status]")).to_contain_text("samples")
    assert rows(page) == (rows(page) if expected is None else expected[:50])
    assert bool(rows(page)) is (expected != [])


def test_the_page_filters_as_where_does(page, tmp_path):
    rollouts = [
        Rollout(Trajectory(f"q{n}", "r", columns={} if value is None else {"n": value}), RewardOutput(1.0))
        for n, (value, _, _) in enumerate(FILTERS)
    ]
    report = write_run(tmp_path / "filters.html", rollouts)
    for number, (value, condition, holds) in enumerate(FILTERS):
        wanted = quote(f"n{condition}", safe="")
        visit(page, report, f"#samples?where={wanted}&where=sample%3D{number}")
        assert (rows(page) == [number]) is holds, (value, condition)


def test_samples_are_sorted_by_a_click_and_paged(page, report):
    visit(page, report, "#samples?where=status%3Dok")
    page.get_by_role("button", name="reward").click()
    expect(page.locator("th[aria-sort=descending]")).to_contain_text("reward")
    first = page.locator("table.samples tbody tr").first.locator("td").nth(2).inner_text()
    rewards = [one.output.reward for one in hostile_rollouts() if one.output.reward is not None]
    assert float(first) == pytest.approx(max(rewards), rel=1e-2)
    page.get_by_role("button", name="Next page").click()
    expect(page.locator(".pager")).to_contain_text("2 / 3")
    assert len(rows(page)) == 50


def test_keys_move_through_samples_and_close_them(page, report):
    visit(page, report, "#samples")
    for key, heading in (("j", "Sample 0"), ("j", "Sample 1"), ("k", "Sample 0")):
        page.keyboard.press(key)
        expect(page.locator(".detail h2")).to_have_text(heading)
    page.keyboard.press("Escape")
    expect(page.locator(".detail")).to_be_hidden()
    page.keyboard.press("/")
    expect(page.get_by_label("Search prompts and responses")).to_be_focused()


def test_a_sample_shows_components_steps_and_the_rewards_of_its_words(page, report):
    visit(page, report, "#samples?sample=33")
    assert page.locator(".detail .turn").count() == 2
    tables = page.locator(".detail .turn table")
    assert [table.locator("tbody tr").count() for table in tables.all()] == [2, 1, 1]
    assert tables.nth(1).locator("th").all_inner_texts() == ["where", "before", "after"]
    assert page.locator("table.parts tbody tr").count() == 3
    assert page.locator(".detail .text span[title^=reward]").count() == len(
        hostile_rollouts()[33].trajectory.response.split()
    )
    visit(page, report, "#samples?sample=13")
    assert page.locator(".detail .text span[title^=reward]").all_inner_texts() == [
        hostile_rollouts()[13].trajectory.response[:1], hostile_rollouts()[13].trajectory.response[1:3],
    ]  # fmt: skip


def test_groups_are_listed_with_their_samples_and_can_be_opened(page, report):
    visit(page, report, "#samples?view=groups&sort=-reward")
    assert page.locator("table.samples tbody tr").count() == 20
    assert page.locator("table.samples tbody tr").first.locator(".cell").count() == 8
    page.locator("table.samples tbody tr a").first.click()
    expect(page.locator(".count [role=status]")).to_contain_text("8 samples of")


def test_a_bar_of_the_histogram_leads_to_its_samples(page, report):
    visit(page, report)
    page.locator("#card-rewards svg .hit.red").click()
    expect(page.locator(".count [role=status]")).to_contain_text("samples of")
    assert "where=status" in page.url


def test_several_runs_are_compared(page, report):
    visit(page, report, "#compare")
    expect(page.locator("table thead").first).to_contain_text("second")
    page.get_by_label("Run", exact=True).select_option("1")
    expect(page.locator(".tile .value").first).to_have_text("40")


def test_differences_of_two_runs_are_shown_with_their_samples(page, report):
    visit(page, report, "#compare")
    expect(page.locator("#card-differences")).to_contain_text("Of 40 samples")
    first = page.locator("#card-flips .difference").first
    expect(first).to_contain_text("→")
    first.locator("a").click()
    expect(page.locator(".detail h2")).to_have_text("Sample 3")


@pytest.mark.parametrize(("size", "scheme"), [("desk", "light"), ("phone", "dark")])
@pytest.mark.parametrize("address", ["#overview", "#samples?sample=33", "#samples?view=groups", "#compare"])
def test_nobody_is_shut_out(page, report, size, scheme, address):
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size(SIZES[size])
    visit(page, report, address)
    found = Axe().run(page).response["violations"]
    grave = [one for one in found if one["impact"] in ("serious", "critical")]
    assert [(one["id"], one["nodes"][0]["html"][:200]) for one in grave] == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth + 1")


def test_a_served_page_shows_a_run_as_it_grows(browser, tmp_path):
    path = tmp_path / "run" / "rollouts.jsonl"
    path.parent.mkdir()
    path.write_bytes(b"".join(rollout.to_line() for rollout in hostile_rollouts(40)))
    noticed: list[str] = []
    with ViewServer([tmp_path / "run"]) as server:
        page = browser.new_page(viewport=SIZES["desk"])
        page.on("console", lambda message: noticed.append(message.text))
        page.on("pageerror", lambda error: noticed.append(str(error)))
        page.on("request", lambda request: request.url.startswith(server.address) or noticed.append(request.url))
        page.goto(server.address)
        expect(page.locator(".tile .value").first).to_have_text("40", timeout=20_000)
        with path.open("ab") as file:
            file.writelines(rollout.to_line() for rollout in hostile_rollouts(80)[40:])
        expect(page.locator(".tile .value").first).to_have_text("80", timeout=20_000)
        page.goto(f"{server.address}#samples?where=status!%3Dok&search=I THINK&sample=54")
        expect(page.locator(".detail h2")).to_have_text("Sample 54")
        expect(page.locator(".count [role=status]")).to_contain_text("4 samples of")
        assert rows(page) == [20, 37, 54, 71]
        page.close()
    assert noticed == []


PICTURE = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAYAAACNMs+9AAAAFUlEQVR42mP8z8BQz0AEYBxVSF+FABJADveWkH6o"
    "AAAAAElFTkSuQmCC"
)
CHAT = {
    "prompt": [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Where is this?"},
                {"type": "image_url", "image_url": {"url": PICTURE}},
                {"type": "image_url", "image_url": {"url": "https://example.org/x.png"}},
                {"type": "image", "image": "data:image/svg+xml;base64,PHN2Zz48L3N2Zz4="},
            ],
        }
    ],
    "completion": [
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"function": {"name": "<b>map</b>", "arguments": '{"x": 1}'}}],
        },
        {"role": "tool", "name": "map", "content": "Rome"},
        {"role": "assistant", "content": "It is Rome."},
    ],
}


def test_a_response_of_several_messages_shows_all_of_them_with_tool_calls_and_images(page, tmp_path):
    rollout = Rollout(Trajectory.from_dict(CHAT), RewardOutput(1.0))
    write_page([build_report("chat", [rollout], max_bytes=MAX_BYTES)], tmp_path / "chat.html")
    visit(page, (tmp_path / "chat.html").as_uri(), "#samples?sample=0")
    shown = page.locator(".message")
    expect(shown).to_have_count(4)
    assert shown.locator("> .role").all_inner_texts() == ["user", "assistant", "tool · map", "assistant"]
    assert page.locator(".tool-call").inner_text().splitlines() == ["calls <b>map</b>", '{"x": 1}']
    pictures = page.locator("img.picture")
    expect(pictures).to_have_count(1)
    assert pictures.evaluate("async image => { await image.decode(); return image.naturalWidth }") == 10
    assert "image: https://example.org/x.png" in shown.first.inner_text()
    assert "Further columns" not in page.locator("body").inner_text()


def test_the_list_of_samples_shows_the_texts_of_a_prompt_in_parts_and_names_its_images(page, tmp_path):
    rollout = Rollout(Trajectory.from_dict(CHAT), RewardOutput(1.0))
    visit(page, write_run(tmp_path / "chat.html", [rollout]), "#samples")
    assert page.locator("td.preview.prompt").inner_text() == "Where is this? [image] [image] [image]"
    assert page.locator("[role=status]").first.inner_text() == "1 sample"


def write_run(path, rollouts) -> str:
    write_page([build_report("run", rollouts, max_bytes=MAX_BYTES)], path)
    return path.as_uri()


def plain_rollouts(count, *, prompts=None, score=None, words=""):
    """Samples with rewards of 0 and 1; with as many prompts as samples there are no groups."""
    for number in range(count):
        prompt = f"question {number % (prompts or count)}"
        trajectory = Trajectory(prompt, f"answer {number} {words}", ground_truth=f"truth {number}")
        value = float(number % 3 == 0)
        yield Rollout(trajectory, RewardOutput(value, score=value if score else None))


def test_no_table_has_headers_only(page, tmp_path):
    trajectories = [Trajectory("q", "r", group="q", training_step=step) for step in (1, 1, 2, 2)]
    visit(page, write_run(tmp_path / "few.html", [Rollout(each, RewardOutput(1.0)) for each in trajectories]))
    expect(page.locator("#main")).to_contain_text("Over training")
    assert page.locator("table.plain").count() > 0
    assert page.locator("table.plain:not(:has(tbody tr))").count() == 0


def test_nothing_is_said_about_groups_or_scores_where_there_are_none(page, tmp_path):
    visit(page, write_run(tmp_path / "plain.html", plain_rollouts(60)))
    shown = page.locator("#main").inner_text().lower()
    for word in ("group", "score ", "phantom", "all right", "nothing to do", "what to do"):
        assert word not in shown
    visit(page, write_run(tmp_path / "grouped.html", plain_rollouts(60, prompts=20)))
    shown = page.locator("#main").inner_text().lower()
    assert "live: rewards differ" in shown
    assert "phantom" not in shown
    assert "all right" not in shown


def test_few_samples_are_shown_as_tables_and_many_as_charts(page, tmp_path):
    visit(page, write_run(tmp_path / "few.html", plain_rollouts(5, score=True)))
    assert page.locator(".card svg[role=img]").count() == 0
    expect(page.locator("#card-rewards table").first).to_be_visible()
    visit(page, write_run(tmp_path / "many.html", plain_rollouts(20, score=True)))
    assert page.locator(".card svg[role=img]").count() > 0


@pytest.mark.parametrize("solved", [0, 1, 2, 3])
def test_the_tallest_bar_has_a_label(page, tmp_path, solved):
    rollouts = [
        Rollout(Trajectory(f"q{group}", f"r{number}"), RewardOutput(right := float(number < solved), score=right))
        for group in range(20)
        for number in range(3)
    ]
    visit(page, write_run(tmp_path / "solved.html", rollouts))
    labels = page.get_by_role("img", name="Prompts by how often they are solved").locator("text").all_text_contents()
    assert ["never", "30–40 %", "60–70 %", "always"][solved] in labels


def test_a_mean_without_unscored_samples_is_shown_with_the_mean_over_all(page, tmp_path):
    failed = [Rollout(Trajectory("q", "r"), RewardOutput.unscored(Status.ERROR, "too long")) for _ in range(20)]
    visit(page, write_run(tmp_path / "partial.html", [*plain_rollouts(60, score=True), *failed]))
    expect(page.locator(".tiles")).to_contain_text("0.25 over all, 25 % unscored")


def test_prompt_and_ground_truth_stand_beside_the_response(page, tmp_path):
    visit(page, write_run(tmp_path / "table.html", plain_rollouts(30)), "#samples")
    row = page.locator("table.samples tbody tr").nth(3)
    assert row.locator("td.preview").all_inner_texts() == ["question 3", "answer 3", "truth 3"]


def test_a_search_reads_each_block_once_and_answers_while_one_types(page, tmp_path):
    words = " ".join(f"word{number}" for number in range(60))
    report = write_run(tmp_path / "search.html", plain_rollouts(2_000, words=words))
    visit(page, report, "#samples")
    blocks = page.locator("script[id^=run-0-]").count()
    assert blocks > 3
    page.evaluate(
        "() => { window.read = 0; const once = DecompressionStream; "
        "window.DecompressionStream = function (kind) { window.read++; return new once(kind); }; }"
    )
    page.locator("input[type=search]").press_sequentially("answer 177")
    expect(page.locator("[role=status]").first).to_contain_text("11 samples of a run with 2,000 samples")
    assert rows(page) == [177, *range(1770, 1780)]
    expect(page.locator("input[type=search]")).to_be_focused()
    assert (
        page.evaluate("() => window.read") <= 2 * blocks
    )  # once for the search, and once for the samples that are shown
    page.locator("input[type=search]").press_sequentially("9")
    expect(page.locator("[role=status]").first).to_contain_text("1 sample of a run with 2,000 samples")
