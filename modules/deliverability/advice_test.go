package deliverability

import (
	"strings"
	"testing"

	"github.com/postrider/postrider/modules/domains/dnscheck"
	"github.com/postrider/postrider/modules/statistics"
)

const rua = "dmarc+token@rp.mail.example.org"

func TestAdvice(t *testing.T) {
	t.Parallel()
	none, quarantine, reject := "v=DMARC1; p=none; rua=mailto:"+rua, "v=DMARC1; p=quarantine; rua=mailto:"+rua,
		"v=DMARC1; p=reject; rua=mailto:"+rua
	for name, c := range map[string]struct {
		record                    string
		days                      int
		messages, atRisk, unknown int64
		verdict                   Verdict
		publish                   string
	}{
		"no record":                     {"", 0, 0, 0, 0, VerdictWait, none},
		"no record, but reports":        {"", 30, 9000, 0, 0, VerdictWait, none},
		"no reports":                    {none, 0, 0, 0, 0, VerdictWait, ""},
		"13 days":                       {none, 13, 100_000, 0, 0, VerdictWait, ""},
		"99 messages":                   {none, 30, 99, 0, 0, VerdictWait, ""},
		"only forgeries":                {none, 30, 5000, 0, 5000, VerdictWait, ""},
		"14 clean days":                 {none, 14, 100, 0, 0, VerdictQuarantine, quarantine},
		"forgeries do not matter":       {none, 20, 9000, 0, 8000, VerdictQuarantine, quarantine},
		"forgeries do not dilute":       {none, 20, 9000, 11, 8000, VerdictFix, ""},
		"one percent at risk":           {none, 20, 1000, 10, 0, VerdictQuarantine, quarantine},
		"more than one percent at risk": {none, 20, 1000, 11, 0, VerdictFix, ""},
		"half at risk":                  {none, 30, 1000, 500, 0, VerdictFix, ""},
		"quarantine for 27 days":        {quarantine, 27, 100_000, 0, 0, VerdictKeep, ""},
		"quarantine for 28 days":        {quarantine, 28, 100_000, 0, 50, VerdictReject, reject},
		"quarantine, one in a thousand": {quarantine, 30, 10_000, 10, 0, VerdictReject, reject},
		"quarantine, more than that":    {quarantine, 30, 10_000, 11, 0, VerdictKeep, ""},
		"quarantine, much at risk":      {quarantine, 30, 1000, 400, 0, VerdictFix, ""},
		"quarantine without reports":    {quarantine, 3, 20, 0, 0, VerdictWait, ""},
		"reject":                        {reject, 30, 10_000, 0, 900, VerdictKeep, ""},
		"reject loses mail":             {reject, 30, 10_000, 2000, 0, VerdictFix, quarantine},
		"reports go elsewhere": {"v=DMARC1; p=reject; rua=mailto:a@example.net", 0, 0, 0, 0, VerdictKeep,
			"v=DMARC1; p=reject; rua=mailto:a@example.net,mailto:" + rua},
		"invalid policy": {"v=DMARC1; p=nonsense; rua=mailto:" + rua, 14, 100, 0, 0, VerdictQuarantine, quarantine},
		"other tags stay": {"v=DMARC1;p=none;pct=10;sp=none;adkim=s;rua=mailto:" + strings.ToUpper(rua), 14, 100, 0, 0,
			VerdictQuarantine, "v=DMARC1; p=quarantine; sp=none; adkim=s; rua=mailto:" + strings.ToUpper(rua)},
	} {
		got := Advise(Evidence{Record: c.record, Address: rua, Days: c.days, Messages: c.messages, AtRisk: c.atRisk,
			Unknown: c.unknown})
		if got.Verdict != c.verdict || got.Record != c.publish || got.Reason == "" {
			t.Errorf("%s: got %s and the record %q (%s), want %s and %q", name, got.Verdict, got.Record, got.Reason,
				c.verdict, c.publish)
		}
	}
}

// The records of a domain of development mode are never looked up. They count as they are shown.
func TestPublishedPolicy(t *testing.T) {
	t.Parallel()
	const proposed, other = "v=DMARC1; p=none", "v=DMARC1; p=reject"
	for name, test := range map[string]struct {
		record dnscheck.RecordCheck
		want   string
	}{
		"found":       {dnscheck.RecordCheck{Status: dnscheck.Verified, Found: []string{other}}, other},
		"another":     {dnscheck.RecordCheck{Status: dnscheck.Verified, Found: []string{"v=spf1 -all"}}, ""},
		"development": {dnscheck.RecordCheck{Status: dnscheck.Verified}, proposed},
		"not found":   {dnscheck.RecordCheck{Status: dnscheck.Missing}, ""},
	} {
		test.record.Purpose, test.record.Value = dnscheck.DMARC, proposed
		if got := publishedPolicy([]dnscheck.RecordCheck{test.record}); got != test.want {
			t.Errorf("%s: the policy is %q, want %q", name, got, test.want)
		}
	}
}

func TestRequirementsAndGrade(t *testing.T) {
	t.Parallel()
	verified := []dnscheck.RecordCheck{{Purpose: dnscheck.SPF, Required: true, Status: dnscheck.Verified},
		{Purpose: dnscheck.DKIM, Required: true, Status: dnscheck.Verified}}
	sound := standing{records: verified, policy: "none", found: Evidence{Messages: 1000},
		traffic: traffic{sent: statistics.Figures{Recipients: 1000, Delivered: 1000}}}
	for name, c := range map[string]struct {
		change func(*standing)
		grade  string
		reason string
	}{
		"sound":            {func(*standing) {}, "good", ""},
		"no reports":       {func(s *standing) { s.found = Evidence{} }, "unknown", ""},
		"only forgeries":   {func(s *standing) { s.found.Unknown = 1000 }, "unknown", ""},
		"no DMARC record":  {func(s *standing) { s.policy = "" }, "poor", "dmarc"},
		"two in a hundred": {func(s *standing) { s.found.AtRisk = 21 }, "fair", "alignment"},
		"one in ten":       {func(s *standing) { s.found.AtRisk = 101 }, "poor", "alignment"},
		"0.1 % complaints": {func(s *standing) { s.traffic.sent.Complained = 1 }, "fair", "complaints"},
		"0.3 % complaints": {func(s *standing) { s.traffic.sent.Complained = 3 }, "poor", "complaints"},
		"2 % bounces":      {func(s *standing) { s.traffic.sent.Bounced = 20 }, "fair", "bounces"},
		"5 % bounces":      {func(s *standing) { s.traffic.sent.Bounced = 50 }, "poor", "bounces"},
		"too little mail":  {func(s *standing) { s.traffic.sent = statistics.Figures{Recipients: 99, Bounced: 99} }, "good", ""},
		"SPF record wrong": {func(s *standing) {
			s.records = []dnscheck.RecordCheck{{Purpose: dnscheck.SPF, Required: true, Status: dnscheck.Mismatch, Error: "Fix it."}}
		}, "poor", "spf"},
	} {
		st := sound
		c.change(&st)
		list := judgeRequirements(st)
		got := gradeOf(list)
		if got.Grade != c.grade || strings.Join(got.Reasons, " ") != c.reason {
			t.Errorf("%s: got %+v, want %s because of %q", name, got, c.grade, c.reason)
		}
		for _, r := range list {
			if wrong := r.State == StateBroken || r.State == StateClose; r.Found == "" || wrong == (r.Fix == "") && r.Code != "" {
				t.Errorf("%s: the requirement %+v lacks a finding, or has a fix without a reason", name, r)
			}
		}
	}
}
