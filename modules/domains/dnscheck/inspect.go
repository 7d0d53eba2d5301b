package dnscheck

import (
	"context"
	"crypto"
	"fmt"
	"slices"

	"github.com/postrider/postrider/runtime/mail/dkim"
)

// Inspected is one record and the result of its lookup.
type Inspected struct {
	RecordCheck

	Unanswered bool // the lookup got no answer
}

// Inspect looks up all records like Look, and returns the records of the set with the results.
func (c Checker) Inspect(ctx context.Context, e Set, signers map[string]crypto.Signer) []Inspected {
	seen := c.CheckRecords(ctx, e, signers)
	records := e.records() // in the same order
	out := make([]Inspected, len(records))
	for i, record := range records {
		record.Status, record.Found, record.Error = seen[i].Status, clipValues(seen[i].Found),
			sanitizeText(seen[i].Advice)
		record.Findings = sanitizeFindings(seen[i].Findings)
		out[i] = Inspected{RecordCheck: record, Unanswered: seen[i].Unanswered}
	}
	return out
}

// InspectSelector reports whether an RSA or Ed25519 key is published under the selector.
func (c Checker) InspectSelector(ctx context.Context, name, selector string) Inspected {
	record := RecordCheck{Purpose: DKIM, Selector: selector, Type: "TXT", Name: dkim.RecordName(selector, name),
		Value: "a DKIM key", Required: true, Status: Mismatch}
	found, err := c.txt(ctx, record.Name)
	if err != nil {
		record.Error = unansweredObservation(DKIM, record.Name).Advice
		return Inspected{RecordCheck: record, Unanswered: true}
	}
	record.Found = clipValues(found)
	switch len(found) {
	case 0:
		record.Status, record.Error = Missing, fmt.Sprintf("Publish a TXT record at %s with the DKIM key.", record.Name)
	case 1:
		tags, err := parseTags(unquote(found[0]))
		switch {
		case err != nil:
			record.Error = fmt.Sprintf("Replace the TXT record at %s: it is not a key record (%s).", record.Name,
				sanitizeText(err.Error()))
		case tags["p"] == "":
			record.Error = fmt.Sprintf("Publish the key at %s again: its p= tag is empty.", record.Name)
		default:
			record.Status = Verified
		}
	default:
		record.Error = fmt.Sprintf("Keep only one TXT record at %s: %d were found.", record.Name, len(found))
	}
	return Inspected{RecordCheck: record}
}

// LookProof looks up a record created by Proof, and returns it with the found value and advice. If the lookup
// gets no answer, the record is missing, and its advice is to wait.
func (c Checker) LookProof(ctx context.Context, record RecordCheck) RecordCheck {
	ctx, cancel := context.WithTimeout(ctx, c.Within)
	defer cancel()
	found, err := c.txt(ctx, record.Name)
	record.Found = clipValues(found)
	switch {
	case err != nil:
		record.Error = unansweredObservation(Ownership, record.Name).Advice
	case slices.ContainsFunc(found, func(v string) bool { return unquote(v) == record.Value }):
		record.Status = Verified
	case len(found) == 0:
		record.Error = fmt.Sprintf("Publish a TXT record at %s with the value %q.", record.Name, record.Value)
	default:
		record.Status = Mismatch
		record.Error = fmt.Sprintf("Add a TXT record at %s with exactly the value %q, without removing existing ones.",
			record.Name, record.Value)
	}
	return record
}

// SPFAdvice evaluates values that the domain may publish as its SPF records. It returns advice for the
// domain's owner, or "" if the values are valid or a lookup got no answer.
func (c Checker) SPFAdvice(ctx context.Context, e Set, values ...string) string {
	seen, err := compareSPF(ctx, e, values, c.DNS)
	if err != nil {
		return ""
	}
	return seen.Advice
}
