"""Names, op_names and paths that contain code; data that is damaged or newer than the viewer."""

import os

import container
from checks import VIEWS, check, shoal, write_page

# A protobuf allows any instruction name. The name is patched into the bytes in place of a placeholder of equal length.
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
    check("hostile: print writes a protobuf", done.returncode == 0, done.stderr)
    with open(packed, "rb") as file:
        data = file.read()
    check("hostile: the protobuf contains the placeholder", data.count(PLACEHOLDER) >= 1)
    with open(packed, "wb") as file:
        file.write(data.replace(PLACEHOLDER, NAME))
    return packed


def content(page, options, folder):
    out = os.path.join(folder, "hostile.html")
    write_page(options, [hostile_module(options, folder)], out, "--on=h200")
    with open(out, encoding="utf-8") as page_file:
        html = page_file.read()
    check("hostile: the policy precedes everything else", html.index("Content-Security-Policy") < html.index("<title>"))
    check("hostile: the policy allows two hashes and nothing else", "default-src 'none'; script-src 'sha256-" in html and "unsafe" not in html[: html.index("<title>")])
    check("hostile: exactly one script element with code", html.count("<script>") == 1, html.count("<script>"))
    page.open(out)
    check("hostile: the static overview is short", page.js("document.getElementById('overview').innerText.length") < 20_000)
    for number, view in enumerate(VIEWS, 1):
        page.key(str(number))
        page.until(f"window.shoal.state().view === '{view}'")
        page.settled()
        check(f"hostile {view}: no injected code is executed", page.js("window.hacked === undefined"))
        check(f"hostile {view}: no elements from the module", page.js("document.querySelectorAll('img, b:not(.crumbs b), iframe, object, embed').length") == 0)
        check(f"hostile {view}: no bidi or control characters", not page.js("/[\\u0000-\\u0008\\u000e-\\u001f\\u202a-\\u202e\\u2066-\\u2069]/.test(document.body.innerText)"))
        check(f"hostile {view}: names are truncated", page.js("Math.max(...[...document.querySelectorAll('bdi, text')].map(each => each.textContent.length), 0)") <= 1000)
    page.go("program&ops=all")
    for _ in range(6):
        page.key("ArrowDown")
        page.state()
        check("hostile panel: no injected code is executed", page.js("window.hacked === undefined"))
    problems = page.problems()
    check("hostile: no errors", not problems, problems)
    # The page's policy blocks foreign scripts, eval and requests.
    page.js("(s => { s.textContent = 'window.hacked = 9'; document.body.append(s); })(document.createElement('script'))")
    check("a foreign script is blocked", page.js("window.hacked === undefined"))
    check("eval is blocked", page.js("(() => { try { return eval('1') } catch { return 'blocked' } })()") == "blocked")
    request = page.js("fetch('https://example.invalid/').then(() => 'sent', () => 'blocked')")
    check("network requests are blocked", request == "blocked", request)
    check("the console names the policy", any("Content Security Policy" in problem for problem in page.problems()), page.problems())


def damage(page, out, folder):
    with open(out) as file:
        html = file.read()
    start = html.index("id=shoal-data>") + len("id=shoal-data>")
    end = html.index("</script>", start)
    data = html[start:end]

    def check_error(name, changed, word="data"):
        path = os.path.join(folder, "damaged.html")
        with open(path, "w") as file:
            file.write(html[:start] + changed + html[end:])
        page.open(path)
        message = page.js("document.getElementById('failure')?.innerText ?? ''")
        check(f"damaged, {name}: an error message", word in message and message.endswith("read."), message)
        check(f"damaged, {name}: the static overview stays", page.js("document.getElementById('overview').innerText.length") > 100)
    check_error("truncated", data[: len(data) // 2 // 4 * 4])
    check_error("truncated within a base64 group", data[:-3])
    check_error("empty", "")
    check_error("not base64", "!!!!")
    check_error("wrong magic number", "AAAA" * 40, "magic number")
    check_error("newer version", container.with_version(data, 3), "version 3")
    check_error("a flipped bit in a section", container.with_flipped_byte(data), "checksum")
    # A later minor format may add sections and columns. The viewer skips unknown ones.
    path = os.path.join(folder, "more.html")
    with open(path, "w") as file:
        file.write(html[:start] + container.with_unknown(data) + html[end:])
    page.open(path)
    check("unknown sections and columns are skipped", page.js("Boolean(window.shoal?.ready)"))
