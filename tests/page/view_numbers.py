"""Checks that the numbers of each view equal those of the commands' --json."""

import math

from checks import check, command_json, near


def program(page, options, file, name):
    state = page.state()
    totals, detail = state["totals"][0], state["detail"]
    cost = command_json(options, "cost", file)["total"]
    for page_key, json_key in (("flops", "flops"), ("transcendentals", "transcendentals"), ("read", "bytes_read"), ("written", "bytes_written")):
        check(f"{name}: {page_key} of the totals bar", near(totals[page_key], cost[json_key]), (totals[page_key], cost[json_key]))
    check(f"{name}: rows sum to flops", near(detail["sums"]["flops"], cost["flops"]), (detail["sums"], cost))
    check(f"{name}: rows sum to bytes", near(detail["sums"]["bytes"], cost["bytes_read"] + cost["bytes_written"]), (detail["sums"], cost))
    check(f"{name}: rows sum to wire", near(detail["sums"]["wire"], totals["wire"]), detail["sums"])
    check(f"{name}: has rows", detail["lines"] > 0)
    check(f"{name}: only visible rows are in the document", detail["shownRows"] <= 70, detail["shownRows"])


def memory(page, options, file, name):
    mem = command_json(options, "mem", "--top=0", file)
    state = page.state()
    detail = state["detail"]
    check(f"{name}: peak", state["totals"][0]["peak"] == mem["device"]["peak"], (state["totals"][0]["peak"], mem["device"]))
    check(f"{name}: steps", detail["steps"] == mem["steps"])
    check(f"{name}: bytes at the cursor", detail["bytes"] == mem["device"]["peak"], detail["bytes"])
    check(f"{name}: the stacked groups sum to the live bytes at every step", detail["exact"])
    check(f"{name}: the live buffers at the peak sum to the peak", near(detail["liveBytes"], mem["device"]["peak"]), (detail["liveBytes"], mem["device"]["peak"]))
    # The list of mem does not include constants inside reducers.
    expected = sorted((each["bytes"] for each in mem["live_at_peak"]), reverse=True)[:20]
    shown = [each["bytes"] for each in detail["live"] if each["name"] != "constants inside ops"][:20]
    check(f"{name}: the largest buffers at the peak", shown[: len(expected)] == expected[: len(shown)] or near(sum(shown), sum(expected)), (shown[:8], expected[:8]))


def communication(page, options, file, name):
    comm = command_json(options, "comm", "--matrix", file)
    detail = page.state()["detail"]
    check(f"{name}: collectives", detail["collectives"] == len(comm["collectives"]), detail["collectives"])
    for page_key, json_key in (("byKind", "by_kind"), ("byAxis", "by_axis")):
        expected = {each["name"]: each["wire_bytes_direct"] for each in comm[json_key]}
        check(f"{name}: {json_key}", set(expected) == set(detail[page_key]) and all(near(detail[page_key][key], value) for key, value in expected.items()), (detail[page_key], expected))
    check(f"{name}: the groups contain all collectives", sum(each["count"] for each in detail["groups"]) == len(comm["collectives"]))
    matrix = detail["matrix"]
    if matrix and matrix["perCell"] == 1 and matrix["values"] and "matrix" in comm:
        flat = [value for row in comm["matrix"] for value in row]
        check(f"{name}: matrix", len(flat) == len(matrix["values"]) and all(near(a, b) for a, b in zip(flat, matrix["values"])))


def cost(page, options, file, name):
    detail = page.state()["detail"]
    total = command_json(options, "cost", file)["total"]
    if detail["metric"] == "bytes":
        # An unknown cost, which XLA writes as −1, does not add to the width of a box.
        expected = total["bytes_read"] + total["bytes_written"]
        check(f"{name}: icicle", math.isclose(detail["total"], expected, rel_tol=1e-6, abs_tol=64), (detail["total"], expected))


def time(page, options, file, name, machine):
    """The predicted step time and the length of the critical path."""
    prediction = command_json(options, "time", f"--on={machine}", file)
    prediction = prediction["machines"][0] if "machines" in prediction else prediction
    state = page.state()
    check(f"{name}: predicted", state["machines"] and near(state["machines"][0]["step_seconds"] * 1e9, prediction["step_seconds"] * 1e9), (state["machines"], prediction["step_seconds"]))
    predicted = [each for each in state["detail"]["traces"] if each["predicted"]]
    if check(f"{name}: one predicted trace with slices", len(predicted) == 1 and predicted[0]["slices"] > 0, state["detail"]["traces"]):
        end, critical = predicted[0]["end"], predicted[0]["critical"]
        check(f"{name}: the critical path is as long as the step, except for gaps between kernels", 0.3 * end <= critical <= end * 1.000001, (critical, end))


BY_VIEW = {"program": program, "memory": memory, "communication": communication, "cost": cost}
