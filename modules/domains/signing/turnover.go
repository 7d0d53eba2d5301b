package signing

import (
	"context"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/dkimkey"
	"github.com/postrider/postrider/modules/domains/dnscheck"
	"github.com/postrider/postrider/runtime/mail/dkim"
	"github.com/postrider/postrider/runtime/storage/db"
)

// Turnover applies the results of a check to the current keys, under the lock: another check or a rotation
// may have changed them meanwhile. ripe are the pending keys that become active, because one of their
// signatures was verified with the published record. current are the observations, of which only that of the
// RSA key that signs after the turnover counts for verification. A customer can therefore publish the new
// record and remove the old one in one step.
func Turnover(keys []*ent.DKIMKey, seen []dnscheck.Observation) (ripe []*ent.DKIMKey, current []dnscheck.Observation) {
	bySelector := make(map[string]*ent.DKIMKey, len(keys))
	for _, key := range keys {
		bySelector[key.Selector] = key
	}
	for _, o := range seen {
		if key := bySelector[o.Selector]; o.Purpose == dnscheck.DKIM && key != nil &&
			key.State == dkimkey.StatePending && !o.Unanswered && o.Status == dnscheck.Verified {
			ripe = append(ripe, key)
		}
	}
	signs := find(keys, dkimkey.AlgorithmRsaSha256, dkimkey.StateActive)
	if next := PendingKey(ripe, dkimkey.AlgorithmRsaSha256); next != nil {
		signs = next
	}
	answered := false
	for _, o := range seen {
		if o.Purpose == dnscheck.DKIM {
			if bySelector[o.Selector] == nil {
				continue // deleted meanwhile
			}
			o.Optional = signs == nil || o.Selector != signs.Selector
			answered = answered || !o.Optional
		}
		current = append(current, o)
	}
	if !answered { // the check did not include the key that signs now
		o := dnscheck.Observation{Purpose: dnscheck.DKIM, Unanswered: true, Advice: dnscheck.NotChecked}
		if signs != nil {
			o.Selector = signs.Selector
		}
		current = append(current, o)
	}
	return ripe, current
}

// PendingAge returns the age of the newest pending key that is not ripe, or a negative duration if there is
// none.
func PendingAge(keys, ripe []*ent.DKIMKey, now time.Time) time.Duration {
	age := time.Duration(-1)
	for _, key := range keys {
		if key.State != dkimkey.StatePending || find(ripe, key.Algorithm, key.State) != nil {
			continue
		}
		if this := max(now.Sub(key.CreatedAt), 0); age < 0 || this < age {
			age = this
		}
	}
	return age
}

// Turn is a key that replaced another.
type Turn struct {
	Key      *ent.DKIMKey
	Previous string // selector
}

// Activate makes keys active and retires the previous ones. It returns the replacements; the first key of an
// algorithm replaces none.
func Activate(ctx context.Context, tx *ent.Tx, domainID string, keys []*ent.DKIMKey) (turns []Turn, err error) {
	const retire = `UPDATE dkim_keys SET state = 'retired', retired_at = now() WHERE domain_id = $1 AND algorithm = $2 AND state = 'active' RETURNING selector`
	const promote = `UPDATE dkim_keys SET state = 'active', activated_at = now() WHERE id = $1`
	for _, key := range keys {
		before, err := db.All(ctx, tx, db.Value[string], retire, domainID, string(key.Algorithm))
		if err != nil {
			return nil, err
		}
		if _, err := tx.ExecContext(ctx, promote, key.ID); err != nil {
			return nil, err
		}
		if len(before) > 0 {
			turns = append(turns, Turn{Key: key, Previous: before[0]})
		}
	}
	return turns, nil
}

// DropEd25519 stops signing with a second key. A key that never signed is deleted. A key that signed is kept
// for a while, so that its signatures can be verified.
func DropEd25519(ctx context.Context, tx *ent.Tx, domainID string) error {
	const stop = `UPDATE dkim_keys SET state = 'retired', retired_at = now() WHERE domain_id = $1 AND algorithm = $2 AND state = 'active'`
	if _, err := tx.ExecContext(ctx, stop, domainID, dkim.Ed25519SHA256); err != nil {
		return err
	}
	_, err := tx.DKIMKey.Delete().Where(dkimkey.DomainID(domainID), dkimkey.AlgorithmEQ(dkimkey.AlgorithmEd25519Sha256),
		dkimkey.StateEQ(dkimkey.StatePending)).Exec(ctx)
	return err
}
