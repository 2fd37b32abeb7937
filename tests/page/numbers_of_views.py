"""The numbers of each view are those of the verbs' --json, to the digit shown."""

import math

from checks import check, near, verb


def program(page, options, file, name):
    state = page.state()
    totals, detail = state["totals"][0], state["detail"]
    cost = verb(options, "cost", file)["total"]
    for ours, theirs in (("flops", "flops"), ("transcendentals", "transcendentals"), ("read", "bytes_read"), ("written", "bytes_written")):
        check(f"{name}: {ours} of the strip", near(totals[ours], cost[theirs]), (totals[ours], cost[theirs]))
    check(f"{name}: rows sum to flops", near(detail["sums"]["flops"], cost["flops"]), (detail["sums"], cost))
    check(f"{name}: rows sum to bytes", near(detail["sums"]["bytes"], cost["bytes_read"] + cost["bytes_written"]), (detail["sums"], cost))
    check(f"{name}: rows sum to wire", near(detail["sums"]["wire"], totals["wire"]), detail["sums"])
    check(f"{name}: there are rows", detail["lines"] > 0)
    check(f"{name}: only what is seen is in the document", detail["shownRows"] <= 70, detail["shownRows"])


def memory(page, options, file, name):
    mem = verb(options, "mem", "--top=0", file)
    state = page.state()
    detail = state["detail"]
    check(f"{name}: peak", state["totals"][0]["peak"] == mem["device"]["peak"], (state["totals"][0]["peak"], mem["device"]))
    check(f"{name}: steps", detail["steps"] == mem["steps"])
    check(f"{name}: bytes at the cursor", detail["bytes"] == mem["device"]["peak"], detail["bytes"])
    check(f"{name}: what lives adds up to the curve, at every step", detail["exact"])
    check(f"{name}: what lives at the peak adds up", near(detail["heldBytes"], mem["device"]["peak"]), (detail["heldBytes"], mem["device"]["peak"]))
    # Constants inside reducers are no buffers of mem's list.
    theirs = sorted((each["bytes"] for each in mem["held_at_peak"]), reverse=True)[:20]
    ours = [each["bytes"] for each in detail["held"] if each["name"] != "constants inside ops"][:20]
    check(f"{name}: the largest buffers at the peak", ours[: len(theirs)] == theirs[: len(ours)] or near(sum(ours), sum(theirs)), (ours[:8], theirs[:8]))


def communication(page, options, file, name):
    comm = verb(options, "comm", "--matrix", file)
    detail = page.state()["detail"]
    check(f"{name}: collectives", detail["collectives"] == len(comm["collectives"]), detail["collectives"])
    for ours, theirs in (("byKind", "by_kind"), ("byAxis", "by_axis")):
        wanted = {each["name"]: each["wire_bytes_direct"] for each in comm[theirs]}
        check(f"{name}: {theirs}", set(wanted) == set(detail[ours]) and all(near(detail[ours][key], value) for key, value in wanted.items()), (detail[ours], wanted))
    check(f"{name}: alike ones are all of them", sum(each["count"] for each in detail["alike"]) == len(comm["collectives"]))
    matrix = detail["matrix"]
    if matrix and matrix["perCell"] == 1 and matrix["values"] and "matrix" in comm:
        flat = [value for row in comm["matrix"] for value in row]
        check(f"{name}: matrix", len(flat) == len(matrix["values"]) and all(near(a, b) for a, b in zip(flat, matrix["values"])))


def cost(page, options, file, name):
    detail = page.state()["detail"]
    total = verb(options, "cost", file)["total"]
    if detail["of"] == "bytes":
        # XLA's −1 for what it does not know is no width.
        wanted = total["bytes_read"] + total["bytes_written"]
        check(f"{name}: icicle", math.isclose(detail["total"], wanted, rel_tol=1e-6, abs_tol=64), (detail["total"], wanted))


def time(page, options, file, name, machine):
    """The predicted step, and the path that decides it."""
    took = verb(options, "time", f"--on={machine}", file)
    forecast = took["machines"][0] if "machines" in took else took
    state = page.state()
    check(f"{name}: predicted", state["machines"] and near(state["machines"][0]["step_seconds"] * 1e9, forecast["step_seconds"] * 1e9), (state["machines"], forecast["step_seconds"]))
    predicted = [each for each in state["detail"]["traces"] if each["predicted"]]
    if check(f"{name}: a predicted lane", len(predicted) == 1 and predicted[0]["slices"] > 0, state["detail"]["traces"]):
        end, critical = predicted[0]["end"], predicted[0]["critical"]
        check(f"{name}: the critical path is as long as the step, but for gaps between kernels", 0.3 * end <= critical <= end * 1.000001, (critical, end))


OF_VIEW = {"program": program, "memory": memory, "communication": communication, "cost": cost}
