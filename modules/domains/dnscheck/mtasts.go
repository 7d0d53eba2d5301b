package dnscheck

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/postrider/postrider/ent/domain"
	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/runtime/mail/dnsx"
)

// PolicyFetcher fetches the MTA-STS policy of a domain as other mail servers do.
type PolicyFetcher func(ctx context.Context, domain string) (string, error)

// MailHostChecker returns an error unless a mail server offers TLS with a valid certificate for its name.
type MailHostChecker func(ctx context.Context, host string) error

const (
	mtaSTSLabel     = "_mta-sts."
	policyHostLabel = "mta-sts."
)

// How long senders keep a policy. A policy that enforces must outlive attempts to remove it, and the other two change
// soon.
const (
	enforcedFor = 7 * 24 * time.Hour
	otherFor    = 24 * time.Hour
)

// PolicyDomain returns the domain whose MTA-STS policy a host serves.
func PolicyDomain(host string) (string, bool) { return strings.CutPrefix(host, policyHostLabel) }

// PolicyHost returns the host that serves the MTA-STS policy of a domain.
func PolicyHost(name string) string { return policyHostLabel + name }

// HasPolicyHost reports whether the last check found that the policy host is an alias of a target. The certificate for
// the host depends on it, and the policy can be fetched only with the certificate.
func HasPolicyHost(states []shape.RecordState, target string) bool {
	return slices.ContainsFunc(states, func(r shape.RecordState) bool {
		return r.Purpose == string(MTASTSHost) && containsName(r.Found, dnsx.CanonicalName(target))
	})
}

// MTASTSPolicy returns the policy of a domain whose MX record points to a host (RFC 8461 section 3.2).
func MTASTSPolicy(mode domain.MtaSts, mx string) string {
	age := otherFor
	if mode == domain.MtaStsEnforce {
		age = enforcedFor
	}
	return fmt.Sprintf("version: STSv1\r\nmode: %s\r\nmx: %s\r\nmax_age: %.0f\r\n", mode, mx, age.Seconds())
}

// hostsPolicy reports whether the domain has an MTA-STS policy here.
func (e Set) hostsPolicy() bool {
	return e.inboundHost != "" && e.policyTarget != "" && e.mtaSTS != "" && e.mtaSTS != domain.MtaStsOff
}

// enforcesTLS reports whether senders deliver only to the host in the policy, and only if its certificate is valid.
func (e Set) enforcesTLS() bool { return e.hostsPolicy() && e.mtaSTS == domain.MtaStsEnforce }

func (e Set) mtaSTSPolicy() string { return MTASTSPolicy(e.mtaSTS, e.inboundHost) }

// mtaSTSValue returns the proposed record of RFC 8461 section 3.1. Its id is derived from the policy, so that it
// changes whenever the policy does.
func (e Set) mtaSTSValue() string {
	sum := sha256.Sum256([]byte(e.mtaSTSPolicy()))
	return "v=STSv1; id=" + hex.EncodeToString(sum[:10]) + ";"
}

// compareMTASTS returns advice only; verification does not depend on it. Senders ignore all records if there are
// several (RFC 8461 section 3.1).
func compareMTASTS(e Set, found []string) Observation {
	o := Observation{Purpose: MTASTS, Found: found, Status: Mismatch}
	records := selectVersion(found, "v=STSv1")
	name := mtaSTSLabel + e.name
	switch {
	case len(found) == 0:
		o.Status = Missing
		o.Advice = fmt.Sprintf("Publish a TXT record at %s with the value %q, after the record %s.", name, e.mtaSTSValue(),
			policyHostLabel+e.name)
	case len(records) == 0:
		o.Advice = fmt.Sprintf("Make the TXT record at %s begin with \"v=STSv1;\".", name)
	case len(records) > 1:
		o.Advice = fmt.Sprintf("Keep only one MTA-STS record at %s: if there are several, senders ignore all of them.", name)
	default:
		tags, err := parseTags(records[0])
		want, _ := parseTags(e.mtaSTSValue())
		switch {
		case err != nil:
			o.Advice = fmt.Sprintf("Correct the MTA-STS record at %s: %s.", name, err)
		case tags["id"] != want["id"]:
			o.Advice = fmt.Sprintf("Replace the MTA-STS record at %s with the value %q: senders fetch a changed policy only if "+
				"the id changes.", name, e.mtaSTSValue())
		default:
			o.Status = Verified
		}
	}
	return o
}

// comparePolicyHost checks the chain of aliases of the policy host.
func comparePolicyHost(e Set, chain []string) Observation {
	o := Observation{Purpose: MTASTSHost, Found: chain}
	name := policyHostLabel + e.name
	switch {
	case containsName(chain, e.policyTarget):
		o.Status = Verified
	case len(chain) == 0:
		o.Status = Missing
		o.Advice = fmt.Sprintf("Publish a CNAME record at %s that points to %s.", name, e.policyTarget)
	default:
		o.Status = Mismatch
		o.Advice = fmt.Sprintf("Point the CNAME record at %s to %s; it points to %s now.", name, e.policyTarget,
			dnsx.CanonicalName(chain[len(chain)-1]))
	}
	return o
}

// lookPolicyHost follows the aliases of the policy host, and fetches the policy from it as other mail servers do.
func (c Checker) lookPolicyHost(ctx context.Context, e Set) Observation {
	name := policyHostLabel + e.name
	chain, err := c.aliases(ctx, name, e.policyTarget)
	if err != nil {
		return unansweredObservation(MTASTSHost, name)
	}
	o := comparePolicyHost(e, chain)
	if o.Status != Verified || c.Policies == nil {
		return o
	}
	text, err := c.Policies(ctx, e.name)
	switch {
	case err != nil:
		o.Status = Mismatch
		o.Advice = fmt.Sprintf("Wait a few minutes for the certificate of %s, then verify again: the policy cannot be fetched "+
			"(%s). If a proxy terminates TLS, it needs a certificate for this name and must pass on the Host header.", name,
			describeFetch(err))
	case text != e.mtaSTSPolicy():
		o.Status = Mismatch
		o.Advice = fmt.Sprintf("Remove what else serves https://%s/.well-known/mta-sts.txt: it returns another policy.", name)
	}
	return o
}

// checkEnforced checks the certificate of the mail server of a domain whose policy requires a valid one. Other failures
// of the connection, such as a router that does not support connections from its own network, prove nothing.
func (c Checker) checkEnforced(ctx context.Context, e Set, o Observation) Observation {
	if o.Status != Verified || !e.enforcesTLS() || c.MailHost == nil {
		return o
	}
	var invalid *tls.CertificateVerificationError
	if errors.As(c.MailHost(ctx, e.inboundHost), &invalid) {
		return blameOperator(o, fmt.Sprintf("the certificate of %s at port 25 is invalid, so that senders do not deliver mail under "+
			"the MTA-STS policy", e.inboundHost))
	}
	return o
}

// describeFetch returns the cause of a failed request without its URL.
func describeFetch(err error) string {
	var request *url.Error
	if errors.As(err, &request) {
		err = request.Err
	}
	text := err.Error()
	return sanitizeText(text[:min(len(text), 150)])
}

// RefuseEnforce returns why the policy of the domain cannot enforce TLS, as a predicate such as "requires …", or an
// empty string. Mail would be lost if a mail server of the domain is not in the policy.
func (c Checker) RefuseEnforce(ctx context.Context, e Set) string {
	if e.inboundHost == "" {
		return "requires a verified domain with inbound_enabled"
	}
	ctx, cancel := context.WithTimeout(ctx, c.Within)
	defer cancel()
	found, err := c.DNS.LookupMX(ctx, e.name)
	if len(found) == 0 {
		if err != nil && !errors.Is(err, dnsx.ErrNotFound) {
			return "cannot be set now, because DNS does not answer; try again"
		}
		return "requires an MX record that points to " + e.inboundHost
	}
	for _, mx := range found {
		if host := dnsx.CanonicalName(mx.Host); host != e.inboundHost {
			return fmt.Sprintf("requires that all MX records point to %s; one points to %s", e.inboundHost, clipText(host))
		}
	}
	if c.MailHost == nil {
		return ""
	}
	if err := c.MailHost(ctx, e.inboundHost); err != nil {
		return fmt.Sprintf("requires that %s has a valid certificate at port 25: %s", e.inboundHost, clipText(err.Error()))
	}
	return ""
}
