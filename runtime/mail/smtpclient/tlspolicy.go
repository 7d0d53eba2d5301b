package smtpclient

import (
	"context"
	"crypto/tls"
	"fmt"
	"strings"

	"github.com/mjl-/adns"
	moxdns "github.com/mjl-/mox/dns"
	mox "github.com/mjl-/mox/smtpclient"

	"github.com/postrider/postrider/runtime/mail/mtasts"
)

// TLSPolicy says whose demand decided about TLS with a mail host.
type TLSPolicy string

// The policies. Where several apply, the later in this list decides.
const (
	PolicyNone          TLSPolicy = ""              // no mail host was come to
	PolicyOpportunistic TLSPolicy = "opportunistic" // TLS if it can be had
	PolicySTS           TLSPolicy = "mta-sts"       // the receiving domain's MTA-STS policy (RFC 8461)
	PolicyEnforced      TLSPolicy = "enforced"      // the sender's tls_mode, or the smarthost's settings
	PolicyDANE          TLSPolicy = "dane"          // the mail host's TLSA records (RFC 7672)
)

// STSPolicies finds the MTA-STS policy of a domain, nil for none. An error says why
// a newer one could not be had, and forbids nothing.
type STSPolicies interface {
	Policy(ctx context.Context, domain string) (*mtasts.Policy, error)
}

var _ STSPolicies = (*mtasts.Finder)(nil)

// tlsDemand is how sessions with a host do TLS.
type tlsDemand struct {
	policy       TLSPolicy
	mode         mox.TLSMode
	verify       bool        // the certificate, by the public authorities and the host's name
	enforced     bool        // by the envelope: without TLS the message fails
	clearAllowed bool        // a failed handshake may be followed by none
	config       *tls.Config // instead of mox's, which reports and verifies for MX hosts

	records []adns.TLSA     // one of them must match the certificate; none: no DANE
	names   []moxdns.Domain // that a certificate may have; the first is asked for (SNI)
}

// key tells demands apart: a session may serve another message only under the same.
func (d tlsDemand) key() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s verify=%v", d.policy, d.mode, d.verify)
	for _, r := range d.records {
		fmt.Fprintf(&b, " %d-%d-%d-%x", r.Usage, r.Selector, r.MatchType, r.CertAssoc)
		if r.Usage == adns.TLSAUsageDANETA { // the other usage does not ask for names (RFC 7672, 3.1.1)
			fmt.Fprintf(&b, "%v", d.names)
		}
	}
	return b.String()
}

// demandOf is what is demanded of all hosts of a recipient's domain alike. A policy
// in testing mode demands nothing (RFC 8461, 5).
func demandOf(c consignment, sts *mtasts.Policy) tlsDemand {
	switch {
	case c.enforced:
		return tlsDemand{policy: PolicyEnforced, mode: mox.TLSRequiredStartTLS, verify: true, enforced: true}
	case sts != nil && sts.Enforce:
		return tlsDemand{policy: PolicySTS, mode: mox.TLSRequiredStartTLS, verify: true}
	}
	return tlsDemand{policy: PolicyOpportunistic, mode: mox.TLSOpportunistic, clearAllowed: true}
}

// sts finds the MTA-STS policy of the recipient's domain: of that and not of a name
// that it is an alias for (RFC 8461, 3.4).
func (t *Transport) sts(ctx context.Context, domain string) *mtasts.Policy {
	if t.cfg.STS == nil {
		return nil
	}
	policy, err := t.cfg.STS.Policy(ctx, domain)
	if err != nil && ctx.Err() == nil {
		t.report(TLSReport{Domain: domain, Policy: PolicySTS, Result: resultOf(err)})
	}
	return policy
}

// hostDemand is what is demanded of one host. The outcome is a host that must not
// be tried.
func (t *Transport) hostDemand(ctx context.Context, rt route, host target, found addresses) (tlsDemand, *Outcome) {
	if rt.smarthost != nil {
		return rt.tls, nil
	}
	if rt.secure && found.authentic {
		demand, decided, out := t.daneDemand(ctx, rt, host, found)
		if decided || out != nil {
			return demand, out
		}
		rt.tls = demand
	}
	if rt.sts != nil && !rt.sts.Allows(host.name) {
		t.report(TLSReport{Domain: rt.domain.ASCII, Host: host.name, Policy: PolicySTS, Testing: !rt.sts.Enforce, Result: "validation-failure"})
		if rt.sts.Enforce { // RFC 8461, 4.1 and 5
			out := temporary(PhaseDNS, fmt.Errorf("the MTA-STS policy of %s does not name the mail host %s", rt.domain.ASCII, host.name))
			out.TLSPolicy = PolicySTS
			return tlsDemand{}, &out
		}
	}
	return rt.tls, nil
}

// daneDemand asks for the TLSA records of a host. decided: they bind (RFC 7672, 2.2),
// and nothing that the domain says elsewhere matters.
func (t *Transport) daneDemand(ctx context.Context, rt route, host target, found addresses) (demand tlsDemand, decided bool, out *Outcome) {
	name := moxdns.Domain{ASCII: host.name}
	required, records, base, err := mox.GatherTLSA(ctx, silent, t.resolver, name, rt.expandedSecure && found.expandedAuthentic, found.expanded)
	switch {
	case err != nil: // a failed lookup may be an attack: not this host, now (RFC 7672, 2.1.2)
		failure := temporary(PhaseDNS, fmt.Errorf("TLSA records of %s: %w", host.name, err))
		failure.TLSPolicy = PolicyDANE
		if ctx.Err() == nil {
			t.report(TLSReport{Domain: rt.domain.ASCII, Host: host.name, Policy: PolicyDANE, Result: "tlsa-invalid"})
		}
		return tlsDemand{}, false, &failure
	case !required:
		return rt.tls, false, nil
	case len(records) == 0:
		// None that can be used: TLS is needed, whoever it may be with (RFC 7672, 2.2);
		// who demands more, gets it.
		demand = rt.tls
		if demand.clearAllowed {
			demand = tlsDemand{policy: PolicyDANE, mode: mox.TLSRequiredStartTLS}
		}
		return demand, false, nil
	}
	return tlsDemand{
		policy: PolicyDANE, mode: mox.TLSRequiredStartTLS, enforced: rt.tls.enforced, records: records,
		names: mox.GatherTLSANames(rt.haveMX, rt.expandedSecure, found.expandedAuthentic, rt.domain, rt.expanded, name, base),
	}, true, nil
}
