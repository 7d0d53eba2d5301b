package dnscheck

import (
	"context"
	"fmt"
	"strings"

	"github.com/postrider/postrider/runtime/mail/spf"
	"github.com/postrider/postrider/runtime/ops/config"
)

// ourSPF is the SPF record under a name of this installation.
type ourSPF struct {
	record string // empty if the name is not looked up
	fault  string // why receivers cannot use it; empty if they can
}

// lookOurSPF evaluates the SPF record of one of our own names, for a client that the record does not list. If
// the record is missing or broken, receivers get none or permerror for every domain that refers to it. It
// returns an error if a lookup got no answer.
//
// The names of development mode do not exist in DNS, so it does not look them up.
func lookOurSPF(ctx context.Context, e Set, name string, dns spf.Source) (ourSPF, error) {
	if config.IsDevelopmentName(name) {
		return ourSPF{}, nil
	}
	asked := &spf.Evaluation{Source: dns, Reverse: []string{"ours.invalid."}}
	result, err := asked.Check(ctx, spf.Client{IP: unlistedIP, Hello: e.returnPathHost, Sender: "bounce@" + name})
	switch result {
	case spf.TempError:
		return ourSPF{}, err
	case spf.None:
		return ourSPF{fault: "there is no SPF record at " + name}, nil
	case spf.PermError:
		return ourSPF{fault: fmt.Sprintf("the SPF record at %s cannot be used: %s", name,
			asked.ExplainError(name, err))}, nil
	}
	return ourSPF{record: asked.Record}, nil
}

// blameOperator is the observation of a correct record that has no effect, because a record of the
// installation itself is missing or broken. It does not change the status of the domain, because its owner
// cannot fix it.
func blameOperator(o Observation, fault string) Observation {
	o.Status, o.Operators = Mismatch, true
	o.Advice = AdviseOperator(fault)
	return o
}

// matchEveryClient rewrites a record of ours so that it matches every client after all its lookups. Nothing is
// evaluated after an all term, and a redirect is ignored if the record has one (RFC 7208 section 6.1).
func matchEveryClient(record string) string {
	var terms []string
	for term := range strings.FieldsSeq(record) {
		lower := strings.ToLower(term)
		if strings.TrimLeft(lower, "+-~?") == "all" {
			break
		}
		if !strings.HasPrefix(lower, "redirect=") {
			terms = append(terms, term)
		}
	}
	return strings.Join(append(terms, "+all"), " ")
}
