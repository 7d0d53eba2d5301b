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

// TLSPolicy is the requirement that determined the use of TLS with a mail host.
type TLSPolicy string

// The policies. If several apply, the later in this list decides.
const (
	PolicyNone          TLSPolicy = ""              // no mail host was contacted
	PolicyOpportunistic TLSPolicy = "opportunistic" // TLS if available
	PolicySTS           TLSPolicy = "mta-sts"       // the receiving domain's MTA-STS policy (RFC 8461)
	PolicyEnforced      TLSPolicy = "enforced"      // the sender's tls_mode, or the settings of the smarthost
	PolicyDANE          TLSPolicy = "dane"          // the mail host's TLSA records (RFC 7672)
)

// STSPolicies returns the MTA-STS policy of a domain, or nil. An error explains why a newer one could not be
// fetched. It does not prevent delivery.
type STSPolicies interface {
	Policy(ctx context.Context, domain string) (*mtasts.Policy, error)
}

var _ STSPolicies = (*mtasts.Finder)(nil)

// tlsDemand is the TLS requirement of sessions with a host.
type tlsDemand struct {
	policy       TLSPolicy
	mode         mox.TLSMode
	verify       bool        // verify the certificate, by public authorities and the host's name
	enforced     bool        // by the envelope: without TLS the message fails
	clearAllowed bool        // a failed handshake may be followed by plaintext
	config       *tls.Config // instead of mox's, which reports and verifies for MX hosts

	records []adns.TLSA     // one of them must match the certificate; without records no DANE
	names   []moxdns.Domain // allowed names in a certificate; the first is requested (SNI)
}

// demandKey distinguishes requirements: a session may be reused only under the same one.
func (d tlsDemand) demandKey() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s verify=%v", d.policy, d.mode, d.verify)
	for _, r := range d.records {
		fmt.Fprintf(&b, " %d-%d-%d-%x", r.Usage, r.Selector, r.MatchType, r.CertAssoc)
		if r.Usage == adns.TLSAUsageDANETA { // the other usage ignores names (RFC 7672, 3.1.1)
			fmt.Fprintf(&b, "%v", d.names)
		}
	}
	return b.String()
}

// demandOf returns the requirement for all hosts of a recipient's domain. A policy in testing mode requires
// nothing (RFC 8461, 5).
func demandOf(c mailRequest, sts *mtasts.Policy) tlsDemand {
	switch {
	case c.enforced:
		return tlsDemand{policy: PolicyEnforced, mode: mox.TLSRequiredStartTLS, verify: true, enforced: true}
	case sts != nil && sts.Enforce:
		return tlsDemand{policy: PolicySTS, mode: mox.TLSRequiredStartTLS, verify: true}
	}
	return tlsDemand{policy: PolicyOpportunistic, mode: mox.TLSOpportunistic, clearAllowed: true}
}

// stsPolicy returns the MTA-STS policy of the recipient's domain itself, not of the target if it is an alias (RFC
// 8461, 3.4).
func (t *Transport) stsPolicy(ctx context.Context, domain string) *mtasts.Policy {
	if t.cfg.STS == nil {
		return nil
	}
	policy, err := t.cfg.STS.Policy(ctx, domain)
	if err != nil && ctx.Err() == nil {
		t.reportTLS(TLSReport{Domain: domain, Policy: PolicySTS, Result: resultOf(err)})
	}
	return policy
}

// hostDemand returns the requirement for one host. It returns an outcome if the host must not be tried.
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
		t.reportTLS(TLSReport{Domain: rt.domain.ASCII, Host: host.name, Policy: PolicySTS, Testing: !rt.sts.Enforce,
			Result: "validation-failure"})
		if rt.sts.Enforce { // RFC 8461, 4.1 and 5
			out := newTemporary(PhaseDNS, fmt.Errorf("the MTA-STS policy of %s does not name the mail host %s",
				rt.domain.ASCII, host.name))
			out.TLSPolicy = PolicySTS
			return tlsDemand{}, &out
		}
	}
	return rt.tls, nil
}

// daneDemand looks up the TLSA records of a host. decided reports that they are binding (RFC 7672, 2.2),
// and override all other requirements.
func (t *Transport) daneDemand(ctx context.Context, rt route, host target,
	found addresses) (demand tlsDemand, decided bool, out *Outcome) {
	name := moxdns.Domain{ASCII: host.name}
	required, records, base, err := mox.GatherTLSA(ctx, silent, t.resolver, name, rt.expandedSecure &&
		found.expandedAuthentic, found.expanded)
	switch {
	case err != nil: // a failed lookup may be an attack: do not use this host now (RFC 7672, 2.1.2)
		failure := newTemporary(PhaseDNS, fmt.Errorf("TLSA records of %s: %w", host.name, err))
		failure.TLSPolicy = PolicyDANE
		if ctx.Err() == nil {
			t.reportTLS(TLSReport{Domain: rt.domain.ASCII, Host: host.name, Policy: PolicyDANE, Result: "tlsa-invalid"})
		}
		return tlsDemand{}, false, &failure
	case !required:
		return rt.tls, false, nil
	case len(records) == 0:
		// No usable record: TLS is required, with any certificate (RFC 7672, 2.2), unless another
		// requirement is stricter.
		demand = rt.tls
		if demand.clearAllowed {
			demand = tlsDemand{policy: PolicyDANE, mode: mox.TLSRequiredStartTLS}
		}
		return demand, false, nil
	}
	return tlsDemand{
		policy: PolicyDANE, mode: mox.TLSRequiredStartTLS, enforced: rt.tls.enforced, records: records,
		names: mox.GatherTLSANames(rt.haveMX, rt.expandedSecure, found.expandedAuthentic, rt.domain, rt.expanded,
			name, base),
	}, true, nil
}
