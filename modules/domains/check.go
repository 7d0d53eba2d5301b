package domains

import (
	"context"
	"crypto"
	"errors"
	"fmt"
	"sync"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/runtime/mail/dkim"
	"github.com/postrider/postrider/runtime/mail/dnsx"
)

// maxAliases is how far a chain of CNAMEs is followed.
const maxAliases = 8

// check asks DNS for every record at once and compares. It never fails for what
// DNS does; the error is a key of ours that cannot be opened.
func (s *Service) check(ctx context.Context, d *ent.Domain) ([]observation, error) {
	signers, err := s.openAll(ctx, d)
	if err != nil {
		return nil, err
	}
	return s.look(ctx, s.expect(d), signers), nil
}

// look is check without opening keys: a key without signer is compared, not probed.
func (s *Service) look(ctx context.Context, e expectation, signers map[string]crypto.Signer) []observation {
	ctx, cancel := context.WithTimeout(ctx, s.config.CheckTimeout)
	defer cancel()
	looks := []func() observation{
		func() observation { return s.lookTXT(ctx, Ownership, ownershipLabel+e.name, e, compareOwnership) },
	}
	for _, key := range e.keys {
		looks = append(looks, func() observation { return s.lookDKIM(ctx, e, key, signers[key.ID]) })
	}
	looks = append(looks,
		func() observation { return s.lookReturnPath(ctx, e) },
		func() observation { return s.lookSPF(ctx, e) },
		func() observation { return s.lookTXT(ctx, DMARC, dmarcLabel+e.name, e, compareDMARC) },
	)
	if e.inboundHost != "" {
		looks = append(looks, func() observation { return s.lookMX(ctx, e) })
	}
	seen := make([]observation, len(looks))
	var all sync.WaitGroup
	for i, look := range looks {
		all.Go(func() { seen[i] = look() })
	}
	all.Wait()
	return seen
}

func (s *Service) lookTXT(ctx context.Context, purpose Purpose, name string, e expectation, compare func(expectation, []string) observation) observation {
	found, err := s.txt(ctx, name)
	if err != nil {
		return noAnswer(purpose, name)
	}
	return compare(e, found)
}

func (s *Service) lookDKIM(ctx context.Context, e expectation, key *ent.DKIMKey, signer crypto.Signer) observation {
	name := e.dkimName(key)
	found, err := s.txt(ctx, name)
	if err != nil {
		o := noAnswer(DKIM, name)
		o.selector = key.Selector
		return o
	}
	o := compareDKIM(e, key, found)
	if o.status != Verified || signer == nil {
		return o
	}
	if err := probe(e, key, signer, found[0]); err != nil {
		o.status = Mismatch
		o.advice = fmt.Sprintf("Publish the value shown at %s again: a sample signature could not be verified with the record there (%s).", name, clipText(err.Error()))
	}
	return o
}

// probe signs a sample as a delivery would and verifies it with the published
// record, as a receiver would: it proves that the private key, the public one
// and the record's form fit together.
func probe(e expectation, key *ent.DKIMKey, signer crypto.Signer, published string) error {
	sample := []byte("From: probe@" + e.name + "\r\nTo: probe@" + e.name + "\r\nSubject: DKIM probe\r\n" +
		"Date: Thu, 01 Jan 2026 00:00:00 +0000\r\nMessage-ID: <probe@" + e.name + ">\r\n\r\nSigned by the key, verified by the record.\r\n")
	signed, err := dkim.Sign(sample, dkim.Signer{Domain: e.name, Selector: key.Selector, Key: signer})
	if err != nil {
		return err
	}
	signatures, err := dkim.Verify(signed, func(string) ([]string, error) { return []string{published}, nil })
	switch {
	case err != nil:
		return err
	case len(signatures) != 1:
		return errors.New("the sample has no signature")
	}
	return signatures[0].Err
}

// lookReturnPath follows the aliases one by one: DNS software answers some
// chains whole and others only to the first link.
func (s *Service) lookReturnPath(ctx context.Context, e expectation) observation {
	name := returnPathLabel + e.name
	var chain []string
	for at := name; len(chain) < maxAliases; at = canonical(chain[len(chain)-1]) {
		next, err := s.dns.LookupCNAME(ctx, at)
		if errors.Is(err, dnsx.ErrNotFound) {
			break
		}
		if err != nil {
			return noAnswer(ReturnPath, name)
		}
		chain = append(chain, next)
		if canonical(next) == e.returnPathHost {
			break
		}
	}
	o := compareReturnPath(e, chain)
	if o.status != Verified {
		return o
	}
	// Receivers find the SPF record of the envelope sender at the end of the alias.
	ours, err := lookOurSPF(ctx, e, e.returnPathHost, s.dns)
	switch {
	case err != nil:
		return noAnswer(ReturnPath, e.returnPathHost)
	case ours.fault != "":
		return operatorsFault(o, ours.fault)
	}
	return o
}

func (s *Service) lookSPF(ctx context.Context, e expectation) observation {
	found, err := s.txt(ctx, e.name)
	if err != nil {
		return noAnswer(SPF, e.name)
	}
	o, err := compareSPF(ctx, e, found, s.dns)
	if err != nil {
		return noAnswer(SPF, e.name)
	}
	return o
}

func (s *Service) lookMX(ctx context.Context, e expectation) observation {
	found, err := s.dns.LookupMX(ctx, e.name)
	if err != nil && !errors.Is(err, dnsx.ErrNotFound) {
		return noAnswer(InboundMX, e.name)
	}
	return compareMX(e, found)
}

// txt asks for TXT values; a name or type that does not exist is an empty answer.
func (s *Service) txt(ctx context.Context, name string) ([]string, error) {
	values, err := s.dns.LookupTXT(ctx, name)
	if errors.Is(err, dnsx.ErrNotFound) {
		return nil, nil
	}
	return values, err
}

func noAnswer(purpose Purpose, name string) observation {
	return observation{purpose: purpose, unanswered: true,
		advice: fmt.Sprintf("Wait for the next check or verify again: the DNS servers of %s gave no answer.", name)}
}
