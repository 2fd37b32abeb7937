"""The table of interactions, by real keys and mouse; every address gives the same state again."""

from checks import VIEWS, check


def program(page, name):
    page.go("program")
    page.key("ArrowDown")
    page.key("ArrowDown")
    one = page.state()
    check(f"{name}: ↓ selects", one["selection"] is not None and one["detail"]["selectedLine"] >= 1, one["selection"])
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
    check(f"{name}: u follows a user", after["selection"] != before or "uses" in after["said"], (before, after["selection"], after["said"]))
    page.key("/")
    page.type("opcode:fusion")
    hits = page.until("window.shoal.state().detail.hits !== null && window.shoal.state().detail")
    check(f"{name}: search", hits["hits"] >= 0)
    page.key("Escape")
    check(f"{name}: esc ends the search", page.state()["detail"]["hits"] is None)


def keys_of_the_frame(page, name):
    for number, view in enumerate(VIEWS, 1):
        page.key(str(number))
        check(f"{name}: key {number}", page.until(f"window.shoal.state().view === '{view}'"))
    page.key("?")
    check(f"{name}: help", page.js("document.querySelector('.help') !== null"))
    page.key("Escape")
    check(f"{name}: help goes away", page.js("document.querySelector('.help') === null"))
    page.key("t")
    check(f"{name}: dark", page.js("document.documentElement.dataset.theme") == "dark")
    page.key("t")


def memory(page, name):
    page.go("memory")
    steps = page.state()["detail"]["steps"]
    page.key("]")
    page.key("[")
    page.key("p")
    here = page.state()["detail"]
    check(f"{name}: p is the peak", here["step"] == here["peak"])
    page.key("w")
    narrow = page.state()["detail"]["range"]
    check(f"{name}: w zooms in", narrow["to"] - narrow["from"] < steps or steps <= 20, narrow)
    page.key("0")
    whole = page.state()["detail"]["range"]
    check(f"{name}: 0 shows all", whole["from"] == 0 and whole["to"] >= steps)
    page.click(500, 250)
    check(f"{name}: a click is a moment", "x=" in page.js("location.hash"))
    page.drag(300, 250, 600, 250)
    check(f"{name}: a drag is a span", page.state()["detail"]["span"] is not None)
    page.wheel(500, 250, -100, ctrl=True)


def the_rest(page, name):
    page.go("cost")
    boxes = page.state()["detail"]["boxes"]
    inner = next((box for box in boxes if box["y"] > 40 and box["width"] > 20), None)
    if inner:
        page.click(inner["x"] + 5, 106 + inner["y"] + 10)
        check(f"{name}: a click zooms the icicle", page.state()["detail"]["focus"] != "all" or page.state()["selection"], page.state()["detail"]["focus"])
        page.key("0")
    page.go("communication")
    if page.state()["detail"]["collectives"] > 0:
        page.key("ArrowDown")
        check(f"{name}: a row of the ledger", page.state()["detail"]["selectedGroup"] >= 0)
        folded = page.state()["detail"]["lines"]
        page.key("ArrowRight")
        unfolded = page.state()["detail"]
        many = unfolded["alike"][unfolded["selectedGroup"]]["count"]
        check(f"{name}: → unfolds alike ones", unfolded["lines"] == folded + many, (folded, unfolded["lines"], many))
        page.key("ArrowLeft")
    page.go("graph")
    graph = page.state()["detail"]
    check(f"{name}: a walk of at most 60", 0 < len(graph["nodes"]) <= 61, len(graph["nodes"]))
    if graph["canOpen"]:
        page.key("ArrowRight")
        check(f"{name}: what it calls opens in its place", page.state()["detail"]["inside"] > 0, page.state()["detail"])
        page.key("ArrowLeft")
        check(f"{name}: and folds", page.state()["detail"]["inside"] == 0)


def as_tables(page, name):
    """Every picture has a table that says the same."""
    for view in VIEWS:
        page.go(view)
        if page.js("document.querySelector('.take') && [...document.querySelectorAll('.take button')].some(each => each.innerText === 'as table')"):
            page.key("v")
            state = page.state()
            rows = state["table"]["rows"] if state["table"] else -1
            check(f"{name} {view}: as table", rows >= 0 and (rows > 0 or view in ("communication", "graph")), state["table"])
            page.key("v")
            check(f"{name} {view}: and back", page.state()["table"] is None)


def take_away(page, name):
    """Tables as CSV, pictures as PNG or SVG: what is saved is whole."""
    page.call("Page.setDownloadBehavior", behavior="deny")
    page.js("(window.save = URL.createObjectURL, URL.createObjectURL = blob => { window.saved = blob; return window.save(blob); }, 1)")
    for view in VIEWS:
        page.go(view)
        page.js("(window.saved = null, 1)")
        page.key("c")
        if view == "timeline" and not page.state()["detail"]["traces"]:
            check(f"{name} {view}: nothing to save", "no table" in page.state()["said"], page.state()["said"])
            continue
        text = page.until("window.saved && window.saved.text()")
        lines = text.splitlines()
        check(f"{name} {view}: CSV", len(lines) > 1 and lines[0].count(",") >= 1, text[:200])
        if not page.js("[...document.querySelectorAll('.take button')].some(each => /PNG|SVG/.test(each.innerText))"):
            continue
        page.js("(window.saved = null, 1)")
        page.key("e")
        kind, head, size = page.until("window.saved && window.saved.arrayBuffer().then(data => [window.saved.type, new TextDecoder('latin1').decode(data.slice(0, 4)), data.byteLength])")
        check(f"{name} {view}: picture", size > 1000 and head.endswith({"image/png": "PNG", "image/svg+xml": "<svg"}[kind]), (kind, head, size))


def addresses(page, out, name):
    """A link opens what its writer saw."""
    page.go("program")
    page.key("ArrowDown")
    page.key("ArrowDown")
    seen = [("program", page.js("location.hash"), page.state())]
    page.go("memory")
    page.drag(300, 250, 600, 250)
    page.key("w")
    seen.append(("memory", page.js("location.hash"), page.state()))
    for view, address, before in seen:
        page.open(out, address[1:])
        again = page.until(f"(s => s.view === '{view}' && s)(window.shoal.state())")
        page.settled()
        again = page.state()
        for key in ("selection", "settings"):
            check(f"{name} {view}: the address gives the same {key}", {k: v for k, v in (again[key] or {}).items() if v} == {k: v for k, v in (before[key] or {}).items() if v}, (address, again[key], before[key]))
        for key in ("selectedLine", "span", "range", "step"):
            check(f"{name} {view}: the address gives the same {key}", again["detail"].get(key) == before["detail"].get(key), (address, again["detail"].get(key), before["detail"].get(key)))
    page.open(out, "program&i=no/such")
    lost = page.state()
    check(f"{name}: an address that names nothing", lost["view"] == "overview" and "no instruction" in lost["said"], lost["said"])
    page.open(out, "nowhere")
    check(f"{name}: a view that is none", "nothing here" in page.state()["said"])


def everything(page, out, name):
    page.open(out)
    program(page, name)
    keys_of_the_frame(page, name)
    memory(page, name)
    the_rest(page, name)
    if name != "fsdp_mlp":
        as_tables(page, name)
    else:
        take_away(page, name)
    addresses(page, out, name)
    faults = page.faults()
    check(f"{name}: quiet when used", not faults, faults)
