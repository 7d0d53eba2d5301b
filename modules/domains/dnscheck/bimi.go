package dnscheck

import (
	"context"
	"fmt"
	"strings"

	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/domains/bimi"
	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/web/egress"
)

// LogoChecker checks the files that a BIMI record refers to.
type LogoChecker interface {
	Check(ctx context.Context, domain, logoURL, certificateURL string) []shape.RecordFinding
}

var _ LogoChecker = (*bimi.Checker)(nil)

const bimiLabel = bimi.Selector + "._bimi."

// bimiRecord contains the URLs in a BIMI record.
type bimiRecord struct{ logo, certificate string }

// bimiValue returns the proposed BIMI record.
func (e Set) bimiValue() string {
	if e.bimi.certificate == "" {
		return "v=BIMI1; l=" + e.bimi.logo + ";"
	}
	return "v=BIMI1; l=" + e.bimi.logo + "; a=" + e.bimi.certificate + ";"
}

// RefuseBIMIURL returns why a URL cannot be in a BIMI record, as a predicate such as "must …", or an empty string.
func RefuseBIMIURL(text string) string {
	const maxURL = 500
	_, wrong := egress.CheckURL(text, false)
	switch {
	case wrong != "":
		return wrong
	case len(text) > maxURL:
		return fmt.Sprintf("must be at most %d characters long", maxURL)
	case strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`;,"\`, r) }):
		return "must consist of ASCII characters without quotes, backslashes, commas and semicolons; encode them with %"
	}
	return ""
}

// lookBIMI compares the record, and checks what the proposed record refers to, so that problems are found before it
// is published.
func (c Checker) lookBIMI(ctx context.Context, e Set) Observation {
	name := bimiLabel + e.name
	found, err := c.txt(ctx, name)
	if err != nil {
		return unansweredObservation(BIMI, name)
	}
	o := compareBIMI(e, found)
	o.Findings = append(o.Findings, recordFinding(o), c.checkBIMIPolicy(ctx, e.name))
	if c.Logos != nil {
		o.Findings = append(o.Findings, c.Logos.Check(ctx, e.name, e.bimi.logo, e.bimi.certificate)...)
	}
	for _, f := range o.Findings {
		if o.Status == Verified && f.State == bimi.Broken {
			o.Status, o.Advice = Mismatch, f.Found+" "+f.Fix
		}
	}
	return o
}

func recordFinding(o Observation) shape.RecordFinding {
	switch o.Status {
	case Verified:
		return shape.RecordFinding{Code: "record", State: bimi.Met, Found: "The record is published."}
	case Missing:
		return shape.RecordFinding{Code: "record", State: bimi.Broken, Found: "The record is not published.", Fix: o.Advice}
	}
	return shape.RecordFinding{Code: "record", State: bimi.Broken, Found: "The published record differs from the settings.",
		Fix: o.Advice}
}

// compareBIMI returns advice only; verification does not depend on it.
func compareBIMI(e Set, found []string) Observation {
	o := Observation{Purpose: BIMI, Found: found, Status: Mismatch}
	records := selectVersion(found, "v=BIMI1")
	name := bimiLabel + e.name
	switch {
	case len(found) == 0:
		o.Status = Missing
		o.Advice = fmt.Sprintf("Publish a TXT record at %s with the value %q; this is optional.", name, e.bimiValue())
	case len(records) == 0:
		o.Advice = fmt.Sprintf("Make the TXT record at %s begin with \"v=BIMI1;\"; this is optional.", name)
	case len(records) > 1:
		o.Advice = fmt.Sprintf("Keep only one BIMI record at %s: if there are several, receivers ignore all of them.", name)
	default:
		tags, err := parseTags(records[0])
		switch {
		case err != nil:
			o.Advice = fmt.Sprintf("Correct the BIMI record at %s: %s.", name, err)
		case tags["l"] != e.bimi.logo || tags["a"] != e.bimi.certificate:
			o.Advice = fmt.Sprintf("Replace the BIMI record at %s with the value %q.", name, e.bimiValue())
		default:
			o.Status = Verified
		}
	}
	return o
}

// checkBIMIPolicy checks the DMARC policy that applies to the domain. Receivers show a logo only with an enforced one.
func (c Checker) checkBIMIPolicy(ctx context.Context, domain string) shape.RecordFinding {
	at, subdomain := domain, false
	records, err := c.dmarcRecords(ctx, at)
	if parent := address.RegistrableDomain(domain); err == nil && len(records) == 0 && parent != "" && parent != domain {
		at, subdomain = parent, true
		records, err = c.dmarcRecords(ctx, at)
	}
	if err != nil {
		return shape.RecordFinding{Code: "dmarc", State: bimi.Unknown, Found: "DNS did not answer for " + dmarcLabel + at + "."}
	}
	if len(records) != 1 {
		return shape.RecordFinding{Code: "dmarc", State: bimi.Broken,
			Found: fmt.Sprintf("%d DMARC records were found.", len(records)),
			Fix:   "Publish one DMARC record with p=quarantine or p=reject."}
	}
	return judgeBIMIPolicy(records[0], at, subdomain)
}

func (c Checker) dmarcRecords(ctx context.Context, domain string) ([]string, error) {
	values, err := c.txt(ctx, dmarcLabel+domain)
	return selectVersion(values, "v=DMARC1"), err
}

// judgeBIMIPolicy judges a record of the domain itself, or the one of its organizational domain for a subdomain.
func judgeBIMIPolicy(record, at string, subdomain bool) shape.RecordFinding {
	tags, err := parseTags(record)
	f := shape.RecordFinding{Code: "dmarc", State: bimi.Broken}
	if err != nil {
		f.Found, f.Fix = "The DMARC record of "+at+" is invalid.", "Correct the DMARC record at "+dmarcLabel+at+"."
		return f
	}
	policy, tag := strings.ToLower(tags["p"]), "p"
	if override := strings.ToLower(tags["sp"]); override != "" && (subdomain || override == "none") {
		policy, tag = override, "sp"
	}
	pct, partial := tags["pct"]
	partial = partial && pct != "100"
	switch {
	case policy == "quarantine" && partial:
		f.Found = fmt.Sprintf("The DMARC policy of %s is %s=quarantine for %s %% of the mail.", at, tag, clipText(pct))
		f.Fix = "Remove pct from the DMARC record at " + dmarcLabel + at + ", or use p=reject."
	case policy == "quarantine" || policy == "reject":
		f.State, f.Found = bimi.Met, fmt.Sprintf("The DMARC policy of %s is %s=%s.", at, tag, policy)
	default:
		f.Found = fmt.Sprintf("The DMARC policy of %s is %s=%s.", at, tag, clipText(policy))
		f.Fix = "BIMI requires p=quarantine or p=reject. Follow the policy advice for the domain, so that no wanted mail is lost."
		if tag == "sp" {
			f.Fix = "Set sp=quarantine or sp=reject in the DMARC record at " + dmarcLabel + at + ", or remove it if p is strict."
		}
	}
	return f
}
