package dnscheck

import (
	"context"
	"fmt"
	"strings"

	"github.com/postrider/postrider/runtime/mail/spf"
	"github.com/postrider/postrider/runtime/ops/config"
)

// ourSPF is what DNS has under a name of this installation.
type ourSPF struct {
	record string // empty: the name is not looked at
	fault  string // why receivers cannot use it; empty when they can
}

// lookOurSPF evaluates the SPF record of one of our own names, for a client that it does
// not list. Receivers answer none or permerror where it is missing or broken, whatever the
// domains that refer to it publish. The error is that of a look-up that got no answer.
//
// The names of development mode exist nowhere, so they are not looked up.
func lookOurSPF(ctx context.Context, e Set, name string, dns spf.Source) (ourSPF, error) {
	if config.IsDevelopmentName(name) {
		return ourSPF{}, nil
	}
	asked := &spf.Evaluation{Source: dns, Reverse: []string{"ours.invalid."}}
	result, err := asked.Check(ctx, spf.Client{IP: unlisted, Hello: e.returnPathHost, Sender: "bounce@" + name})
	switch result {
	case spf.TempError:
		return ourSPF{}, err
	case spf.None:
		return ourSPF{fault: "there is no SPF record at " + name}, nil
	case spf.PermError:
		return ourSPF{fault: fmt.Sprintf("the SPF record at %s cannot be used: %s", name, asked.Why(name, err))}, nil
	}
	return ourSPF{record: asked.Record}, nil
}

// operatorsFault is an observation of a record that is as it should be, and of no use,
// because a record of the installation itself is missing or broken. The domain neither rises
// nor falls by it: its owner can do nothing.
func operatorsFault(o Observation, fault string) Observation {
	o.Status, o.Operators = Mismatch, true
	o.Advice = fmt.Sprintf("Nothing is to be changed here, the fault is with the operator of this mail service: %s. Tell the operator; `postrider doctor` shows what to publish.", fault)
	return o
}

// matching makes of a record of ours one that matches every client after all its look-ups.
// Behind an all term nothing is evaluated, and beside one a redirect is not (RFC 7208
// section 6.1).
func matching(record string) string {
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
