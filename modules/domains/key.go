package domains

import (
	"context"
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"

	"github.com/maypok86/otter/v2"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/dkimkey"
	"github.com/postrider/postrider/runtime/id"
	"github.com/postrider/postrider/runtime/mail/dkim"
	"github.com/postrider/postrider/runtime/secret"
)

// material is what a new domain is made of: its id, token and first key.
type material struct {
	id    string
	token string
	key   newKey
}

// newMaterial makes what a domain needs before the transaction that stores it.
func (s *Service) newMaterial(ctx context.Context) (material, error) {
	m := material{id: id.New(id.Domain), token: strings.ToLower(rand.Text())}
	var err error
	m.key, err = s.newRSA(ctx, m.id)
	return m, err
}

// insert stores the domain with its key. The key signs from the start: what the
// domain waits for is its record, and until then nothing is signed.
func (m material) insert(ctx context.Context, tx *ent.Tx, name string, set func(*ent.DomainCreate)) error {
	create := tx.Domain.Create().SetID(m.id).SetName(name).SetOwnershipToken(m.token)
	set(create)
	if err := create.Exec(ctx); err != nil {
		return err
	}
	if err := m.key.create(tx, m.id).SetState(dkimkey.StateActive).Exec(ctx); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `UPDATE dkim_keys SET activated_at = now() WHERE id = $1`, m.key.id)
	return err
}

// newKey is a key pair that is not stored yet.
type newKey struct {
	id, selector string
	algorithm    dkimkey.Algorithm
	sealed       []byte
	publicKey    string
}

// newRSA makes an RSA-2048 key. It costs up to half a second of CPU, so it
// belongs outside of transactions, and only one at a time is made.
func (s *Service) newRSA(ctx context.Context, domainID string) (newKey, error) {
	select {
	case s.generating <- struct{}{}:
		defer func() { <-s.generating }()
	case <-ctx.Done():
		return newKey{}, ctx.Err()
	}
	key, err := s.generateKey()
	if err != nil {
		return newKey{}, fmt.Errorf("make dkim key: %w", err)
	}
	return s.seal(domainID, key)
}

// newEd25519 makes an Ed25519 key, which costs nothing.
func (s *Service) newEd25519(domainID string) (newKey, error) {
	key, err := dkim.GenerateEd25519()
	if err != nil {
		return newKey{}, fmt.Errorf("make dkim key: %w", err)
	}
	return s.seal(domainID, key)
}

func (s *Service) seal(domainID string, key crypto.Signer) (newKey, error) {
	private, err := dkim.MarshalPrivate(key)
	if err != nil {
		return newKey{}, fmt.Errorf("make dkim key: %w", err)
	}
	made := newKey{id: id.New(id.DKIMKey), algorithm: dkimkey.AlgorithmRsaSha256, selector: newSelector("pr1"), publicKey: dkim.PublicKey(key),
		sealed: s.box.Seal(private, keyContext(domainID))}
	if _, ok := key.(ed25519.PrivateKey); ok {
		made.algorithm, made.selector = dkimkey.AlgorithmEd25519Sha256, newSelector("pe1")
	}
	return made, nil
}

func (k newKey) create(tx *ent.Tx, domainID string) *ent.DKIMKeyCreate {
	return tx.DKIMKey.Create().SetID(k.id).SetDomainID(domainID).SetSelector(k.selector).SetAlgorithm(k.algorithm).
		SetPrivateKey(k.sealed).SetPublicKey(k.publicKey)
}

// newSelector names a key. It is random, so that a name which changes its owner
// or key never publishes two keys under one selector.
func newSelector(kind string) string { return kind + strings.ToLower(rand.Text()[:6]) }

// keyContext binds a sealed key to its domain. It is the domain and not the row
// of the key because keys were once a column of the domain, and those are still
// sealed that way. Which of a domain's keys it is, signer compares.
func keyContext(domainID string) []byte { return []byte("domains/" + domainID + "/dkim") }

// openAll opens the keys that sign or are to sign, by id.
func (s *Service) openAll(ctx context.Context, d *ent.Domain) (map[string]crypto.Signer, error) {
	signers := make(map[string]crypto.Signer, len(d.Edges.Keys))
	for _, k := range d.Edges.Keys {
		if k.State == dkimkey.StateRetired {
			continue
		}
		signer, err := s.signer(ctx, k)
		if err != nil {
			return nil, err
		}
		signers[k.ID] = signer
	}
	return signers, nil
}

var errKeyMoved = errors.New("the sealed key is not the one that the row publishes")

// signer opens and parses a key. A row never changes its key, so a parsed one
// may be kept.
func (s *Service) signer(ctx context.Context, k *ent.DKIMKey) (crypto.Signer, error) {
	signer, err := s.signers.Get(ctx, k.ID, otter.LoaderFunc[string, crypto.Signer](
		func(context.Context, string) (crypto.Signer, error) { return openKey(s.box, k) }))
	if err != nil {
		return nil, fmt.Errorf("open dkim key %s of %s: %w", k.ID, k.DomainID, err)
	}
	return signer, nil
}

func openKey(box *secret.Box, k *ent.DKIMKey) (crypto.Signer, error) {
	private, err := box.Open(k.PrivateKey, keyContext(k.DomainID))
	if err != nil {
		return nil, err
	}
	signer, err := dkim.ParsePrivate(private)
	if err == nil && dkim.PublicKey(signer) != k.PublicKey {
		return nil, errKeyMoved
	}
	return signer, err
}
