"""Checks of pictures and layouts: loops in the timeline, the mesh, the graph, the Cost view, narrow windows, print."""

import base64
import os
import re

from checks import VIEWS, check, near, write_page

# A loop of five iterations with a matrix product by a library, an unknown call, scopes, and collectives on two axes.
STEP = """HloModule step, num_partitions=8
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
body {
  s = (s32[], f32[1024,1024], f32[1024,1024]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[1024,1024] get-tuple-element(s), index=1
  w = f32[1024,1024] get-tuple-element(s), index=2
  scale = f32[] constant(2), metadata={op_name="jit(f)/while/body/attention/scale/constant"}
  scales = f32[1024,1024] broadcast(scale), dimensions={}, metadata={op_name="jit(f)/while/body/attention/scale/broadcast"}
  scaled = f32[1024,1024] multiply(x, scales), metadata={op_name="jit(f)/while/body/attention/scale/mul"}
  scores = f32[1024,1024] dot(scaled, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}, metadata={op_name="jit(f)/while/body/attention/scores/dot_general"}
  soft = f32[1024,1024] exponential(scores), metadata={op_name="jit(f)/while/body/attention/softmax/exp"}
  sums = f32[1024,1024] all-reduce(soft), channel_id=1, replica_groups=[2,4]<=[8], use_global_device_ids=true, to_apply=add, metadata={op_name="jit(f)/while/body/attention/softmax/psum"}
  out = f32[1024,1024] add(sums, x), metadata={op_name="jit(f)/while/body/attention/residual/add"}
  up = f32[1024,1024] dot(out, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}, metadata={op_name="jit(f)/while/body/mlp/up/dot_general"}
  act = f32[1024,1024] tanh(up), metadata={op_name="jit(f)/while/body/mlp/up/tanh"}
  down = f32[1024,1024] dot(act, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}, metadata={op_name="jit(f)/while/body/mlp/down/dot_general"}
  mixed = f32[1024,1024] add(down, out), metadata={op_name="jit(f)/while/body/mlp/residual/add"}
  late = f32[1024,1024] subtract(mixed, soft), metadata={op_name="jit(f)/while/body/attention/late/sub"}
  one = s32[] constant(1)
  j = s32[] add(i, one)
  ROOT r = (s32[], f32[1024,1024], f32[1024,1024]) tuple(j, late, w)
}
cond {
  s = (s32[], f32[1024,1024], f32[1024,1024]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(5)
  ROOT c = pred[] compare(i, n), direction=LT
}
ENTRY e {
  x = f32[1024,1024] parameter(0)
  w = f32[1024,1024] parameter(1)
  zero = s32[] constant(0)
  product = (f32[1024,1024], s8[1024]) custom-call(x, w), custom_call_target="__cublas$gemm", backend_config={"gemm_backend_config":{"dot_dimension_numbers":{"lhs_contracting_dimensions":["1"],"rhs_contracting_dimensions":["0"]}}}, metadata={op_name="jit(f)/library/dot_general"}
  y = f32[1024,1024] get-tuple-element(product), index=0
  z = f32[1024,1024] custom-call(y), custom_call_target="a_call_nobody_knows", metadata={op_name="jit(f)/unknown/call"}
  init = (s32[], f32[1024,1024], f32[1024,1024]) tuple(zero, z, w)
  loop = (s32[], f32[1024,1024], f32[1024,1024]) while(init), condition=cond, body=body
  last = f32[1024,1024] get-tuple-element(loop), index=1
  ROOT g = f32[1024,1024] all-reduce(last), channel_id=2, replica_groups=[4,2]<=[2,4]T(1,0), use_global_device_ids=true, to_apply=add
}
"""
# Points of the edges that lie inside a node which is not one of the edge's ends, and the number of edges and nodes.
CROSSINGS = """(() => {
  const inside = (r, x, y) => x > r.left + 1.5 && x < r.right - 1.5 && y > r.top + 1.5 && y < r.bottom - 1.5;
  const nodes = [...document.querySelectorAll('.sheet .hit.node > rect:first-child')].filter(each => each.height.baseVal.value <= 40).map(each => each.getBoundingClientRect());
  const edges = [...document.querySelectorAll('.sheet path.edge')];
  const found = [];
  // The paths consist of M, V and C commands.
  const points = path => {
    const out = [];
    let x = 0, y = 0;
    for (const [, command, rest] of path.matchAll(/([MVC])([^MVC]*)/g)) {
      const n = rest.trim().split(/[ ,]+/).map(Number);
      if (command === 'M') [x, y] = n;
      const line = command === 'V' ? [x, y, x, n[0], x, n[0]] : command === 'C' ? n : null;
      if (!line) continue;
      for (let t = 0; t <= 1; t += 0.05) {
        const at = i => (1 - t) ** 3 * (i ? y : x) + 3 * t * (1 - t) ** 2 * line[i] + 3 * t * t * (1 - t) * line[2 + i] + t ** 3 * line[4 + i];
        if (command === 'C') out.push([at(0), at(1)]); else out.push([x, y + t * (n[0] - y)]);
      }
      [x, y] = line.slice(4);
    }
    return out;
  };
  for (const edge of edges) {
    const matrix = edge.getScreenCTM();
    for (const [x, y] of points(edge.getAttribute('d')))
      if (nodes.some(r => inside(r, x * matrix.a + matrix.e, y * matrix.d + matrix.f))) { found.push(edge.textContent); break; }
  }
  return { edges: edges.length, nodes: nodes.length, found };
})()"""
# Controls and numbers that are cut or outside the window. Names may be elided: their tooltips have the whole text.
CUT = """(() => {
  const found = [];
  if (document.scrollingElement.scrollWidth > innerWidth) found.push('the page scrolls');
  for (const each of document.querySelectorAll('header, [role=tablist], .totals-bar, .chips, .status, .view, .thead, .commgrid, .breakdown, #overview')) {
    const box = each.getBoundingClientRect();
    if (box.width > 0 && (each.scrollWidth > each.clientWidth + 1 || box.right > innerWidth + 1)) found.push('overflow of ' + each.tagName + '.' + each.className);
  }
  for (const each of document.querySelectorAll('button, .td.num, .totals-bar > span:not(.name), .thead .td, .status > span, .figure')) {
    const box = each.getBoundingClientRect();
    if (box.width > 0 && box.height > 0 && (each.scrollWidth > each.clientWidth + 1 && !each.closest('.links, .lines, .rowbars') || box.right > innerWidth + 1 || box.left < -1)) found.push('cut: ' + each.className + ' ' + each.innerText.slice(0, 40));
  }
  return [...new Set(found)];
})()"""


def loops(page, name):
    """Loops are unfolded: each slice stands for one execution, and the tables have the work inside."""
    page.go("timeline")
    check(f"{name}: no folded loops", page.state()["detail"]["loops"] == 0, page.state()["detail"]["loops"])
    kinds, ops = page.js("[...document.querySelectorAll('.panel .sums')].map(table => [...table.rows].slice(1).map(row => [...row.cells].map(each => each.innerText)))")
    check(f"{name}: the table by kind has neither loops nor others", kinds and not {"other", "loop"} & {row[0] for row in kinds}, kinds)
    counts = {row[0]: row[1] for row in ops}
    check(f"{name}: as many slices as executions", (counts.get("dot"), counts.get("tanh")) == ("15", "5"), counts)


def mesh(page, name):
    """All devices are in the grid; the members of the selected collective's groups are highlighted."""
    page.go("communication")
    if page.state()["detail"]["collectives"] == 0:
        return
    if page.state()["totals"][0]["devices"] > 256:
        return check(f"{name}: a sentence describes a large mesh", "devices" in page.js("document.querySelector('.breakdown').innerText"))
    devices = page.js("document.querySelectorAll('.mesh .device').length")
    check(f"{name}: every device is in the mesh", devices > 1 and devices == page.state()["totals"][0].get("devices", devices), devices)
    check(f"{name}: nothing is highlighted without a selection", page.js("document.querySelectorAll('.mesh .member').length") == 0)
    page.key("ArrowDown")
    colors = page.js("[...document.querySelectorAll('.mesh .member rect[fill]')].map(each => each.getAttribute('fill'))")
    check(f"{name}: the groups of the selection are highlighted", len(colors) > 1, colors)
    boxes = page.js("[...document.querySelectorAll('.mesh .device > text')].map(each => { const r = each.getBoundingClientRect(); return [r.x, r.y]; })")
    check(f"{name}: no two devices are at the same place", len({tuple(each) for each in boxes}) == devices, boxes)
    return colors


def graph(page, name):
    """The graph fits the window, and no edge crosses a node."""
    for whole in ("", "&whole=1"):
        page.go("graph" + whole)
        page.settled()
        crossings = page.js(CROSSINGS)
        check(f"{name} graph{whole}: no edge crosses a node", crossings["found"] == [] and crossings["nodes"] > 0, crossings)
        fits = page.js("(b => b.scrollWidth <= b.clientWidth + 1 && b.scrollHeight <= b.clientHeight + 1)(document.querySelector('.sheet'))")
        check(f"{name} graph{whole}: fits the window", fits or page.state()["detail"]["zoom"] <= 0.2, page.state()["detail"]["zoom"])


def notices(page, name):
    """Notices are not printed in the colour of errors."""
    page.go("overview")
    red = page.js("[...document.querySelectorAll('#overview li, #overview p, #overview a')].filter(each => ['rgb(179, 38, 30)', 'rgb(255, 138, 128)'].includes(getComputedStyle(each).color)).map(each => each.innerText)")
    check(f"{name}: notices are not red", red == [], red)


def narrow(page, name):
    """All views at 700 px: no horizontal scroll, nothing is cut."""
    page.size(700)
    for view in VIEWS:
        page.go(view)
        page.settled()
        found = page.js(CUT)
        check(f"{name} {view}: nothing is cut at 700 px", found == [], found)
    page.go("program")
    page.key("ArrowDown")
    page.key("ArrowDown")
    found = page.js(CUT)
    check(f"{name}: nothing is cut with the panel open at 700 px", found == [], found)
    page.size(1280, 800)


def printing(page, name):
    """Paper has all views, each with a title; afterwards the page is as before."""
    page.go("program")
    page.until("window.shoal.state().prepared.length === 7")
    before = page.state()
    page.js("(dispatchEvent(new Event('beforeprint')), 1)")
    sections = page.js("[...document.querySelectorAll('.print-title + .tabpanel')].map(each => [each.previousSibling.innerText, each.getBoundingClientRect().height, each.innerText.length])")
    check(f"{name}: all sections are printed", sorted(each[0].lower() for each in sections) == sorted(VIEWS) and all(height > 100 for _, height, _ in sections), sections)
    zoom = page.js("[...document.querySelectorAll('.sheet > svg')].map(each => each.getBoundingClientRect().width / each.viewBox.baseVal.width)[0]")
    check(f"{name}: the graph is as large as on the screen", zoom > 0.3, zoom)
    tables = page.js("['program', 'communication'].map(view => [...document.querySelectorAll('.print-title + .tabpanel')].find(each => each.previousSibling.innerText.toLowerCase() === view).querySelectorAll('.tr').length)")
    check(f"{name}: the tables are printed", tables[0] > 0, tables)
    page.js("(dispatchEvent(new Event('afterprint')), 1)")
    after = page.state()
    check(f"{name}: the page is as before", after["view"] == before["view"] and after["settings"] == before["settings"] and page.js("document.querySelectorAll('.tabpanel:not([hidden])').length") == 1 and page.js("document.querySelectorAll('.print-title').length") == 0)
    pdf = base64.b64decode(page.call("Page.printToPDF", printBackground=True)["data"])
    pages = len(re.findall(rb"/Type\s*/Page\b", pdf))
    check(f"{name}: at least one sheet per view", pages >= len(VIEWS), pages)


def stack(page, options, folder):
    """The panel shows the Python stack of an instruction, innermost frame first."""
    source, out = os.path.join(folder, "stack.hlo"), os.path.join(folder, "stack.html")
    table = 'FileNames\n1 "/home/user/layer.py"\n2 "/home/user/train.py"\n\nFunctionNames\n1 "dense"\n2 "main"\n\nFileLocations\n1 {file_name_id=1 function_name_id=1 line=7 end_line=7 column=1 end_column=2}\n2 {file_name_id=2 function_name_id=2 line=30 end_line=30 column=1 end_column=2}\n\nStackFrames\n1 {file_location_id=2 parent_frame_id=1}\n2 {file_location_id=1 parent_frame_id=2}\n\n'
    with open(source, "w") as file:
        file.write("HloModule m\n\n" + table + 'ENTRY e {\n  x = f32[8,8] parameter(0)\n  ROOT d = f32[8,8] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}, metadata={op_name="f/dot" stack_frame_id=2}\n}\n')
    write_page(options, [source], out)
    page.open(out, "program&i=e/d")
    page.settled()
    frames = page.js("[...document.querySelectorAll('.panel .stack span')].map(each => each.innerText)")
    check("stack: the panel has the stack", frames == ["layer.py:7 in dense", "train.py:30 in main"], frames)


def costs(page, name):
    """Cost separates matrix products by a library from calls that shoal does not know."""
    page.go("cost&by=scope&of=bytes")
    detail = page.state()["detail"]
    check(f"{name}: an unknown call has a kind of its own", detail["unknown"] > 0, detail["byKind"])
    page.go("cost&by=scope&of=flops")
    library = next((each for each in page.state()["detail"]["children"] if "jit(f)" in each["name"]), None)
    check(f"{name}: the products are matrix products, the call is not", library and page.state()["detail"]["byKind"][4] == 0 and page.state()["detail"]["unknown"] == 0 and near(page.state()["detail"]["byKind"][0], 16 * 2 * 1024 ** 3), page.state()["detail"]["byKind"])
    check(f"{name}: the legend names unknown calls", "unknown call" in page.js("document.querySelector('.status').innerText"))


def everything(page, options, folder):
    source, out = os.path.join(folder, "step.hlo"), os.path.join(folder, "step.html")
    with open(source, "w") as file:
        file.write(STEP)
    write_page(options, [source], out, "--on=h100x8")
    page.open(out)
    loops(page, "step")
    colors = mesh(page, "step")
    check("step: each group has a colour", len(set(colors)) in (2, 4), colors)
    graph(page, "step")
    page.go("graph&whole=1&i=body/up")
    scopes = page.state()["detail"]["scopes"]
    check("step: scopes are nested boxes", {"attention", "mlp", "softmax", "up"} <= set(scopes), scopes)
    check("step: a scope whose ops depend on each other through another scope is split", scopes.count("attention") == 1 and len(scopes) == len(set(scopes)), scopes)
    crossings = page.js(CROSSINGS)
    check("step: no edge crosses a node of a scope", crossings["found"] == [] and crossings["nodes"] > 15, crossings)
    page.click_on(".sheet .scope text")
    check("step: a click closes a scope", len(page.state()["detail"]["scopes"]) < len(scopes), page.state()["detail"]["scopes"])
    costs(page, "step")
    notices(page, "step")
    narrow(page, "step")
    page.open(out)
    printing(page, "step")
    check("step: no errors", not page.problems(), page.problems())


def changes(page, options, folder):
    """What changed: collectives that B adds come before copies that B does not have any more."""
    a, b, out = (os.path.join(folder, each) for each in ("old.hlo", "new.hlo", "changes.html"))
    with open(a, "w") as file:
        file.write(STEP.replace("last = f32[1024,1024] get-tuple-element(loop), index=1", "late = f32[1024,1024] get-tuple-element(loop), index=1\n  turned = f32[1024,1024] transpose(late), dimensions={1,0}\n  last = f32[1024,1024] copy(turned)"))
    with open(b, "w") as file:
        file.write(STEP.replace("init = (s32[]", "all = f32[8192,1024] all-gather(z), channel_id=3, replica_groups=[1,8]<=[8], dimensions={0}, use_global_device_ids=true\n  part = f32[1024,1024] slice(all), slice={[0:1024], [0:1024]}\n  init = (s32[]").replace("tuple(zero, z, w)", "tuple(zero, part, w)"))
    write_page(options, [a, b], out)
    page.open(out)
    lines = page.js("[...document.querySelectorAll('#overview > ul li')].map(each => each.innerText)")
    gathered = next((i for i, line in enumerate(lines) if "added" in line and "all" in line), None)
    copied = next((i for i, line in enumerate(lines) if "removed" in line), None)
    check("changes: added collectives before removed copies", gathered == 0 and copied is not None and copied > gathered, lines)
    narrow(page, "changes")
