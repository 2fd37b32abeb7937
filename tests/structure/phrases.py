"""Banned phrases, with replacements. prose.py searches for them.

A pattern is matched in lower case, between word boundaries; a space stands for any white space, also across lines.
"""
PHRASES = {
    # Persons in a program
    r"(?:no|some|any|every)body(?:'s)?": "name the thing, as in \"an unused value\", \"every device\"",
    r"who(?:m|so)?ever": "name the thing, as in \"a waiting thread\"",
    r"who waits(?: for whom)?": "the wait-for graph; devices that wait",
    r"who receives most receives": "maximum received by any device",
    r"speaks": "uses, prints, implements",
    # Home-made words for terms of the field
    r"(?:go|goes|going|gone|went) round": "iterate, run, wrap around, overflow",
    r"in vain": "without success; a deadlock",
    r"no device can go on": "deadlock",
    r"made[ -]up(?! of)|mak(?:e|es|ing) up(?: its| the)? (?:inputs?|values?|results?|data|elements?)": "generated",
    r"alike": "identical (bits), equal (IR), equivalent (up to names), similarly",
    r"dear(?:er|est|ly)?": "expensive",
    r"trifles?|trifling": "trivial, minor",
    r"libert(?:y|ies)": "deviation from XLA's grammar",
    r"misfits?": "mismatch, ill-typed",
    r"under way": "in flight, pending",
    r"pric(?:e|es|ed|ing)": "cost (counts), time (seconds)",
    r"light fusions?": "minor fusions",
    r"put together": "reassembled, combined",
    r"(?:no|some)(?:body| other)'s marks|by its look": "features of a backend",
    r"made nan": "produced NaN",
    r"what lives here": "live buffers",
    r"outputs of their own": "non-aliased outputs",
    r"schedule: ours": "schedule: estimated by shoal",
    r'moves data(?=")': "data movement",
    r"(?:threshold|bound|limit|budget)s? (?:is|are|was|were) broken": "exceeded",
    r"an attempt on our memory": "a malformed size",
    r"furthest from what they should be": "largest prediction errors",
    r"comes? from nothing": "rematerializable, generated",
    r"of no instruction": "not matched to an instruction",
    r"(?:is|it is) left last": "cleaned up last",
    # Sentences that do not say where
    r"says better": "overrides",
    r"(?:which|that) is said": "say where: prints a note, sets `assumptions`, is a warning `[rule]`",
    r"(?<!there\s)(?:is|are) no(?!-) (?!longer|more|less|fewer|better|worse|larger|smaller|slower|faster|wider|later|earlier"
    r"|other way)\w+": "negate the verb, as in \"is not an HLO module\"",
    r"has its meaning|goes its own way|its own kind": "say what it means or does",
    # Verbs
    r"work(?:s|ed|ing)? out": "compute",
    r"c(?:ome|omes|oming|ame) to": "reach, amount to",
    r"gone through": "traversed, scanned, iterated",
    r"look(?:s|ed) at": "inspect, read",
    r"ask(?:s|ed|ing) for": "use, request",
    r"hand(?:s|ed|ing)? on": "forward",
    r"at once": "immediately, simultaneously, at a time",
    r"st(?:ands?|ood) (?:in|at)(?! for)": "is in",
    r"l(?:ies|ay) in(?! \[)": "is in",
}

# Identifiers that were renamed by a pattern.
OLD_PATTERNS = {r"kMost[A-Z]\w*": "kMax…", r"kLeast[A-Z]\w*": "kMin…"}
