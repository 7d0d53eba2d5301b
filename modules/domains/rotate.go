package domains

import (
	"context"
	"fmt"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/dkimkey"
	"github.com/postrider/postrider/ent/domain"
	"github.com/postrider/postrider/modules/domains/signing"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/mail/dkim"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/work/event"
)

// RotateDKIM creates the next signing key, and also an Ed25519 key if the domain signs with both algorithms.
// The active key continues to sign until a check has verified a signature of the new one with its published
// record; see doc.go. While a key is pending, another rotation is a conflict.
func (s *Service) RotateDKIM(ctx context.Context, accountID, domainID string,
	keep StoreDomainResponse) (*ent.Domain, error) {
	d, err := s.Get(ctx, accountID, domainID)
	if err != nil {
		return nil, err
	}
	// Check before the expensive creation of a key, and again under the lock.
	if err := mayRotate(d, d.Edges.Keys); err != nil {
		return nil, err
	}
	next, err := s.keys.RSA(ctx, d.ID)
	if err != nil {
		return nil, err
	}
	nextEd25519, err := s.keys.Ed25519(d.ID)
	if err != nil {
		return nil, err
	}
	err = s.changeKeys(ctx, accountID, domainID, keep, func(tx *ent.Tx, d *ent.Domain, keys []*ent.DKIMKey) error {
		if err := mayRotate(d, keys); err != nil {
			return err
		}
		if err := next.Store(ctx, tx, d.ID); err != nil {
			return err
		}
		if !d.Ed25519 || signing.PendingKey(keys, dkimkey.AlgorithmEd25519Sha256) != nil {
			return nil
		}
		return nextEd25519.Store(ctx, tx, d.ID)
	})
	if err != nil {
		return nil, fmt.Errorf("rotate dkim key: %w", err)
	}
	return s.Get(ctx, accountID, domainID)
}

func mayRotate(d *ent.Domain, keys []*ent.DKIMKey) error {
	waiting := signing.PendingKey(keys, dkimkey.AlgorithmRsaSha256)
	if waiting == nil {
		return nil
	}
	return fault.Conflictf(fault.CodeConflict,
		"The key %s of %s is already pending: publish its record at %s, then verify the domain",
		waiting.Selector, address.ReadableDomain(d.Name), dkim.RecordName(waiting.Selector, d.Name)).
		With("selector", waiting.Selector)
}

// setEd25519 enables or disables signing with a second key, in a transaction that has locked the domain.
// Messages carry the second signature once a check has found the record of its key. Verification does not
// depend on that record. The caller must forget the identity after its commit.
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
		key, err := s.keys.Ed25519(d.ID)
		if err != nil {
			return err
		}
		return key.Store(ctx, tx, d.ID)
	}
	return signing.DropEd25519(ctx, tx, d.ID)
}

// changeKeys changes a domain's keys under the lock of its row.
func (s *Service) changeKeys(ctx context.Context, accountID, domainID string, keep StoreDomainResponse,
	change func(*ent.Tx, *ent.Domain, []*ent.DKIMKey) error) error {
	var d *ent.Domain
	err := s.db.InTx(ctx, func(tx *ent.Tx) (err error) {
		if d, err = lockDomain(ctx, tx, accountID, domainID); err != nil {
			return err
		}
		if err := s.changeLockedKeys(ctx, tx, d, change); err != nil || keep == nil {
			return err
		}
		now, err := tx.Domain.Query().Where(domain.ID(d.ID), domain.AccountID(accountID)).
			WithKeys(signing.LoadListedKeys).
			Only(ctx)
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

// A running check does not know about the change, so the fencing number increases. The next check is due
// soon.
const afterKeyChange = `
UPDATE domains SET fence = fence + 1, updated_at = now(),
       due_at = CASE WHEN due_at IS NOT NULL THEN least(due_at, now() + make_interval(secs => $2)) END
 WHERE id = $1 RETURNING now()`

func (s *Service) changeLockedKeys(ctx context.Context, tx *ent.Tx, d *ent.Domain,
	change func(*ent.Tx, *ent.Domain, []*ent.DKIMKey) error) error {
	keys, err := signing.LockKeys(ctx, tx, d.ID)
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
	// The records of a seeded domain are never looked up, so a new key signs immediately.
	waiting, err := tx.DKIMKey.Query().Where(dkimkey.DomainID(d.ID), dkimkey.StateEQ(dkimkey.StatePending)).All(ctx)
	if err != nil {
		return err
	}
	_, err = activate(ctx, tx, s.bus, d, at, waiting)
	return err
}

// activate makes keys active and retires the previous ones in the same transaction. It publishes a fact for
// each retired key and returns their number.
func activate(ctx context.Context, tx *ent.Tx, b publisher, d *ent.Domain, at time.Time,
	ripe []*ent.DKIMKey) (rotated int, err error) {
	turns, err := signing.Activate(ctx, tx, d.ID, ripe)
	if err != nil || d.AccountID == nil { // the installation's own domain has no account to notify
		return 0, err
	}
	for _, turn := range turns {
		if err := b.Publish(ctx, tx, event.New(*d.AccountID, event.DomainDKIMRotated, at, event.DomainKey{
			DomainID: d.ID, Name: d.Name, Selector: turn.Key.Selector, Algorithm: string(turn.Key.Algorithm),
			PreviousSelector: turn.Previous,
		})); err != nil {
			return 0, err
		}
	}
	return len(turns), nil
}
