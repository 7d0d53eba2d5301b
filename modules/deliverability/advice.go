package deliverability

import (
	"fmt"
	"slices"
	"strings"
)

// Verdict is the advice on a DMARC policy.
type Verdict string

// The verdicts.
const (
	VerdictWait       Verdict = "wait"       // not enough evidence
	VerdictFix        Verdict = "fix"        // mail that may be wanted would be lost; authenticate it first
	VerdictQuarantine Verdict = "quarantine" // p=quarantine is safe
	VerdictReject     Verdict = "reject"     // p=reject is safe
	VerdictKeep       Verdict = "keep"       // the policy is the strictest that the evidence supports
)

// Advice is whether the domain can publish a stricter policy.
type Advice struct {
	Verdict  Verdict
	Policy   string // published: none, quarantine, reject; empty if there is no record
	Days     int    // with reports
	Messages int64
	// AtRisk are messages that fail DMARC although they look wanted: from our servers, or from servers that
	// authenticate them under another domain, such as a service or a forwarder.
	AtRisk int64
	// Unknown are messages that fail DMARC and authenticate nothing. They are probably forged.
	Unknown int64
	Reason  string
	Record  string // value to publish; empty if nothing should change
}

// Evidence is what an advice rests on.
type Evidence struct {
	Record   string // published DMARC record; empty if none is published
	Address  string // report address
	Days     int
	Messages int64
	AtRisk   int64
	Unknown  int64
}

// countWanted returns the number of messages that are not probably forged. Forgeries must not dilute the share at risk.
func (e Evidence) countWanted() int64 { return e.Messages - e.Unknown }

// The evidence that a stricter policy requires.
const (
	minDays       = 14
	minRejectDays = 28
	minMessages   = 100
	// One message in so many may be at risk before quarantine and before reject.
	quarantineShare = 100
	rejectShare     = 1000
)

// Advise returns the advice for a domain. A policy becomes stricter by one step at a time, because quarantined mail
// can still be found.
func Advise(e Evidence) Advice {
	a := Advice{Policy: policyOf(e.Record), Days: e.Days, Messages: e.Messages, AtRisk: e.AtRisk, Unknown: e.Unknown}
	wanted := e.countWanted()
	enough := e.Days >= minDays && wanted >= minMessages
	switch {
	case e.Record == "":
		a.Verdict, a.Reason = VerdictWait, "The domain has no DMARC record. Publish one with p=none, so that receivers "+
			"send reports."
		a.Record = recordWith("", "none", e.Address)
	case a.Policy == "reject" && exceeds(e.AtRisk, wanted, quarantineShare):
		a.Verdict, a.Reason = VerdictFix, fmt.Sprintf("Receivers can reject %s at risk. Authenticate them, or "+
			"publish p=quarantine until you have.", count(e.AtRisk))
		a.Record = recordWith(e.Record, "quarantine", e.Address)
	case a.Policy == "reject":
		a.Verdict, a.Reason = VerdictKeep, "The domain has the strictest policy."
		a.Record = withReports(e)
	case !enough:
		a.Verdict, a.Reason = VerdictWait, fmt.Sprintf("A stricter policy requires reports of %d days and %d messages; "+
			"there are %d and %d.", minDays, minMessages, e.Days, wanted)
		a.Record = withReports(e)
	case exceeds(e.AtRisk, wanted, quarantineShare):
		a.Verdict, a.Reason = VerdictFix, fmt.Sprintf("A stricter policy could lose %s that may be wanted. Authenticate "+
			"the sources that fail first.", count(e.AtRisk))
		a.Record = withReports(e)
	case a.Policy == "none":
		a.Verdict, a.Reason = VerdictQuarantine, lossOf(e)
		a.Record = recordWith(e.Record, "quarantine", e.Address)
	default:
		adviseReject(&a, e)
	}
	return a
}

// adviseReject advises a domain with p=quarantine.
func adviseReject(a *Advice, e Evidence) {
	switch {
	case e.Days < minRejectDays:
		a.Verdict, a.Reason = VerdictKeep, fmt.Sprintf("p=reject requires reports of %d days; there are %d.",
			minRejectDays, e.Days)
		a.Record = withReports(e)
	case exceeds(e.AtRisk, e.countWanted(), rejectShare):
		a.Verdict, a.Reason = VerdictKeep, fmt.Sprintf("p=reject could lose %s that may be wanted. Authenticate the "+
			"sources that fail first.", count(e.AtRisk))
		a.Record = withReports(e)
	default:
		a.Verdict, a.Reason = VerdictReject, lossOf(e)
		a.Record = recordWith(e.Record, "reject", e.Address)
	}
}

func exceeds(part, whole, share int64) bool { return part*share > whole }

func count(messages int64) string {
	if messages == 1 {
		return "1 message"
	}
	return fmt.Sprintf("%d messages", messages)
}

// lossOf describes what a stricter policy would affect.
func lossOf(e Evidence) string {
	return fmt.Sprintf("Of %s in %d days, it would affect %s that may be wanted and %s that are probably forged.",
		count(e.Messages), e.Days, count(e.AtRisk), count(e.Unknown))
}

// withReports returns the record with the report address, or an empty string if it already has it.
func withReports(e Evidence) string {
	if record := recordWith(e.Record, policyOf(e.Record), e.Address); record != e.Record {
		return record
	}
	return ""
}

// policyOf returns the policy of a record; one without a valid p= means none (RFC 7489 section 6.6.3).
func policyOf(record string) string {
	for name, value := range tagsOf(record) {
		if policy := strings.ToLower(value); name == "p" && (policy == "quarantine" || policy == "reject") {
			return policy
		}
	}
	if record == "" {
		return ""
	}
	return "none"
}

// tagsOf iterates over the tags of a record in their order.
func tagsOf(record string) func(yield func(name, value string) bool) {
	return func(yield func(name, value string) bool) {
		for part := range strings.SplitSeq(record, ";") {
			name, value, _ := strings.Cut(part, "=")
			if name = strings.TrimSpace(name); name != "" && !yield(strings.ToLower(name), strings.TrimSpace(value)) {
				return
			}
		}
	}
}

// recordWith returns a record with a policy and the report address. All other tags stay, except pct, which would
// exempt a share of mail from the new policy.
func recordWith(record, policy, address string) string {
	if record == "" {
		record = "v=DMARC1"
	}
	uri := "mailto:" + address
	parts, reports := []string{}, false
	for name, value := range tagsOf(record) {
		switch name {
		case "v":
			parts = append(parts, "v=DMARC1", "p="+policy)
		case "p":
		case "pct":
			if policy == policyOf(record) {
				parts = append(parts, "pct="+value)
			}
		case "rua":
			reports = true
			uris := strings.Split(value, ",")
			if !slices.ContainsFunc(uris, func(u string) bool { return strings.EqualFold(strings.TrimSpace(u), uri) }) {
				value += "," + uri
			}
			parts = append(parts, "rua="+value)
		default:
			parts = append(parts, name+"="+value)
		}
	}
	if !reports {
		parts = append(parts, "rua="+uri)
	}
	return strings.Join(parts, "; ")
}
