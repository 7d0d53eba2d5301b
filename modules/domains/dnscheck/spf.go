package dnscheck

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/postrider/postrider/runtime/mail/spf"
)

// unlistedIP is an address that no record lists: it is reserved for future use (RFC 1112 section 4).
var unlistedIP = net.IPv4(240, 0, 0, 1)

// compareSPF evaluates a domain's SPF record like a receiver of mail from our servers does. The client is any
// address that our include matches, whether the include is in the record itself or in its includes and
// redirects. The found values are those of the domain itself; the error is that of a nested lookup without an
// answer.
//
// The record is evaluated twice: with a valid include of ours, to find faults that the domain's owner can
// fix, and then with the actual record under our name.
func compareSPF(ctx context.Context, e Set, found []string, dns spf.Source) (Observation, error) {
	o := Observation{Purpose: SPF, Status: Mismatch}
	records := spf.Records(found)
	o.Found = records
	switch len(records) {
	case 0:
		o.Status = Missing
		o.Advice = fmt.Sprintf("Publish a TXT record at %s with the value \"v=spf1 include:%s ~all\".", e.name,
			e.spfInclude)
		if quoted := findQuotedSPF(found); len(quoted) > 0 {
			o.Status, o.Found = Mismatch, quoted
			o.Advice = fmt.Sprintf("Remove the quotation marks from the value of the TXT record at %s: with them, "+
				"receivers do not treat it as an SPF record.", e.name)
		}
		return o, nil
	case 1:
	default:
		// RFC 7208 section 4.5: more than one is a permanent error.
		o.Advice = fmt.Sprintf("Merge the %d SPF records at %s into one that contains include:%s: if there are "+
			"several, receivers reject all of them.", len(records), e.name, e.spfInclude)
		return o, nil
	}
	var err error
	if o.Advice, err = spfAdvice(ctx, e, found, "v=spf1 +all", dns); err != nil {
		return Observation{}, err
	}
	if o.Advice != "" {
		return o, nil
	}
	ours, err := lookOurSPF(ctx, e, e.spfInclude, dns)
	switch {
	case err != nil:
		return Observation{}, err
	case ours.fault != "":
		return blameOperator(o, ours.fault), nil
	case ours.record == "": // not looked at
		o.Status = Verified
		return o, nil
	}
	// Our own lookups count toward the limit of ten for the domain's record.
	if o.Advice, err = spfAdvice(ctx, e, found, matchEveryClient(ours.record), dns); err != nil {
		return Observation{}, err
	}
	if o.Advice == "" {
		o.Status = Verified
	}
	return o, nil
}

// spfAdvice evaluates the found record for a client that our include matches, with the given record under our
// name. It returns advice for the domain's owner, or "". It returns an error if a lookup got no answer.
func spfAdvice(ctx context.Context, e Set, found []string, ours string, dns spf.Source) (string, error) {
	asked := &spf.Evaluation{Source: dns, Known: map[string][]string{e.name: found, e.spfInclude: {ours}},
		Reverse: []string{"ours.invalid."}}
	result, err := asked.Check(ctx, spf.Client{IP: unlistedIP, Hello: e.returnPathHost, Sender: "bounce@" + e.name})
	switch reached := asked.Names[e.spfInclude]; {
	case result == spf.TempError:
		return "", err
	case result == spf.PermError:
		return fmt.Sprintf("Repair the SPF record at %s: %s.", e.name, describeSPFFault(e, asked, err)), nil
	case result == spf.Pass && reached:
		return "", nil
	case reached:
		return fmt.Sprintf("Repair the SPF record at %s: include:%s, or the include that leads to it, must not "+
			"have the qualifier -, ~ or ?.", e.name, e.spfInclude), nil
	default:
		return fmt.Sprintf("Add include:%s to the SPF record at %s, before its all term.", e.spfInclude, e.name), nil
	}
}

// findQuotedSPF returns the values that would be SPF records without the quotes added by a control panel.
func findQuotedSPF(values []string) []string {
	var quoted []string
	for _, value := range values {
		if len(spf.Records([]string{unquote(value)})) > 0 {
			quoted = append(quoted, value)
		}
	}
	return quoted
}

// describeSPFFault returns why receivers reject a record with a permanent error.
func describeSPFFault(e Set, asked *spf.Evaluation, err error) string {
	if errors.Is(err, spf.ErrTooManyLookups) {
		return fmt.Sprintf("it needs more than 10 lookups before include:%s is reached and evaluated; move that "+
			"include to the front or remove others", e.spfInclude)
	}
	return asked.ExplainError(e.name, err)
}
