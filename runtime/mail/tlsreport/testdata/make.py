#!/usr/bin/env python3
"""Writes the reports of this folder, and their sums in sums.json.

The sums come from the JSON files as they are written, without the Go parser. Run it in this folder after changing a
report: python3 make.py
"""
import json

KNOWN = ["starttls-not-supported", "certificate-host-mismatch", "certificate-expired", "certificate-not-trusted",
    "validation-failure", "tlsa-invalid", "dnssec-invalid", "dane-required", "sts-policy-fetch-error",
    "sts-policy-invalid", "sts-webpki-invalid"]

def policy(kind, ok, failed, details=(), **more):
    out = {"policy": {"policy-type": kind, "policy-domain": "example.com", **more},
        "summary": {"total-successful-session-count": ok, "total-failure-session-count": failed}}
    if details:
        out["failure-details"] = list(details)
    return out

STS = {"policy-string": ["version: STSv1", "mode: testing", "mx: in.mail.example.org", "max_age: 86400"],
    "mx-host": ["in.mail.example.org"]}

REPORTS = {
    # Google: one policy, a list of hosts, no sending address in some failures.
    "google.json": {"organization-name": "Google Inc.", "date-range": {"start-datetime": "2026-11-27T00:00:00Z",
        "end-datetime": "2026-11-27T23:59:59Z"}, "contact-info": "smtp-tls-reporting@google.com",
        "report-id": "2026-11-27T00:00:00Z_example.com", "policies": [policy("sts", 5326, 303, [
            {"result-type": "certificate-expired", "sending-mta-ip": "2001:db8:abcd:12::1", "receiving-mx-hostname": "in.mail.example.org", "failed-session-count": 100},
            {"result-type": "starttls-not-supported", "receiving-mx-hostname": "in.mail.example.org", "receiving-ip": "192.0.2.7", "failed-session-count": 200,
                "additional-information": "https://reports.example.net/?id=5065427"},
            {"result-type": "validation-failure", "sending-mta-ip": "198.51.100.62", "failure-reason-code": "X509_V_ERR_PROXY_PATH_LENGTH_EXCEEDED", "failed-session-count": 3}], **STS)]},
    # Microsoft: two policies, a host as text, and failures of which the details explain only a part.
    "microsoft.json": {"organization-name": "Microsoft Corporation", "date-range": {"start-datetime": "2026-11-27T00:00:00+00:00",
        "end-datetime": "2026-11-28T00:00:00+00:00"}, "contact-info": "tlsrpt-noreply@microsoft.com",
        "report-id": "134084160000000000+example.com", "policies": [
            policy("tlsa", 41, 7, [{"result-type": "tlsa-invalid", "receiving-mx-hostname": "in.mail.example.org", "failed-session-count": 4}],
                **{"policy-string": ["3 1 1 0123456789abcdef"], "mx-host": "in.mail.example.org"}),
            policy("sts", 12, 2, [{"result-type": "Certificate-Host-Mismatch", "failed-session-count": 1},
                {"result-type": "a-type-of-the-future", "failed-session-count": 1}], **STS)]},
    # Another sender: no policy, counts as text, a time without an offset.
    "plain.json": {"organization-name": "  <b>Sender</b>\n", "date-range": {"start-datetime": "2026-11-27T00:00:00",
        "end-datetime": "2026-11-28T00:00:00"}, "contact-info": None, "report-id": "1", "policies": [
            policy("no-policy-found", "8", "0"), policy("no-policy-found", 2, 0, [], **{"mx-host": None})]},
}

def sums(report):
    out = {"organization": report["organization-name"].strip(), "id": report["report-id"], "rows": {}}
    def add(kind, result, n):
        if n:
            key = kind + " " + result
            out["rows"][key] = out["rows"].get(key, 0) + n
    for p in report["policies"]:
        kind, total = p["policy"]["policy-type"], int(p["summary"]["total-failure-session-count"])
        add(kind, "successful", int(p["summary"]["total-successful-session-count"]))
        add(kind, "failed", total)
        for f in p.get("failure-details", []):
            name = f["result-type"].lower()
            add(kind, name if name in KNOWN else "other", f["failed-session-count"])
            total -= f["failed-session-count"]
        add(kind, "unspecified", max(total, 0))
    return out

for name, report in REPORTS.items():
    with open(name, "w") as f:
        f.write(json.dumps(report, indent=1) + "\n")
with open("sums.json", "w") as f:
    f.write(json.dumps({n: sums(json.load(open(n))) for n in REPORTS}, indent=1, sort_keys=True) + "\n")
