package signing

import (
	"context"
	"slices"
	"time"

	"entgo.io/ent/dialect/sql"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/dkimkey"
	"github.com/postrider/postrider/modules/domains/dnscheck"
)

// DomainKey is a signing key for display with its domain.
type DomainKey struct {
	Selector    string
	Algorithm   string // rsa-sha256, ed25519-sha256
	State       string // pending: its record was not found yet; active: signs; retired: signed until RetiredAt
	Ready       bool   // when its published record first verified our signatures
	CreatedAt   time.Time
	ActivatedAt *time.Time
	RetiredAt   *time.Time
	KeepUntil   *time.Time // for a retired key: the time from which its record may be removed
}

// Keys returns the keys of a domain that was loaded with them, starting with the active RSA key.
func Keys(d *ent.Domain) []DomainKey {
	keys := make([]DomainKey, 0, len(d.Edges.Keys))
	for _, row := range dnscheck.InOrder(d.Edges.Keys) {
		key := DomainKey{Selector: row.Selector, Algorithm: string(row.Algorithm), State: string(row.State),
			Ready:     dnscheck.Ready(d, row),
			CreatedAt: row.CreatedAt, ActivatedAt: row.ActivatedAt, RetiredAt: row.RetiredAt}
		if row.RetiredAt != nil {
			until := row.RetiredAt.Add(dnscheck.KeepRetired)
			key.KeepUntil = &until
		}
		keys = append(keys, key)
	}
	return keys
}

// ActiveKey returns the RSA key that signs the domain's mail.
func ActiveKey(d *ent.Domain) DomainKey {
	for _, key := range Keys(d) {
		if key.State == string(dkimkey.StateActive) && key.Algorithm == string(dkimkey.AlgorithmRsaSha256) {
			return key
		}
	}
	return DomainKey{}
}

// PendingKey returns the pending key of the algorithm, or nil.
func PendingKey(keys []*ent.DKIMKey, algorithm dkimkey.Algorithm) *ent.DKIMKey {
	return find(keys, algorithm, dkimkey.StatePending)
}

// find returns the only key of an algorithm in a state other than retired, or nil.
func find(keys []*ent.DKIMKey, algorithm dkimkey.Algorithm, state dkimkey.State) *ent.DKIMKey {
	i := slices.IndexFunc(keys, func(k *ent.DKIMKey) bool { return k.Algorithm == algorithm && k.State == state })
	if i < 0 {
		return nil
	}
	return keys[i]
}

// LoadListedKeys loads the keys whose records are listed.
func LoadListedKeys(q *ent.DKIMKeyQuery) {
	q.Where(func(s *sql.Selector) {
		s.Where(sql.P(func(b *sql.Builder) {
			b.WriteString("(state <> 'retired' OR retired_at > now() - make_interval(secs => ").
				Arg(dnscheck.KeepRetired.Seconds()).WriteString("))")
		}))
	})
}

// LoadActiveKeys loads the active keys.
func LoadActiveKeys(q *ent.DKIMKeyQuery) { q.Where(dkimkey.StateEQ(dkimkey.StateActive)) }

// LockKeys loads all keys of a domain whose row the transaction has locked, and deletes those that are no
// longer needed.
func LockKeys(ctx context.Context, tx *ent.Tx, domainID string) ([]*ent.DKIMKey, error) {
	const prune = `DELETE FROM dkim_keys WHERE domain_id = $1 AND state = 'retired' AND retired_at <= now() - make_interval(secs => $2)`
	if _, err := tx.ExecContext(ctx, prune, domainID, dnscheck.KeepRetired.Seconds()); err != nil {
		return nil, err
	}
	return tx.DKIMKey.Query().Where(dkimkey.DomainID(domainID)).All(ctx)
}
