"""Names, op_names and paths that would like to be code; data that are damaged, or newer than the viewer."""

import os

import container
from checks import VIEWS, check, shoal, write_page

# A protobuf may call an instruction anything; text is put there and changed in the bytes, at equal length.
NAME = b"""</style></script><img src=x onerror=hacked=4>&amp;'"`\xe2\x80\xae\x01"""
PLACEHOLDER = b"n" * len(NAME)
LONG = "x" * 100_000
HOSTILE = r"""HloModule m
f {
  a = f32[4] parameter(0)
  ROOT b = f32[4] sine(a), metadata={op_name="f/<svg onload=hacked=5>" source_file="<script>hacked=6</script>" source_line=1}
}
ENTRY e {
  p = f32[4] parameter(0), metadata={op_name="</script><script>window.hacked=1</script>" source_file="a'\"b\\.py<img src=x onerror=hacked=2>" source_line=3}
  NAME = f32[4] negate(p), metadata={op_name="RTLreversed/jit(\001\033\177)" source_file="LONG" source_line=4}
  LONG = f32[4] fusion(NAME), kind=kLoop, calls=f, metadata={op_name="LONG/LONG"}
  c = f32[4] custom-call(LONG), custom_call_target="</script><b>]]>-->{{constructor.constructor('hacked=7')()}}"
  ROOT r = f32[4] multiply(c, p), metadata={op_name="javascript:hacked=3"}
}
"""


def hostile_module(options, folder):
    text, packed = os.path.join(folder, "hostile.hlo"), os.path.join(folder, "hostile.pb")
    with open(text, "w", encoding="utf-8") as file:
        file.write(HOSTILE.replace("LONG", LONG).replace("NAME", PLACEHOLDER.decode()).replace("RTL", "\u202e\u2066"))
    done = shoal(options, "print", "--format=pb", "-o", packed, text)
    check("hostile: a protobuf", done.returncode == 0, done.stderr)
    with open(packed, "rb") as file:
        data = file.read()
    check("hostile: the name is in it", data.count(PLACEHOLDER) >= 1)
    with open(packed, "wb") as file:
        file.write(data.replace(PLACEHOLDER, NAME))
    return packed


def content(page, options, folder):
    out = os.path.join(folder, "hostile.html")
    write_page(options, [hostile_module(options, folder)], out, "--on=h200")
    with open(out, encoding="utf-8") as page_file:
        html = page_file.read()
    check("hostile: the policy stands before anything else", html.index("Content-Security-Policy") < html.index("<title>"))
    check("hostile: it allows two hashes and nothing else", "default-src 'none'; script-src 'sha256-" in html and "unsafe" not in html[: html.index("<title>")])
    check("hostile: one script of code", html.count("<script>") == 1, html.count("<script>"))
    page.open(out)
    check("hostile: what it says without a script is short", page.js("document.getElementById('overview').innerText.length") < 20_000)
    for number, view in enumerate(VIEWS, 1):
        page.key(str(number))
        page.until(f"window.shoal.state().view === '{view}'")
        page.settled()
        check(f"hostile {view}: nothing is executed", page.js("window.hacked === undefined"))
        check(f"hostile {view}: no element of the module's", page.js("document.querySelectorAll('img, b:not(.crumbs b), iframe, object, embed').length") == 0)
        check(f"hostile {view}: no mark of direction, no control character", not page.js("/[\\u0000-\\u0008\\u000e-\\u001f\\u202a-\\u202e\\u2066-\\u2069]/.test(document.body.innerText)"))
        check(f"hostile {view}: names are cut", page.js("Math.max(...[...document.querySelectorAll('bdi, text')].map(each => each.textContent.length), 0)") <= 1000)
    page.go("program&ops=all")
    for _ in range(6):
        page.key("ArrowDown")
        page.state()
        check("hostile panel: nothing is executed", page.js("window.hacked === undefined"))
    faults = page.faults()
    check("hostile: quiet", not faults, faults)
    # What is not ours is refused by the page's policy.
    page.js("(s => { s.textContent = 'window.hacked = 9'; document.body.append(s); })(document.createElement('script'))")
    check("a foreign script is refused", page.js("window.hacked === undefined"))
    check("eval is refused", page.js("(() => { try { return eval('1') } catch { return 'refused' } })()") == "refused")
    refused = page.js("fetch('https://example.invalid/').then(() => 'sent', () => 'refused')")
    check("the network is refused", refused == "refused", refused)
    check("the policy says so", any("Content Security Policy" in fault for fault in page.faults()), page.faults())


def damage(page, out, folder):
    with open(out) as file:
        html = file.read()
    start = html.index("id=shoal-data>") + len("id=shoal-data>")
    end = html.index("</script>", start)
    data = html[start:end]

    def opened(name, changed, word="data"):
        path = os.path.join(folder, "damaged.html")
        with open(path, "w") as file:
            file.write(html[:start] + changed + html[end:])
        page.open(path)
        said = page.js("document.getElementById('failure')?.innerText ?? ''")
        check(f"damaged, {name}: a sentence", word in said and said.endswith("read."), said)
        check(f"damaged, {name}: what is written stays", page.js("document.getElementById('overview').innerText.length") > 100)
    opened("cut", data[: len(data) // 2 // 4 * 4])
    opened("cut in a digit", data[:-3])
    opened("empty", "")
    opened("not base64", "!!!!")
    opened("not ours", "AAAA" * 40)
    opened("newer", container.with_version(data, 2), "version 2")
    opened("one byte of a section", container.with_flipped_byte(data), "damaged")
    # Of a later minor format: sections and columns that this viewer does not know are skipped.
    path = os.path.join(folder, "more.html")
    with open(path, "w") as file:
        file.write(html[:start] + container.with_unknown(data) + html[end:])
    page.open(path)
    check("a section that nobody knows is skipped", page.js("Boolean(window.shoal?.ready)"))
