package domains

import (
	"context"
	"fmt"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/dkimkey"
	"github.com/postrider/postrider/ent/domain"
	"github.com/postrider/postrider/runtime/db"
	"github.com/postrider/postrider/runtime/event"
	"github.com/postrider/postrider/runtime/fault"
	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/mail/dkim"
)

// RotateDKIM makes a key that is to follow the one that signs, and of Ed25519
// too where the domain signs with both. The key that signs goes on until a check
// has verified a signature of the new one with its published record; see doc.go.
// One rotation at a time: while a key waits, another is a conflict.
func (s *Service) RotateDKIM(ctx context.Context, accountID, domainID string, keep Keep) (*ent.Domain, error) {
	d, err := s.Get(ctx, accountID, domainID)
	if err != nil {
		return nil, err
	}
	// Asked before the key is made, which is dear, and again under the lock.
	if err := mayRotate(d, d.Edges.Keys); err != nil {
		return nil, err
	}
	next, err := s.newRSA(ctx, d.ID)
	if err != nil {
		return nil, err
	}
	nextEd25519, err := s.newEd25519(d.ID)
	if err != nil {
		return nil, err
	}
	err = s.changeKeys(ctx, accountID, domainID, keep, func(tx *ent.Tx, d *ent.Domain, keys []*ent.DKIMKey) error {
		if err := mayRotate(d, keys); err != nil {
			return err
		}
		if err := next.create(tx, d.ID).Exec(ctx); err != nil {
			return err
		}
		if !d.Ed25519 || keyIn(keys, dkimkey.AlgorithmEd25519Sha256, dkimkey.StatePending) != nil {
			return nil
		}
		return nextEd25519.create(tx, d.ID).Exec(ctx)
	})
	if err != nil {
		return nil, fmt.Errorf("rotate dkim key: %w", err)
	}
	return s.Get(ctx, accountID, domainID)
}

func mayRotate(d *ent.Domain, keys []*ent.DKIMKey) error {
	waiting := keyIn(keys, dkimkey.AlgorithmRsaSha256, dkimkey.StatePending)
	if waiting == nil {
		return nil
	}
	return fault.Conflictf(fault.CodeConflict, "The key %s of %s waits for its record already: publish it at %s, then verify the domain",
		waiting.Selector, address.ReadableDomain(d.Name), dkim.RecordName(waiting.Selector, d.Name)).With("selector", waiting.Selector)
}

// setEd25519 begins or ends the signing with a second key, in a transaction that has
// locked the domain. A message carries the second signature once a check has seen the
// record of its key. Verification does not depend on that record. The caller forgets the
// identity after its commit.
func (s *Service) setEd25519(ctx context.Context, tx *ent.Tx, d *ent.Domain, on bool) error {
	return s.changeLockedKeys(ctx, tx, d, func(tx *ent.Tx, d *ent.Domain, keys []*ent.DKIMKey) error {
		return s.switchEd25519(ctx, tx, d, keys, on)
	})
}

func (s *Service) switchEd25519(ctx context.Context, tx *ent.Tx, d *ent.Domain, _ []*ent.DKIMKey, on bool) error {
	changed, err := tx.ExecContext(ctx, `UPDATE domains SET ed25519 = $2 WHERE id = $1 AND ed25519 <> $2`, d.ID, on)
	if err != nil {
		return err
	}
	if n, err := changed.RowsAffected(); err != nil || n == 0 {
		return err
	}
	if on {
		key, err := s.newEd25519(d.ID)
		if err != nil {
			return err
		}
		return key.create(tx, d.ID).Exec(ctx)
	}
	// What never signed leaves no trace; what did stays for a while to be verified.
	const stop = `UPDATE dkim_keys SET state = 'retired', retired_at = now() WHERE domain_id = $1 AND algorithm = $2 AND state = 'active'`
	if _, err := tx.ExecContext(ctx, stop, d.ID, dkim.Ed25519SHA256); err != nil {
		return err
	}
	_, err = tx.DKIMKey.Delete().Where(dkimkey.DomainID(d.ID), dkimkey.AlgorithmEQ(dkimkey.AlgorithmEd25519Sha256), dkimkey.StateEQ(dkimkey.StatePending)).Exec(ctx)
	return err
}

// changeKeys changes a domain's keys under the lock of its row.
func (s *Service) changeKeys(ctx context.Context, accountID, domainID string, keep Keep, change func(*ent.Tx, *ent.Domain, []*ent.DKIMKey) error) error {
	var d *ent.Domain
	err := s.db.InTx(ctx, func(tx *ent.Tx) (err error) {
		if d, err = lockDomain(ctx, tx, accountID, domainID); err != nil {
			return err
		}
		if err := s.changeLockedKeys(ctx, tx, d, change); err != nil || keep == nil {
			return err
		}
		now, err := tx.Domain.Query().Where(domain.ID(d.ID), domain.AccountID(accountID)).WithKeys(shownKeys).Only(ctx)
		if err != nil {
			return err
		}
		return keep(ctx, tx, now)
	})
	if err != nil {
		return err
	}
	s.forget(accountID, d.Name)
	s.bus.Wake()
	return nil
}

// A check that is under way knows nothing of the change, so the fence rises; the
// next one comes soon.
const afterKeyChange = `
UPDATE domains SET fence = fence + 1, updated_at = now(),
       due_at = CASE WHEN due_at IS NOT NULL THEN least(due_at, now() + make_interval(secs => $2)) END
 WHERE id = $1 RETURNING now()`

func (s *Service) changeLockedKeys(ctx context.Context, tx *ent.Tx, d *ent.Domain, change func(*ent.Tx, *ent.Domain, []*ent.DKIMKey) error) error {
	keys, err := lockedKeys(ctx, tx, d.ID)
	if err != nil {
		return err
	}
	if err := change(tx, d, keys); err != nil {
		return err
	}
	at, err := db.One(ctx, tx, db.Value[time.Time], afterKeyChange, d.ID, firstCheck.Seconds())
	if err != nil || !d.Seeded {
		return err
	}
	// No record of a seeded domain is ever looked up: a new key signs at once.
	waiting, err := tx.DKIMKey.Query().Where(dkimkey.DomainID(d.ID), dkimkey.StateEQ(dkimkey.StatePending)).All(ctx)
	if err != nil {
		return err
	}
	_, err = s.activate(ctx, tx, d, at, waiting)
	return err
}

// activate lets keys sign in place of those that did until now, in the same
// instant. It tells how many took another's place, each with a fact.
func (s *Service) activate(ctx context.Context, tx *ent.Tx, d *ent.Domain, at time.Time, keys []*ent.DKIMKey) (rotated int, err error) {
	const retire = `UPDATE dkim_keys SET state = 'retired', retired_at = now() WHERE domain_id = $1 AND algorithm = $2 AND state = 'active' RETURNING selector`
	const promote = `UPDATE dkim_keys SET state = 'active', activated_at = now() WHERE id = $1`
	for _, key := range keys {
		before, err := db.All(ctx, tx, db.Value[string], retire, d.ID, string(key.Algorithm))
		if err != nil {
			return 0, err
		}
		if _, err := tx.ExecContext(ctx, promote, key.ID); err != nil {
			return 0, err
		}
		if len(before) == 0 || d.AccountID == nil {
			continue // the first of its kind, or the installation's own
		}
		rotated++
		if err := s.bus.Publish(ctx, tx, event.New(*d.AccountID, event.DomainDKIMRotated, at, event.DomainKey{
			DomainID: d.ID, Name: d.Name, Selector: key.Selector, Algorithm: string(key.Algorithm), PreviousSelector: before[0],
		})); err != nil {
			return 0, err
		}
	}
	return rotated, nil
}
