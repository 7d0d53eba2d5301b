package dnscheck

import (
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"strings"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/runtime/mail/dnsx"
)

// tokenBytes is the length of a domain's token before encoding: 16 characters after it.
const tokenBytes = 10

var tokenEncoding = base32.StdEncoding.WithPadding(base32.NoPadding)

// OwnTarget returns the CNAME target of one domain: a label below a host of the installation. The operator publishes
// a wildcard record there, and can later send the mail and the links of one domain elsewhere. The label is derived
// from the id, so that it never changes and does not reveal the id.
func OwnTarget(domainID, host string) string {
	sum := sha256.Sum256([]byte("cname target " + domainID))
	return strings.ToLower(tokenEncoding.EncodeToString(sum[:tokenBytes])) + "." + host
}

// ChooseTarget returns the CNAME target to show for a domain: the one that the last check found, if any. own is the
// target of the domain alone, shared that of all domains; both are accepted.
func ChooseTarget(own, shared string, found []string, preferOwn bool) string {
	switch {
	case containsName(found, own):
		return own
	case containsName(found, shared) || !preferOwn:
		return shared
	}
	return own
}

// AdviseOperator returns the advice for a record that is correct, but has no effect because of a fault of the
// installation.
func AdviseOperator(fault string) string {
	return fmt.Sprintf("You do not need to change anything. This must be fixed by the operator of this mail "+
		"service: %s. Contact the operator; `postrider doctor` shows what to publish.", fault)
}

// ExplainMissingWildcard describes the fault of an own target that does not lead to the shared one.
func ExplainMissingWildcard(own, shared string) string {
	return fmt.Sprintf("there is no CNAME record at %s that points to %s", own, shared)
}

// returnPathTargets returns the domain's own target and the one to show. Domains of the installation itself share
// its return path host.
func returnPathTargets(d *ent.Domain, hosts Hosts) (own, shown string) {
	shared := dnsx.CanonicalName(hosts.ReturnPath)
	if d.ID == "" || d.AccountID == nil {
		return "", shared
	}
	own = OwnTarget(d.ID, shared)
	var found []string
	for _, state := range d.Records {
		if state.Purpose == string(ReturnPath) {
			found = state.Found
		}
	}
	return own, ChooseTarget(own, shared, found, hosts.OwnTargets)
}
