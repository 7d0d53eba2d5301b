package domains

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/postrider/postrider/runtime/mail/spf"
)

// unlisted is an address that no record names: of the class that is reserved for
// a future which did not come (RFC 1112 section 4).
var unlisted = net.IPv4(240, 0, 0, 1)

// compareSPF evaluates a domain's SPF record as a receiver does who gets mail from
// our servers: they are whoever our include matches, wherever in the record, its
// includes and redirects it stands. The found values are those of the domain
// itself; the error is that of a look-up further down that got no answer.
func compareSPF(ctx context.Context, e expectation, found []string, dns spf.Source) (observation, error) {
	o := observation{purpose: SPF, status: Mismatch}
	records := spf.Records(found)
	o.found = records
	switch len(records) {
	case 0:
		o.status = Missing
		o.advice = fmt.Sprintf("Publish a TXT record at %s with the value \"v=spf1 include:%s ~all\".", e.name, e.spfInclude)
		if quoted := spfQuoted(found); len(quoted) > 0 {
			o.status, o.found = Mismatch, quoted
			o.advice = fmt.Sprintf("Remove the quotation marks from the value of the TXT record at %s: with them it is no SPF record to receivers.", e.name)
		}
		return o, nil
	case 1:
	default:
		// RFC 7208 section 4.5: more than one is a permanent error.
		o.advice = fmt.Sprintf("Merge the %d SPF records at %s into one that contains include:%s: receivers refuse all of several.", len(records), e.name, e.spfInclude)
		return o, nil
	}
	// What our own name holds is our affair. That it matches is what makes the
	// client ours, so that the result tells about everything around it.
	asked := &spf.Evaluation{Source: dns, Known: map[string][]string{e.name: found, e.spfInclude: {"v=spf1 +all"}}, Reverse: []string{"ours.invalid."}}
	result, err := asked.Check(ctx, spf.Client{IP: unlisted, Hello: e.returnPathHost, Sender: "bounce@" + e.name})
	switch reached := asked.Names[e.spfInclude]; {
	case result == spf.TempError:
		return observation{}, err
	case result == spf.PermError:
		o.advice = fmt.Sprintf("Repair the SPF record at %s: %s.", e.name, spfFault(e, asked, err))
	case result == spf.Pass && reached:
		o.status = Verified
	case reached:
		o.advice = fmt.Sprintf("Repair the SPF record at %s: include:%s, or the include that leads to it, must not have a -, ~ or ? in front.", e.name, e.spfInclude)
	default:
		o.advice = fmt.Sprintf("Add include:%s to the SPF record at %s, before its all term.", e.spfInclude, e.name)
	}
	return o, nil
}

// spfQuoted finds what would be records without what a control panel put around.
func spfQuoted(values []string) []string {
	var quoted []string
	for _, value := range values {
		if len(spf.Records([]string{unquote(value)})) > 0 {
			quoted = append(quoted, value)
		}
	}
	return quoted
}

// spfFault says why receivers stop at a record with a permanent error.
func spfFault(e expectation, asked *spf.Evaluation, err error) string {
	var broken *spf.SyntaxError
	switch {
	case errors.As(err, &broken):
		where := ""
		if broken.Name != e.name {
			where = " of " + clipText(broken.Name)
		}
		return fmt.Sprintf("the term %q%s is not valid, and receivers refuse the whole record for it", clipText(broken.Term), where)
	case errors.Is(err, spf.ErrTooManyLookups):
		return fmt.Sprintf("it needs more than 10 look-ups before include:%s is reached; move that include to the front or remove others", e.spfInclude)
	case errors.Is(err, spf.ErrTooManyVoid):
		return fmt.Sprintf("more than 2 of its terms lead to names that hold nothing, the last one to %s; remove them", clipText(asked.Void))
	case errors.Is(err, spf.ErrNoRecord), errors.Is(err, spf.ErrMultipleRecords):
		return fmt.Sprintf("an include or redirect leads to %d SPF records and must lead to one, at %s", asked.Records, clipText(asked.Last))
	case errors.Is(err, spf.ErrTooManyMX):
		return "an mx term leads to more than 10 mail hosts"
	}
	return "receivers cannot evaluate it (" + clipText(err.Error()) + ")"
}
