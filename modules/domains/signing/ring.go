package signing

import (
	"context"
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/dkimkey"
	"github.com/postrider/postrider/runtime/base/cache"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/base/limit"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/mail/dkim"
	"github.com/postrider/postrider/runtime/mail/signer"
	"github.com/postrider/postrider/runtime/storage/db"
)

const (
	maxOpened  = 2_000 // parsed keys held in memory, about 8 kB each
	keepOpened = 15 * time.Minute
)

// Ring creates keys, and opens stored ones. It is safe for concurrent use.
type Ring struct {
	box      *secret.Box
	generate Generate
	engine   *signer.Engine
	turn     *limit.Semaphore // limits key generation, which is pure CPU
	opened   *cache.Cache[string, crypto.Signer]
}

// Generate generates an RSA key.
type Generate func() (*rsa.PrivateKey, error)

// NewRing returns a new Ring that seals keys with the box and signs with the engine; nil means Go. generate
// defaults to dkim.GenerateKey. A key that has not signed for 15 minutes, for example after a rotation, is
// removed from memory.
func NewRing(box *secret.Box, generate Generate, engine *signer.Engine) *Ring {
	if generate == nil {
		generate = dkim.GenerateKey
	}
	opened := cache.New(cache.Config[string, crypto.Signer]{Max: maxOpened, TTL: keepOpened, Sliding: true})
	return &Ring{box: box, generate: generate, engine: engine, turn: limit.NewSemaphore(1, limit.Unbounded),
		opened: opened}
}

// Pair is a key pair that is not stored yet.
type Pair struct {
	id, selector string
	algorithm    dkimkey.Algorithm
	sealed       []byte
	publicKey    string
}

// RSA creates an RSA-2048 key for a domain. This takes up to half a second of CPU, so call it outside of
// transactions; keys are generated one at a time.
func (r *Ring) RSA(ctx context.Context, domainID string) (Pair, error) {
	if err := r.turn.Acquire(ctx); err != nil {
		return Pair{}, err
	}
	defer r.turn.Release()
	key, err := r.generate()
	if err != nil {
		return Pair{}, fmt.Errorf("make dkim key: %w", err)
	}
	return r.seal(domainID, key)
}

// Ed25519 creates an Ed25519 key for a domain, which takes little time.
func (r *Ring) Ed25519(domainID string) (Pair, error) {
	key, err := dkim.GenerateEd25519()
	if err != nil {
		return Pair{}, fmt.Errorf("make dkim key: %w", err)
	}
	return r.seal(domainID, key)
}

func (r *Ring) seal(domainID string, key crypto.Signer) (Pair, error) {
	private, err := dkim.MarshalPrivate(key)
	if err != nil {
		return Pair{}, fmt.Errorf("make dkim key: %w", err)
	}
	made := Pair{id: id.New(id.DKIMKey), algorithm: dkimkey.AlgorithmRsaSha256, selector: newSelector("pr1"),
		publicKey: dkim.PublicKey(key),
		sealed:    r.box.Seal(private, keyContext(domainID))}
	if _, ok := key.(ed25519.PrivateKey); ok {
		made.algorithm, made.selector = dkimkey.AlgorithmEd25519Sha256, newSelector("pe1")
	}
	return made, nil
}

// newSelector returns a new selector. It is random, so that a domain whose owner or key changes never
// publishes two keys under one selector.
func newSelector(kind string) string { return kind + strings.ToLower(rand.Text()[:6]) }

// keyContext binds a sealed key to its domain. It contains the domain and not the key's row, because keys
// were once a column of the domain, and those are still sealed that way. Signer checks that an opened key
// matches its row.
func keyContext(domainID string) []byte { return []byte("domains/" + domainID + "/dkim") }

// Store stores the pair as a pending key of the domain.
func (p Pair) Store(ctx context.Context, tx *ent.Tx, domainID string) error {
	return p.create(tx, domainID).Exec(ctx)
}

// StoreActive stores the pair as the first key of a new domain. It is active immediately, but signs nothing
// until its record is found, because until then the domain cannot send.
func (p Pair) StoreActive(ctx context.Context, tx *ent.Tx, domainID string) error {
	if err := p.create(tx, domainID).SetState(dkimkey.StateActive).Exec(ctx); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `UPDATE dkim_keys SET activated_at = now() WHERE id = $1`, p.id)
	return err
}

func (p Pair) create(tx *ent.Tx, domainID string) *ent.DKIMKeyCreate {
	return tx.DKIMKey.Create().SetID(p.id).SetDomainID(domainID).SetSelector(p.selector).SetAlgorithm(p.algorithm).
		SetPrivateKey(p.sealed).SetPublicKey(p.publicKey)
}

// Signers opens the active and pending keys of a domain, by the id of their row.
func (r *Ring) Signers(ctx context.Context, d *ent.Domain) (map[string]crypto.Signer, error) {
	signers := make(map[string]crypto.Signer, len(d.Edges.Keys))
	for _, k := range d.Edges.Keys {
		if k.State == dkimkey.StateRetired {
			continue
		}
		key, err := r.Signer(ctx, k)
		if err != nil {
			return nil, err
		}
		signers[k.ID] = key
	}
	return signers, nil
}

// ErrMoved reports that a sealed key is authentic and belongs to the domain, but not to the row.
var ErrMoved = errors.New("the sealed key does not match the public key of its row")

// Signer opens and parses a key. A row never changes its key, so the parsed key is cached.
func (r *Ring) Signer(ctx context.Context, k *ent.DKIMKey) (crypto.Signer, error) {
	ready, err := r.opened.Get(ctx, k.ID, func(context.Context, string) (crypto.Signer, error) {
		key, err := open(r.box, k)
		if err != nil {
			return nil, err
		}
		return r.engine.Load(key)
	})
	if err != nil {
		return nil, fmt.Errorf("open dkim key %s of %s: %w", k.ID, k.DomainID, err)
	}
	return ready, nil
}

func open(box *secret.Box, k *ent.DKIMKey) (crypto.Signer, error) {
	private, err := box.Open(k.PrivateKey, keyContext(k.DomainID))
	if err != nil {
		return nil, err
	}
	key, err := dkim.ParsePrivate(private)
	if err == nil && dkim.PublicKey(key) != k.PublicKey {
		return nil, ErrMoved
	}
	return key, err
}

// OpenAll opens the active and pending keys of a domain, by the id of their row. Without a box it opens none.
// The error contains the key that the box does not open.
func OpenAll(box *secret.Box, d *ent.Domain) (map[string]crypto.Signer, error) {
	signers := map[string]crypto.Signer{}
	for _, k := range d.Edges.Keys {
		if box == nil || k.State == dkimkey.StateRetired {
			continue
		}
		key, err := open(box, k)
		if err != nil {
			return nil, fmt.Errorf("open dkim key %s of %s with the given master key: %w", k.Selector, d.Name, err)
		}
		signers[k.ID] = key
	}
	return signers, nil
}

// Count returns how many of the newest 1,000 stored keys the box can open, and how many it cannot.
func Count(ctx context.Context, d *db.DB, box *secret.Box) (opened, closed int, err error) {
	const most = 1000
	keys, err := d.Ent.DKIMKey.Query().Order(ent.Desc(dkimkey.FieldID)).Limit(most).All(ctx)
	if err != nil {
		return 0, 0, fmt.Errorf("read dkim keys: %w", err)
	}
	for _, k := range keys {
		if _, err := open(box, k); err != nil {
			closed++
			continue
		}
		opened++
	}
	return opened, closed, nil
}
