package domains

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"fmt"
	"strings"

	"github.com/maypok86/otter/v2"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/runtime/id"
	"github.com/postrider/postrider/runtime/mail/dkim"
)

// material is what a new row is made of: its key pair, selector and token.
type material struct {
	id        string
	selector  string
	token     string
	sealed    []byte
	publicKey string
}

// newMaterial makes an RSA-2048 key. It costs up to half a second of CPU, so it
// belongs outside of transactions, and only one at a time is made.
func (s *Service) newMaterial(ctx context.Context) (material, error) {
	select {
	case s.generating <- struct{}{}:
		defer func() { <-s.generating }()
	case <-ctx.Done():
		return material{}, ctx.Err()
	}
	key, err := s.generateKey()
	if err != nil {
		return material{}, fmt.Errorf("make dkim key: %w", err)
	}
	private, err := dkim.MarshalPrivate(key)
	if err != nil {
		return material{}, fmt.Errorf("make dkim key: %w", err)
	}
	m := material{id: id.New(id.Domain), selector: newSelector(), token: strings.ToLower(rand.Text()), publicKey: dkim.PublicKey(key)}
	m.sealed = s.box.Seal(private, keyContext(m.id))
	return m, nil
}

// newSelector names a key. It is random, so that a name which changes its owner
// or key never publishes two keys under one selector.
func newSelector() string { return "pr1" + strings.ToLower(rand.Text()[:6]) }

// keyContext binds a sealed key to its row.
func keyContext(domainID string) []byte { return []byte("domains/" + domainID + "/dkim") }

// signer opens and parses the domain's key. The pair of row and selector never
// changes its key, so a parsed one may be kept.
func (s *Service) signer(ctx context.Context, d *ent.Domain) (*rsa.PrivateKey, error) {
	return s.signers.Get(ctx, d.ID+"/"+d.DkimSelector, otter.LoaderFunc[string, *rsa.PrivateKey](
		func(context.Context, string) (*rsa.PrivateKey, error) {
			private, err := s.box.Open(d.DkimPrivateKey, keyContext(d.ID))
			if err != nil {
				return nil, fmt.Errorf("open dkim key of %s: %w", d.ID, err)
			}
			return dkim.ParsePrivate(private)
		}))
}
