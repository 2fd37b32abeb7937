"""Interactions with real key and mouse events. Every address restores the same state."""

from checks import VIEWS, check


def program(page, name):
    page.go("program")
    page.key("ArrowDown")
    page.key("ArrowDown")
    state = page.state()
    check(f"{name}: ↓ selects", state["selection"] is not None and state["detail"]["selectedLine"] >= 1, state["selection"])
    page.key("Home")
    check(f"{name}: home", page.state()["detail"]["selectedLine"] == 0)
    page.key("End")
    last = page.state()
    check(f"{name}: end", last["detail"]["selectedLine"] == last["detail"]["lines"] - 1)
    page.go("program&ops=all")
    for _ in range(40):
        page.key("ArrowDown", wait=False)
        if (page.state()["selection"] or {}).get("kind") == "instr":
            break
    before = page.state()["selection"]
    check(f"{name}: an instruction is selected", before and before["kind"] == "instr", before)
    page.key("u")
    after = page.state()
    check(f"{name}: u follows a user", after["selection"] != before or "no users" in after["message"], (before, after["selection"], after["message"]))
    page.key("/")
    page.type("opcode:fusion")
    hits = page.until("window.shoal.state().detail.hits !== null && window.shoal.state().detail")
    check(f"{name}: search", hits["hits"] >= 0)
    page.key("Escape")
    check(f"{name}: esc ends the search", page.state()["detail"]["hits"] is None)


def frame_keys(page, name):
    for number, view in enumerate(VIEWS, 1):
        page.key(str(number))
        check(f"{name}: key {number}", page.until(f"window.shoal.state().view === '{view}'"))
    page.key("?")
    check(f"{name}: help", page.js("document.querySelector('.help') !== null"))
    page.key("Escape")
    check(f"{name}: esc closes help", page.js("document.querySelector('.help') === null"))
    page.key("t")
    check(f"{name}: dark", page.js("document.documentElement.dataset.theme") == "dark")
    page.key("t")


def memory(page, name):
    page.go("memory")
    steps = page.state()["detail"]["steps"]
    page.key("]")
    page.key("[")
    page.key("p")
    detail = page.state()["detail"]
    check(f"{name}: p goes to the peak", detail["step"] == detail["peak"])
    page.key("w")
    zoomed = page.state()["detail"]["range"]
    check(f"{name}: w zooms in", zoomed["to"] - zoomed["from"] < steps or steps <= 20, zoomed)
    page.key("0")
    full = page.state()["detail"]["range"]
    check(f"{name}: 0 zooms out", full["from"] == 0 and full["to"] >= steps)
    page.click(500, 250)
    check(f"{name}: a click selects a step", "x=" in page.js("location.hash"))
    page.drag(300, 250, 600, 250)
    check(f"{name}: a drag selects a span", page.state()["detail"]["span"] is not None)
    page.wheel(500, 250, -100, ctrl=True)


def other_views(page, name):
    page.go("cost")
    boxes = page.state()["detail"]["boxes"]
    inner = next((box for box in boxes if box["y"] > 40 and box["width"] > 20), None)
    if inner:
        top = page.js("document.querySelector('.view').getBoundingClientRect().top")
        page.click(inner["x"] + 5, top + inner["y"] + 10)
        check(f"{name}: a click zooms the icicle", page.state()["detail"]["focus"] != "all" or page.state()["selection"], page.state()["detail"]["focus"])
        page.key("0")
    page.go("communication")
    if page.state()["detail"]["collectives"] > 0:
        page.key("ArrowDown")
        check(f"{name}: ↓ selects a row of the ledger", page.state()["detail"]["selectedGroup"] >= 0)
        folded = page.state()["detail"]["lines"]
        page.key("ArrowRight")
        unfolded = page.state()["detail"]
        count = unfolded["groups"][unfolded["selectedGroup"]]["count"]
        check(f"{name}: → unfolds a group", unfolded["lines"] == folded + count, (folded, unfolded["lines"], count))
        page.key("ArrowLeft")
    page.go("graph")
    graph = page.state()["detail"]
    check(f"{name}: a graph of at most 60 neighbours", 0 < len(graph["nodes"]) <= 61, len(graph["nodes"]))
    if graph["canOpen"]:
        page.key("ArrowRight")
        check(f"{name}: → shows called computations", page.state()["detail"]["calleeNodes"] > 0, page.state()["detail"])
        page.key("ArrowLeft")
        check(f"{name}: ← hides them", page.state()["detail"]["calleeNodes"] == 0)


def as_tables(page, name):
    """Every picture can be shown as a table."""
    for view in VIEWS:
        page.go(view)
        if page.js("document.querySelector('.export') && [...document.querySelectorAll('.export button')].some(each => each.innerText === 'as table')"):
            page.key("v")
            state = page.state()
            rows = state["table"]["rows"] if state["table"] else -1
            check(f"{name} {view}: as table", rows >= 0 and (rows > 0 or view in ("communication", "graph")), state["table"])
            page.key("v")
            check(f"{name} {view}: back to the picture", page.state()["table"] is None)


def export_files(page, name):
    """Exports tables as CSV and pictures as PNG or SVG."""
    page.call("Page.setDownloadBehavior", behavior="deny")
    page.js("(window.save = URL.createObjectURL, URL.createObjectURL = blob => { window.saved = blob; return window.save(blob); }, 1)")
    for view in VIEWS:
        page.go(view)
        page.js("(window.saved = null, 1)")
        page.key("c")
        if view == "timeline" and not page.state()["detail"]["traces"]:
            check(f"{name} {view}: nothing to save", "no table" in page.state()["message"], page.state()["message"])
            continue
        text = page.until("window.saved && window.saved.text()")
        lines = text.splitlines()
        check(f"{name} {view}: CSV", len(lines) > 1 and lines[0].count(",") >= 1, text[:200])
        if not page.js("[...document.querySelectorAll('.export button')].some(each => /PNG|SVG/.test(each.innerText))"):
            continue
        page.js("(window.saved = null, 1)")
        page.key("e")
        kind, head, size = page.until("window.saved && window.saved.arrayBuffer().then(data => [window.saved.type, new TextDecoder('latin1').decode(data.slice(0, 4)), data.byteLength])")
        check(f"{name} {view}: picture", size > 1000 and head.endswith({"image/png": "PNG", "image/svg+xml": "<svg"}[kind]), (kind, head, size))


def addresses(page, out, name):
    """A link restores the state in which it was copied."""
    page.go("program")
    page.key("ArrowDown")
    page.key("ArrowDown")
    links = [("program", page.js("location.hash"), page.state())]
    page.go("memory")
    page.drag(300, 250, 600, 250)
    page.key("w")
    links.append(("memory", page.js("location.hash"), page.state()))
    for view, address, before in links:
        page.open(out, address[1:])
        page.until(f"window.shoal.state().view === '{view}'")
        page.settled()
        after = page.state()
        for key in ("selection", "settings"):
            check(f"{name} {view}: the address restores the {key}", {k: v for k, v in (after[key] or {}).items() if v} == {k: v for k, v in (before[key] or {}).items() if v}, (address, after[key], before[key]))
        for key in ("selectedLine", "span", "range", "step"):
            check(f"{name} {view}: the address restores the {key}", after["detail"].get(key) == before["detail"].get(key), (address, after["detail"].get(key), before["detail"].get(key)))
    page.open(out, "program&i=no/such")
    state = page.state()
    check(f"{name}: an address of an unknown instruction", state["view"] == "overview" and "no instruction" in state["message"], state["message"])
    page.open(out, "nowhere")
    check(f"{name}: an unknown view", "unknown view" in page.state()["message"])


def everything(page, out, name):
    page.open(out)
    program(page, name)
    frame_keys(page, name)
    memory(page, name)
    other_views(page, name)
    if name != "fsdp_mlp":
        as_tables(page, name)
    else:
        export_files(page, name)
    addresses(page, out, name)
    problems = page.problems()
    check(f"{name}: no errors after the interactions", not problems, problems)
