package dnscheck

import (
	"context"
	"crypto"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/runtime/mail/dkim"
	"github.com/postrider/postrider/runtime/mail/dnsx"
	"github.com/postrider/postrider/runtime/mail/spf"
)

// DNS is the resolver. It should not answer from a cache.
type DNS interface {
	spf.Source
	LookupCNAME(ctx context.Context, name string) (string, error)
}

// Checker looks up records. It is safe for concurrent use.
type Checker struct {
	DNS   DNS
	Logos LogoChecker // nil: the files of a BIMI record are not checked

	Policies PolicyFetcher   // nil: MTA-STS policies are not fetched
	MailHost MailHostChecker // nil: the certificate of the mail server is not checked

	Within time.Duration // maximum time for all lookups of one domain
}

// maxAliases is the maximum length of a chain of CNAMEs.
const maxAliases = 8

// CheckRecords looks up all records of the set concurrently and compares them. DNS failures are observations,
// not errors. signers are the keys by the id of their row; a key without a signer is compared but not probed.
func (c Checker) CheckRecords(ctx context.Context, e Set, signers map[string]crypto.Signer) []Observation {
	ctx, cancel := context.WithTimeout(ctx, c.Within)
	defer cancel()
	looks := []func() Observation{
		func() Observation { return c.lookTXT(ctx, Ownership, ownershipLabel+e.name, e, compareOwnership) },
	}
	for _, key := range e.keys {
		looks = append(looks, func() Observation { return c.lookDKIM(ctx, e, key, signers[key.ID]) })
	}
	looks = append(looks,
		func() Observation { return c.lookReturnPath(ctx, e) },
		func() Observation { return c.lookSPF(ctx, e) },
		func() Observation { return c.lookTXT(ctx, DMARC, dmarcLabel+e.name, e, compareDMARC) },
	)
	if e.inboundHost != "" {
		looks = append(looks, func() Observation { return c.lookMX(ctx, e) })
	}
	if e.wantsTLSReports() {
		looks = append(looks, func() Observation {
			return c.lookTXT(ctx, TLSReports, tlsReportsLabel+e.name, e, compareTLSReports)
		})
	}
	if e.hostsPolicy() {
		looks = append(looks, func() Observation { return c.lookPolicyHost(ctx, e) },
			func() Observation { return c.lookTXT(ctx, MTASTS, mtaSTSLabel+e.name, e, compareMTASTS) })
	}
	if e.bimi.logo != "" {
		looks = append(looks, func() Observation { return c.lookBIMI(ctx, e) })
	}
	seen := make([]Observation, len(looks))
	var all sync.WaitGroup
	for i, look := range looks {
		all.Go(func() { seen[i] = look() })
	}
	all.Wait()
	return seen
}

func (c Checker) lookTXT(ctx context.Context, purpose Purpose, name string, e Set,
	compare func(Set, []string) Observation) Observation {
	found, err := c.txt(ctx, name)
	if err != nil {
		return unansweredObservation(purpose, name)
	}
	return compare(e, found)
}

func (c Checker) lookDKIM(ctx context.Context, e Set, key *ent.DKIMKey, signer crypto.Signer) Observation {
	name := e.dkimName(key)
	found, err := c.txt(ctx, name)
	if err != nil {
		o := unansweredObservation(DKIM, name)
		o.Selector = key.Selector
		return o
	}
	o := compareDKIM(e, key, found)
	if o.Status != Verified || signer == nil {
		return o
	}
	if err := probe(e, key, signer, found[0]); err != nil {
		o.Status = Mismatch
		o.Advice = fmt.Sprintf("Publish the value shown at %s again: a sample signature could not be verified with "+
			"the current record (%s).", name, clipText(err.Error()))
	}
	return o
}

// probe signs a sample message like a delivery does, and verifies it with the published record like a
// receiver does. This proves that the private key, the public key and the format of the record match.
func probe(e Set, key *ent.DKIMKey, signer crypto.Signer, published string) error {
	sample := []byte("From: probe@" + e.name + "\r\nTo: probe@" + e.name + "\r\nSubject: DKIM probe\r\n" +
		"Date: Thu, 01 Jan 2026 00:00:00 +0000\r\nMessage-ID: <probe@" + e.name +
		">\r\n\r\nSigned by the key, verified by the record.\r\n")
	signed, err := dkim.Sign(sample, dkim.Signer{Domain: e.name, Selector: key.Selector, Key: signer})
	if err != nil {
		return err
	}
	signatures, err := dkim.Verify(signed, func(string) ([]string, error) { return []string{published}, nil })
	switch {
	case err != nil:
		return err
	case len(signatures) != 1:
		return errors.New("the sample message has no signature")
	}
	return signatures[0].Err
}

// aliases follows the aliases of a name to a target one by one: some DNS servers return the whole chain, others only
// the first alias.
func (c Checker) aliases(ctx context.Context, name, target string) (chain []string, err error) {
	for at := name; len(chain) < maxAliases; at = dnsx.CanonicalName(chain[len(chain)-1]) {
		next, err := c.DNS.LookupCNAME(ctx, at)
		if errors.Is(err, dnsx.ErrNotFound) {
			break
		}
		if err != nil {
			return nil, err
		}
		if chain = append(chain, next); dnsx.CanonicalName(next) == target {
			break
		}
	}
	return chain, nil
}

func (c Checker) lookReturnPath(ctx context.Context, e Set) Observation {
	name := returnPathLabel + e.name
	chain, err := c.aliases(ctx, name, e.returnPathHost)
	if err != nil {
		return unansweredObservation(ReturnPath, name)
	}
	o := compareReturnPath(e, chain)
	if o.Status != Verified {
		return o
	}
	// Receivers look up the SPF record of the envelope sender at the end of the alias chain.
	ours, err := lookOurSPF(ctx, e, e.returnPathHost, c.DNS)
	switch {
	case err != nil:
		return unansweredObservation(ReturnPath, e.returnPathHost)
	case ours.fault != "":
		return blameOperator(o, ours.fault)
	}
	return o
}

func (c Checker) lookSPF(ctx context.Context, e Set) Observation {
	found, err := c.txt(ctx, e.name)
	if err != nil {
		return unansweredObservation(SPF, e.name)
	}
	o, err := compareSPF(ctx, e, found, c.DNS)
	if err != nil {
		return unansweredObservation(SPF, e.name)
	}
	return o
}

func (c Checker) lookMX(ctx context.Context, e Set) Observation {
	found, err := c.DNS.LookupMX(ctx, e.name)
	if err != nil && !errors.Is(err, dnsx.ErrNotFound) {
		return unansweredObservation(InboundMX, e.name)
	}
	return c.checkEnforced(ctx, e, compareMX(e, found))
}

// txt returns TXT values. It returns none for a name or type that does not exist.
func (c Checker) txt(ctx context.Context, name string) ([]string, error) {
	values, err := c.DNS.LookupTXT(ctx, name)
	if errors.Is(err, dnsx.ErrNotFound) {
		return nil, nil
	}
	return values, err
}

func unansweredObservation(purpose Purpose, name string) Observation {
	return Observation{Purpose: purpose, Unanswered: true,
		Advice: fmt.Sprintf("Wait for the next check or verify again: the DNS servers of %s did not answer.", name)}
}
