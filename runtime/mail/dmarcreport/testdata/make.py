#!/usr/bin/env python3
"""Writes the reports of this folder, and their sums in sums.json.

The sums come from the XML files as xml.dom.minidom reads them, so they do not depend on the Go parser. Run it in this
folder after changing a report: python3 make.py
"""
import glob, gzip, io, ipaddress, json, zipfile
from xml.dom import minidom

REPORTS = {
    # Google: no namespace, a comment per override, epoch seconds.
    "google.xml": ("", "google.com", "7612345678901234567", 1795651200, 1795737599, "<email>noreply-dmarc-support@google.com</email><extra_contact_info>https://support.google.com/a/answer/2466580</extra_contact_info>",
        [("192.0.2.25", 412, "none", "pass", "pass", [("example.com", "pass")], [("rp.example.com", "pass")]),
         ("198.51.100.7", 9, "none", "fail", "fail", [("crm.example", "pass")], [("crm.example", "pass")]),
         ("203.0.113.99", 3, "none", "fail", "fail", [], [("example.com", "softfail")])]),
    # Microsoft: schema attributes on the root, upper case elements of results, IPv6.
    "microsoft.xml": (' xmlns:xsd="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"', "Enterprise Outlook", "a1b2c3d4e5f60718293a4b5c6d7e8f90", 1795651200, 1795737600, "<email>dmarcreport@microsoft.com</email>",
        [("2001:db8::25", 120, "none", "pass", "pass", [("example.com", "pass")], [("rp.example.com", "pass")]),
         ("2001:0DB8:0:0:0:0:0:25", 5, "none", "pass", "fail", [("example.com", "pass")], [("other.example", "fail")])]),
    # Yahoo: no error fields, white space around values.
    "yahoo.xml": ("", "Yahoo", " 1795737600.123456 ", 1795651200, 1795737599, "<email>dmarchelp@yahooinc.com</email>",
        [("192.0.2.25", 77, "none", "pass", "pass", [("example.com", "pass")], [("rp.example.com", "pass")]),
         ("192.0.2.25", 3, "none", "pass", "pass", [("example.com", "pass")], [("rp.example.com", "pass")])]),
    # Mail.ru: the namespace of the successor, two signatures.
    "mailru.xml": (' xmlns="urn:ietf:params:xml:ns:dmarc-2.0"', "Mail.Ru", "33312612345678901795651200", 1795640400, 1795726800, "<email>dmarc_support@corp.mail.ru</email>",
        [("192.0.2.25", 31, "none", "pass", "pass", [("example.com", "pass"), ("mailer.example", "fail")], [("rp.example.com", "pass")]),
         ("203.0.113.99", 2, "reject", "fail", "fail", [], [("example.com", "fail")])]),
    # Fastmail: a wrong namespace, no scope, quarantine.
    "fastmail.xml": (' xmlns="http://dmarc.org/dmarc-xml/0.1"', "FastMail Pty Ltd", "fm-1795651200", 1795651200, 1795737600, "<email>reports@fastmaildmarc.com</email>",
        [("192.0.2.25", 8, "none", "fail", "pass", [], [("rp.example.com", "pass")]),
         ("198.51.100.7", 1, "quarantine", "fail", "fail", [("crm.example", "pass")], [])]),
    # Comcast: version element, no policy percentage, forwarded mail.
    "comcast.xml": ("", "comcast.net", "1795651200.v3.example.com", 1795651200, 1795737600, "<email>dmarc-reports@alerts.comcast.net</email>",
        [("192.0.2.25", 19, "none", "pass", "fail", [("example.com", "pass")], [("forward.example", "pass")])]),
}

def document(attrs, org, rid, begin, end, contact, records):
    out = ['<?xml version="1.0" encoding="UTF-8" ?>', f"<feedback{attrs}>", "<version>1.0</version>",
        f"<report_metadata><org_name>{org}</org_name>{contact}<report_id>{rid}</report_id>",
        f"<date_range><begin>{begin}</begin><end>{end}</end></date_range></report_metadata>",
        "<policy_published><domain>example.com</domain><adkim>r</adkim><aspf>r</aspf><p>none</p><sp>none</sp></policy_published>"]
    for ip, count, disposition, dkim, spf, sigs, envelopes in records:
        out.append(f"<record><row><source_ip>{ip}</source_ip><count>{count}</count><policy_evaluated><disposition>{disposition}</disposition><dkim>{dkim}</dkim><spf>{spf}</spf></policy_evaluated></row>")
        out.append("<identifiers><header_from>example.com</header_from></identifiers><auth_results>")
        out += [f"<dkim><domain>{d}</domain><selector>pr1</selector><result>{r}</result></dkim>" for d, r in sigs]
        out += [f"<spf><domain>{d}</domain><result>{r}</result></spf>" for d, r in envelopes]
        out.append("</auth_results></record>")
    return "\n".join(out + ["</feedback>", ""])

def text(node, name):
    found = node.getElementsByTagName(name)
    return found[0].firstChild.data.strip() if found else ""

def sums(raw):
    doc = minidom.parseString(raw)
    out = {"organization": text(doc, "org_name"), "id": text(doc, "report_id"), "begin": int(text(doc, "begin")), "end": int(text(doc, "end")),
        "messages": 0, "dmarc": 0, "dkim": 0, "spf": 0, "sources": {}, "dispositions": {}}
    for rec in doc.getElementsByTagName("record"):
        row, n = rec.getElementsByTagName("row")[0], int(text(rec, "count"))
        dkim, spf = text(row, "dkim") == "pass", text(row, "spf") == "pass"
        ip, disposition = str(ipaddress.ip_address(text(row, "source_ip"))), text(row, "disposition")
        out["messages"] += n
        out["dkim"] += n * dkim
        out["spf"] += n * spf
        out["dmarc"] += n * (dkim or spf)
        out["sources"][ip] = out["sources"].get(ip, 0) + n
        out["dispositions"][disposition] = out["dispositions"].get(disposition, 0) + n
    return out

if __name__ == "__main__":
    for name, args in REPORTS.items():
        with open(name, "w") as f:
            f.write(document(*args))
    with open("sums.json", "w") as f:
        json.dump({name: sums(open(name, "rb").read()) for name in sorted(glob.glob("*.xml"))}, f, indent=1)
        f.write("\n")
