package dnscheck

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/dkimkey"
	"github.com/postrider/postrider/runtime/mail/dkim"
	"github.com/postrider/postrider/runtime/mail/dnsx"
)

// The comparisons are pure functions of DNS answers. TXT values are joined from their character-strings (RFC
// 7208 section 3.3, RFC 6376 section 3.6.2.2), so a split key is equal to an unsplit one.

func compareOwnership(e Set, found []string) Observation {
	want := ownershipPrefix + e.ownershipToken
	o := Observation{Purpose: Ownership, Found: found}
	switch {
	case slices.ContainsFunc(found, func(v string) bool { return unquote(v) == want }):
		o.Status = Verified
	case len(found) == 0:
		o.Status = Missing
		o.Advice = fmt.Sprintf("Publish a TXT record at %s with the value %q.", ownershipLabel+e.name, want)
	default:
		o.Status = Mismatch
		o.Advice = fmt.Sprintf("Add a TXT record at %s with exactly the value %q; the values found there do not match.",
			ownershipLabel+e.name, want)
	}
	return o
}

// unquote removes the quotes that DNS control panels add to a pasted value.
func unquote(value string) string {
	return strings.TrimSpace(strings.Trim(strings.TrimSpace(value), `"`))
}

// compareReturnPath checks the chain of aliases: the return path host may be anywhere in it. The domain's own target
// is an alias of that host.
func compareReturnPath(e Set, chain []string) Observation {
	name := returnPathLabel + e.name
	o := Observation{Purpose: ReturnPath, Found: chain}
	switch {
	case containsName(chain, e.returnPathHost):
		o.Status = Verified
	case containsName(chain, e.ownTarget):
		return blameOperator(o, ExplainMissingWildcard(e.ownTarget, e.returnPathHost))
	case len(chain) == 0:
		o.Status = Missing
		o.Advice = fmt.Sprintf("Publish a CNAME record at %s that points to %s.", name, e.shownTarget)
	default:
		o.Status = Mismatch
		o.Advice = fmt.Sprintf("Point the CNAME record at %s to %s; it points to %s now.", name, e.shownTarget,
			dnsx.CanonicalName(chain[len(chain)-1]))
	}
	return o
}

func containsName(chain []string, name string) bool {
	return name != "" && slices.ContainsFunc(chain, func(v string) bool { return dnsx.CanonicalName(v) == name })
}

// compareDKIM compares the published key records with our key (RFC 6376 section 3.6.1).
func compareDKIM(e Set, key *ent.DKIMKey, found []string) Observation {
	o := Observation{Purpose: DKIM, Selector: key.Selector, Found: found, Status: Mismatch}
	name := e.dkimName(key)
	switch len(found) {
	case 0:
		o.Status = Missing
		o.Advice = fmt.Sprintf("Publish a TXT record at %s with the DKIM key.", name)
		switch key.State {
		case dkimkey.StateRetired:
			o.Advice = restoreAdvice(key, name)
		case dkimkey.StatePending:
			o.Advice = fmt.Sprintf("Publish a TXT record at %s with the new DKIM key; it signs as soon as a check "+
				"finds the record.", name)
		}
		return o
	case 1:
	default:
		// Undefined by RFC 6376 section 3.6.2.2; some receivers even join several records.
		o.Advice = fmt.Sprintf("Keep only one TXT record at %s, the one with the value shown: %d were found, and receivers may use any of them.", name, len(found))
		return o
	}
	tags, err := parseTags(unquote(found[0]))
	switch {
	case err != nil:
		o.Advice = fmt.Sprintf("Replace the TXT record at %s with the value shown: the current record is not a key "+
			"record (%s).", name, err)
	case !hasTag(tags, "p"):
		o.Advice = fmt.Sprintf("Replace the TXT record at %s with the value shown: the current record has no p= tag.",
			name)
	default:
		o.Advice = describeKeyFault(key, tags, name)
	}
	if o.Advice == "" {
		o.Status = Verified
	} else if key.State == dkimkey.StateRetired {
		o.Advice = restoreAdvice(key, name)
	}
	return o
}

// restoreAdvice returns the advice for a key that no longer signs.
func restoreAdvice(key *ent.DKIMKey, name string) string {
	until := ""
	if key.RetiredAt != nil {
		until = " until " + key.RetiredAt.Add(KeepRetired).UTC().Format(time.DateOnly)
	}
	return fmt.Sprintf("Restore the TXT record at %s%s: mail that was signed with the earlier key may still be in "+
		"transit.", name, until)
}

// describeKeyFault describes how a key record differs from ours, or returns "" if it does not.
func describeKeyFault(key *ent.DKIMKey, tags map[string]string, name string) string {
	kind := dkim.KeyType(string(key.Algorithm))
	published, named := tags["k"]
	if !named {
		published = "rsa" // RFC 6376 section 3.6.1: the default
	}
	switch {
	case hasTag(tags, "v") && tags["v"] != "DKIM1":
		return fmt.Sprintf("Change v=%s to v=DKIM1 in the record at %s.", clipText(tags["v"]), name)
	case !named && kind != published:
		return fmt.Sprintf("Add k=%s to the record at %s.", kind, name)
	case !strings.EqualFold(published, kind):
		return fmt.Sprintf("Change k=%s to k=%s in the record at %s.", clipText(published), kind, name)
	case hasTag(tags, "h") && !listHas(tags["h"], "sha256"):
		return fmt.Sprintf("Remove the h= tag from the record at %s, or let it contain sha256.", name)
	case hasTag(tags, "s") && !listHas(tags["s"], "email") && !listHas(tags["s"], "*"):
		return fmt.Sprintf("Remove the s= tag from the record at %s, or let it contain email.", name)
	case tags["p"] == "":
		return fmt.Sprintf("Publish the key at %s again: its p= tag is empty, which means that the key is revoked.",
			name)
	case !sameKey(tags["p"], key.PublicKey):
		return fmt.Sprintf("Replace the key at %s with the value shown: its p= tag contains another key, or was "+
			"truncated.", name)
	}
	return ""
}

// sameKey compares base64, ignoring white space and padding.
func sameKey(published, ours string) bool {
	a, errA := base64.RawStdEncoding.DecodeString(strings.TrimRight(removeSpace(published), "="))
	b, errB := base64.RawStdEncoding.DecodeString(strings.TrimRight(removeSpace(ours), "="))
	return errA == nil && errB == nil && len(a) > 0 && slices.Equal(a, b)
}

func listHas(list, item string) bool {
	return slices.ContainsFunc(strings.Split(list, ":"),
		func(s string) bool { return strings.EqualFold(strings.TrimSpace(s), item) })
}

// parseTags parses a tag-list (RFC 6376 section 3.2). Tag names are case-sensitive. Their order is free, but
// v must come first if present (section 3.6.1).
func parseTags(record string) (map[string]string, error) {
	tags := map[string]string{}
	for i, part := range strings.Split(record, ";") {
		if strings.TrimSpace(part) == "" {
			continue
		}
		name, value, found := strings.Cut(part, "=")
		name = strings.TrimSpace(name)
		if !found || name == "" {
			return nil, fmt.Errorf("%q is not a tag", clipText(strings.TrimSpace(part)))
		}
		if hasTag(tags, name) {
			return nil, fmt.Errorf("the tag %s= occurs twice", clipText(name))
		}
		if name == "v" && i != 0 {
			return nil, fmt.Errorf("v= is not the first tag")
		}
		tags[name] = strings.TrimSpace(value)
	}
	return tags, nil
}

func hasTag(tags map[string]string, name string) bool { _, found := tags[name]; return found }

// compareDMARC returns advice only; verification does not depend on it. Receivers ignore values that do not
// begin with v=DMARC1, and all records if there are several (RFC 7489 section 6.6.3).
func compareDMARC(e Set, found []string) Observation {
	o := Observation{Purpose: DMARC, Found: found}
	records := selectVersion(found, "v=DMARC1")
	name := dmarcLabel + e.name
	switch {
	case len(records) == 0 && len(found) == 0:
		o.Status = Missing
		o.Advice = fmt.Sprintf("Publish a TXT record at %s with the value %q; this is "+
			"recommended, not required.", name, e.dmarcValue())
	case len(records) == 0:
		o.Status = Mismatch
		o.Advice = fmt.Sprintf("Make the TXT record at %s begin with \"v=DMARC1;\"; this is recommended, not required.",
			name)
	case len(records) > 1:
		o.Status = Mismatch
		o.Advice = fmt.Sprintf("Keep only one DMARC record at %s: if there are several, receivers ignore all of them.",
			name)
	default:
		o.Status, o.Advice = checkDMARCPolicy(records[0], name)
	}
	return o
}

func checkDMARCPolicy(record, name string) (Status, string) {
	tags, err := parseTags(record)
	if err != nil {
		return Mismatch, fmt.Sprintf("Correct the DMARC record at %s: %s.", name, err)
	}
	if policy := strings.ToLower(tags["p"]); policy != "none" && policy != "quarantine" && policy != "reject" {
		return Mismatch, fmt.Sprintf("Set p= to none, quarantine or reject in the DMARC record at %s.", name)
	}
	return Verified, ""
}

const maxDMARC = 1000 // characters of a record to publish

// RefuseDMARC returns why a DMARC record cannot be published, as a predicate such as "must …", or an empty string.
func RefuseDMARC(record string) string {
	switch {
	case len(record) > maxDMARC:
		return fmt.Sprintf("must be at most %d characters long", maxDMARC)
	case strings.ContainsFunc(record, func(r rune) bool { return r < ' ' || r > '~' || r == '"' || r == '\\' }):
		return "must consist of ASCII characters without quotes and backslashes"
	case len(selectVersion([]string{record}, "v=DMARC1")) == 0:
		return "must begin with v=DMARC1;"
	}
	if status, _ := checkDMARCPolicy(record, ""); status != Verified {
		return "must contain valid tags, and p=none, p=quarantine or p=reject"
	}
	return ""
}

// selectVersion returns the values that begin with a version tag.
func selectVersion(found []string, tag string) (records []string) {
	for _, value := range found {
		if version, _, _ := strings.Cut(unquote(value), ";"); removeSpace(version) == tag {
			records = append(records, unquote(value))
		}
	}
	return records
}

// compareTLSReports returns advice only; verification does not depend on it. Senders ignore values that do not begin
// with v=TLSRPTv1, and all records if there are several (RFC 8460 section 3).
func compareTLSReports(e Set, found []string) Observation {
	o := Observation{Purpose: TLSReports, Found: found, Status: Mismatch}
	records := selectVersion(found, "v=TLSRPTv1")
	name := tlsReportsLabel + e.name
	switch {
	case len(found) == 0:
		o.Status = Missing
		o.Advice = fmt.Sprintf("Publish a TXT record at %s with the value %q; this is optional.", name, e.tlsReportsValue())
	case len(records) == 0:
		o.Advice = fmt.Sprintf("Make the TXT record at %s begin with \"v=TLSRPTv1;\"; this is optional.", name)
	case len(records) > 1:
		o.Advice = fmt.Sprintf("Keep only one TLS reporting record at %s: if there are several, senders ignore all of them.",
			name)
	case !hasReportTarget(records[0]):
		o.Advice = fmt.Sprintf("Add an address such as rua=mailto:%s to the TXT record at %s.", e.reportAddress, name)
	default:
		o.Status = Verified
	}
	return o
}

// hasReportTarget reports whether a TLS reporting record has an address in one of the two schemes of RFC 8460.
func hasReportTarget(record string) bool {
	tags, err := parseTags(record)
	return err == nil && slices.ContainsFunc(strings.Split(tags["rua"], ","), func(uri string) bool {
		uri = strings.ToLower(strings.TrimSpace(uri))
		return strings.HasPrefix(uri, "mailto:") || strings.HasPrefix(uri, "https:")
	})
}

func removeSpace(s string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(" \t\r\n", r) {
			return -1
		}
		return r
	}, s)
}

// clipText truncates text from a foreign zone, so that the sentence that contains it stays readable.
func clipText(s string) string {
	if len(s) > 60 {
		s = s[:60] + "…"
	}
	return sanitizeText(s)
}
