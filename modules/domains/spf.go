package domains

import (
	"context"
	"fmt"
	"strings"
)

// maxSPFLookups is how many terms that ask DNS a receiver follows before it
// gives up on the whole record, RFC 7208 section 4.6.4.
const maxSPFLookups = 10

// txtLookup asks for TXT values. A name without any is an empty answer; an error
// means that there was no answer.
type txtLookup func(ctx context.Context, name string) ([]string, error)

// compareSPF looks for our include in what a receiver would evaluate: in order,
// into other includes and redirects, up to the limit of look-ups. The found
// values are those of the domain itself; the error is that of a look-up further
// down that got no answer.
func compareSPF(ctx context.Context, e expectation, found []string, lookup txtLookup) (observation, error) {
	o := observation{purpose: SPF, status: Mismatch}
	records := spfRecords(found)
	o.found = records
	switch len(records) {
	case 0:
		o.status = Missing
		o.advice = fmt.Sprintf("Publish a TXT record at %s with the value \"v=spf1 include:%s ~all\".", e.name, e.spfInclude)
		return o, nil
	case 1:
	default:
		// RFC 7208 section 4.5: more than one is a permanent error.
		o.advice = fmt.Sprintf("Merge the %d SPF records at %s into one that contains include:%s: receivers refuse all of several.", len(records), e.name, e.spfInclude)
		return o, nil
	}
	w := spfWalk{target: e.spfInclude, lookup: lookup}
	outcome, err := w.record(ctx, records[0])
	if err != nil {
		return observation{}, err
	}
	switch outcome {
	case spfFound:
		o.status = Verified
	case spfNotHere:
		o.advice = fmt.Sprintf("Add include:%s to the SPF record at %s, before its all term.", e.spfInclude, e.name)
	case spfInvalid:
		o.advice = fmt.Sprintf("Repair the SPF record at %s: %s.", e.name, w.reason)
	}
	return o, nil
}

// spfRecords keeps the values that are SPF records: the version is compared
// without case and ends with a space or the record (RFC 7208 sections 4.5, 12).
func spfRecords(values []string) []string {
	records := []string{}
	for _, value := range values {
		value = unquote(value)
		version, _, _ := strings.Cut(value, " ")
		if strings.EqualFold(version, "v=spf1") {
			records = append(records, value)
		}
	}
	return records
}

type spfOutcome int

const (
	spfNotHere spfOutcome = iota // evaluated to its end, and our include is not in it
	spfFound
	spfInvalid // a receiver stops with a permanent error before it comes to our include
)

// spfWalk goes through a record as a receiver does whose client is ours.
type spfWalk struct {
	target  string
	lookup  txtLookup
	lookups int
	reason  string // of spfInvalid
}

func (w *spfWalk) record(ctx context.Context, record string) (spfOutcome, error) {
	redirect, hasAll := "", false
	for _, term := range strings.Fields(record)[1:] {
		if target, found := modifier(term, "redirect"); found {
			redirect = target
			continue
		}
		if hasAll {
			continue // never evaluated: all matches everybody
		}
		outcome, err := w.mechanism(ctx, term, &hasAll)
		if outcome != spfNotHere || err != nil {
			return outcome, err
		}
	}
	if redirect == "" || hasAll { // RFC 7208 section 6.1
		return spfNotHere, nil
	}
	if !w.count() {
		return spfInvalid, nil
	}
	if canonical(redirect) == w.target {
		return spfFound, nil
	}
	return w.descend(ctx, "redirect=", redirect)
}

// mechanism looks at one term, RFC 7208 section 5.
func (w *spfWalk) mechanism(ctx context.Context, term string, hasAll *bool) (spfOutcome, error) {
	passes := !strings.ContainsAny(term[:1], "-~?")
	term = strings.TrimLeft(term, "+-~?")
	name, target, _ := strings.Cut(term, ":")
	name, _, _ = strings.Cut(name, "/")
	switch strings.ToLower(name) {
	case "all":
		*hasAll = true
	case "a", "mx", "ptr", "exists":
		if !w.count() {
			return spfInvalid, nil
		}
	case "include":
		if !w.count() {
			return spfInvalid, nil
		}
		if canonical(target) == w.target {
			if passes {
				return spfFound, nil
			}
			w.reason = fmt.Sprintf("include:%s must not have a -, ~ or ? in front", clipText(target))
			return spfInvalid, nil
		}
		outcome, err := w.descend(ctx, "include:", target)
		if outcome == spfFound && !passes {
			// Our servers match here, with a result that is no pass.
			w.reason = fmt.Sprintf("include:%s must not have a -, ~ or ? in front", clipText(target))
			return spfInvalid, err
		}
		return outcome, err
	}
	return spfNotHere, nil
}

// descend follows an include or a redirect. A target without exactly one record
// breaks the whole (RFC 7208 sections 5.2, 6.1); macros name a host that only a
// real delivery knows, so they are counted and passed by.
func (w *spfWalk) descend(ctx context.Context, kind, target string) (spfOutcome, error) {
	if target == "" || strings.Contains(target, "%") {
		return spfNotHere, nil
	}
	values, err := w.lookup(ctx, canonical(target))
	if err != nil {
		return spfNotHere, fmt.Errorf("%s%s: %w", kind, target, err)
	}
	records := spfRecords(values)
	if len(records) != 1 {
		w.reason = fmt.Sprintf("%s%s leads to %d SPF records and must lead to one", kind, clipText(target), len(records))
		return spfInvalid, nil
	}
	return w.record(ctx, records[0])
}

// count spends one look-up, false when there is none left.
func (w *spfWalk) count() bool {
	w.lookups++
	if w.lookups <= maxSPFLookups {
		return true
	}
	w.reason = fmt.Sprintf("it needs more than %d look-ups before include:%s is reached; move that include to the front or remove others", maxSPFLookups, w.target)
	return false
}

// modifier gives the value of a name=value term, RFC 7208 section 4.6.1.
func modifier(term, name string) (string, bool) {
	key, value, found := strings.Cut(term, "=")
	return value, found && strings.EqualFold(key, name)
}
