#!/usr/bin/env python3
"""Writes 30 days of reports about three sources in traffic.json, and their sums in sums.json.

The sums are added up here, one record at a time, so they do not depend on the Go code or on SQL. Run it in this folder
after a change: python3 make.py
"""
import json
from collections import Counter

OURS, SERVICE, FORGER = "192.0.2.25", "198.51.100.7", "203.0.113.99"

def numbers(state=20260101):
    """A linear congruential generator, so that every Python version writes the same files."""
    while True:
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        yield state >> 33

def traffic():
    draw = numbers()
    pick = lambda *choices: choices[next(draw) % len(choices)]
    for day in range(30):
        for receiver in ("receiver.example", "second.example"):
            records = []
            for _ in range(1 + next(draw) % 3):
                records.append((OURS, 1 + next(draw) % 5000, "none", pick("pass", "pass", "pass", "fail"), pick("pass", "fail"), "pass"))
            records.append((SERVICE, next(draw) % 200, pick("none", "quarantine"), "fail", pick("fail", "fail", "pass"), pick("pass", "none")))
            records.append((FORGER, next(draw) % 900, pick("none", "quarantine", "reject"), "fail", "fail", pick("none", "fail")))
            yield {"day": day, "receiver": receiver, "records": [dict(zip(("source", "count", "disposition", "dkim", "spf", "auth"), r)) for r in records]}

def add(counter, r):
    n = r["count"]
    counter["messages"] += n
    counter["dkim"] += n * (r["dkim"] == "pass")
    counter["spf"] += n * (r["spf"] == "pass")
    counter["dmarc"] += n * ("pass" in (r["dkim"], r["spf"]))
    counter["quarantined"] += n * (r["disposition"] == "quarantine")
    counter["rejected"] += n * (r["disposition"] == "reject")

def main():
    reports = list(traffic())
    totals, sources, receivers, at_risk, unknown = Counter(), {}, {}, 0, 0
    for report in reports:
        for r in report["records"]:
            add(totals, r)
            add(sources.setdefault(r["source"], Counter()), r)
            add(receivers.setdefault(report["receiver"], Counter()), r)
            if "pass" not in (r["dkim"], r["spf"]):
                if r["auth"] == "pass" or r["source"] == OURS:
                    at_risk += r["count"]
                else:
                    unknown += r["count"]
    for name, content in (("traffic.json", reports), ("sums.json", {"reports": len(reports), "days": len({r["day"] for r in reports}),
            "totals": totals, "sources": sources, "receivers": receivers, "at_risk": at_risk, "unknown": unknown})):
        with open(name, "w") as f:
            json.dump(content, f, separators=(",", ":"), sort_keys=True)
            f.write("\n")

main()
