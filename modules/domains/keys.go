package domains

import (
	"cmp"
	"context"
	"slices"
	"time"

	"entgo.io/ent/dialect/sql"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/dkimkey"
)

// keepRetired is how long the record of a retired key has to stay published:
// mail signed with it may lie in a queue for days before somebody verifies it.
const keepRetired = 7 * 24 * time.Hour

// Key is a signing key as its domain shows it.
type Key struct {
	Selector    string
	Algorithm   string // rsa-sha256, ed25519-sha256
	State       string // pending: waits for its record; active: signs; retired: signed until RetiredAt
	Ready       bool   // its published record was seen to verify our signatures
	CreatedAt   time.Time
	ActivatedAt *time.Time
	RetiredAt   *time.Time
	KeepUntil   *time.Time // of a retired key: from then on its record may be removed
}

// Keys lists a domain's keys: the RSA one that signs first.
func Keys(d *ent.Domain) []Key {
	keys := make([]Key, 0, len(d.Edges.Keys))
	for _, row := range inOrder(d.Edges.Keys) {
		key := Key{Selector: row.Selector, Algorithm: string(row.Algorithm), State: string(row.State), Ready: ready(d, row),
			CreatedAt: row.CreatedAt, ActivatedAt: row.ActivatedAt, RetiredAt: row.RetiredAt}
		if row.RetiredAt != nil {
			until := row.RetiredAt.Add(keepRetired)
			key.KeepUntil = &until
		}
		keys = append(keys, key)
	}
	return keys
}

// SigningKey is the RSA key with which the domain's mail is signed.
func SigningKey(d *ent.Domain) Key {
	for _, key := range Keys(d) {
		if key.State == string(dkimkey.StateActive) && key.Algorithm == string(dkimkey.AlgorithmRsaSha256) {
			return key
		}
	}
	return Key{}
}

// ready tells whether the key's record was there at the last check.
func ready(d *ent.Domain, k *ent.DKIMKey) bool {
	if d.Seeded {
		return true
	}
	for _, state := range d.Records {
		if state.Purpose == string(DKIM) && state.Selector == k.Selector {
			return state.Status == string(Verified)
		}
	}
	return false
}

// inOrder sorts the keys as they are shown: RSA before Ed25519, of each the one
// that signs, the one that waits, those that were.
func inOrder(keys []*ent.DKIMKey) []*ent.DKIMKey {
	rank := map[dkimkey.State]int{dkimkey.StateActive: 0, dkimkey.StatePending: 1, dkimkey.StateRetired: 2}
	return slices.SortedFunc(slices.Values(keys), func(a, b *ent.DKIMKey) int {
		return cmp.Or(-cmp.Compare(a.Algorithm, b.Algorithm), cmp.Compare(rank[a.State], rank[b.State]), cmp.Compare(b.ID, a.ID))
	})
}

// keyIn finds the one key of an algorithm in a state, other than retired; nil
// when there is none.
func keyIn(keys []*ent.DKIMKey, algorithm dkimkey.Algorithm, state dkimkey.State) *ent.DKIMKey {
	i := slices.IndexFunc(keys, func(k *ent.DKIMKey) bool { return k.Algorithm == algorithm && k.State == state })
	if i < 0 {
		return nil
	}
	return keys[i]
}

// signsRSA tells whether verification depends on the key's record.
func signsRSA(k *ent.DKIMKey) bool {
	return k.State == dkimkey.StateActive && k.Algorithm == dkimkey.AlgorithmRsaSha256
}

// shownKeys loads the keys of domains whose records are listed.
func shownKeys(q *ent.DKIMKeyQuery) {
	q.Where(func(s *sql.Selector) {
		s.Where(sql.P(func(b *sql.Builder) {
			b.WriteString("(state <> 'retired' OR retired_at > now() - make_interval(secs => ").Arg(keepRetired.Seconds()).WriteString("))")
		}))
	})
}

// activeKeys loads the keys that sign.
func activeKeys(q *ent.DKIMKeyQuery) { q.Where(dkimkey.StateEQ(dkimkey.StateActive)) }

// lockedKeys loads all keys of a domain whose row the transaction has locked,
// which is what serialises every change of them. Keys that nobody needs any more
// are gone after it.
func lockedKeys(ctx context.Context, tx *ent.Tx, domainID string) ([]*ent.DKIMKey, error) {
	const prune = `DELETE FROM dkim_keys WHERE domain_id = $1 AND state = 'retired' AND retired_at <= now() - make_interval(secs => $2)`
	if _, err := tx.ExecContext(ctx, prune, domainID, keepRetired.Seconds()); err != nil {
		return nil, err
	}
	return tx.DKIMKey.Query().Where(dkimkey.DomainID(domainID)).All(ctx)
}
