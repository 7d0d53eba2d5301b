package automations

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/automation"
	"github.com/postrider/postrider/modules/automations/definition"
	"github.com/postrider/postrider/modules/automations/machine"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/web/idempotency"
)

// Limits per account.
const (
	MaxAutomations = 1000
	MaxActive      = 200
)

// StoreChangeResponse stores the caller's response in the transaction of a change. It may be nil.
type StoreChangeResponse func(ctx context.Context, tx idempotency.Execer, a *ent.Automation) error

// ParseDefinition parses and validates a definition. The returned fields name every error by its path.
func ParseDefinition(document []byte) (definition.Definition, fault.Fields) {
	d, wrong := definition.Decode(document)
	if len(wrong) > 0 {
		return d, wrong
	}
	_, wrong = machine.Compile(d)
	return d, wrong
}

// draft is a definition in the form in which it is stored.
type draft struct {
	definition definition.Definition
	document   json.RawMessage
	hash       string
}

func newDraft(document []byte) (draft, error) {
	d, wrong := ParseDefinition(document)
	if err := wrong.Err(); err != nil {
		return draft{}, err
	}
	canonical, err := json.Marshal(d)
	if err != nil {
		return draft{}, fmt.Errorf("encode a definition: %w", err)
	}
	sum := sha256.Sum256(canonical)
	return draft{d, canonical, hex.EncodeToString(sum[:])}, nil
}

// Create adds an automation as a draft, which starts no runs until it is activated. It returns Invalid with all
// invalid fields, or Conflict if the account has too many automations.
func (s *Service) Create(ctx context.Context, accountID string, document []byte,
	keep StoreChangeResponse) (*ent.Automation, error) {
	d, err := newDraft(document)
	if err != nil {
		return nil, err
	}
	return s.create(ctx, accountID, d, keep)
}

func (s *Service) create(ctx context.Context, accountID string, d draft,
	keep StoreChangeResponse) (made *ent.Automation, err error) {
	err = s.db.InTx(ctx, func(tx *ent.Tx) error {
		if err := lockAccount(ctx, tx, accountID); err != nil {
			return err
		}
		if n, err := tx.Automation.Query().Where(automation.AccountID(accountID)).Count(ctx); err != nil ||
			n >= MaxAutomations {
			return orTooMany(err, "This account has %d automations, which is the limit", MaxAutomations)
		}
		if made, err = tx.Automation.Create().SetID(id.New(id.Automation)).SetAccountID(accountID).
			SetName(d.definition.Name).SetDescription(d.definition.Description).
			SetEvent(d.definition.Trigger.Event).SetDraft(d.document).SetDraftHash(d.hash).Save(ctx); err != nil {
			return err
		}
		return callKeep(ctx, tx, keep, made)
	})
	if err != nil {
		return nil, fmt.Errorf("create automation: %w", err)
	}
	return made.Unwrap(), nil
}

func callKeep(ctx context.Context, tx *ent.Tx, keep StoreChangeResponse, a *ent.Automation) error {
	if keep == nil {
		return nil
	}
	return keep(ctx, tx, a)
}

func orTooMany(err error, format string, limit int) error {
	if err != nil {
		return err
	}
	return fault.Conflictf(fault.CodeConflict, format, limit)
}

// lockAccount serializes changes that depend on how many automations the account has.
func lockAccount(ctx context.Context, tx db.Execer, accountID string) error {
	_, err := tx.ExecContext(ctx, `SELECT pg_advisory_xact_lock(hashtextextended('automations of ' || $1, 0))`, accountID)
	return err
}

// Change replaces fields of the draft. Versions and live runs stay unchanged. It returns Invalid, NotFound, or
// Conflict if the automation is archived or has changed since the given hash.
func (s *Service) Change(ctx context.Context, accountID, automationID string, members map[string]json.RawMessage,
	hash string) (changed *ent.Automation, err error) {
	err = s.db.InTx(ctx, func(tx *ent.Tx) error {
		a, err := lockAutomation(ctx, tx, accountID, automationID)
		if err != nil {
			return err
		}
		switch {
		case a.Status == automation.StatusArchived:
			return fault.Conflictf(fault.CodeConflict, "This automation is archived")
		case hash != "" && hash != a.DraftHash:
			return fault.Conflictf(fault.CodeConflict, "The draft has changed since you read it. Read it again.").
				With(fault.DetailChangedAt, a.UpdatedAt.UTC().Format(time.RFC3339Nano))
		}
		document, err := mergeFields(a.Draft, members)
		if err != nil {
			return err
		}
		d, err := newDraft(document)
		if err != nil {
			return err
		}
		changed, err = a.Update().SetName(d.definition.Name).SetDescription(d.definition.Description).
			SetEvent(d.definition.Trigger.Event).
			SetDraft(d.document).SetDraftHash(d.hash).Save(ctx)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("change automation: %w", err)
	}
	return changed.Unwrap(), nil
}

// mergeFields replaces fields of a JSON object.
func mergeFields(document json.RawMessage, members map[string]json.RawMessage) ([]byte, error) {
	whole := map[string]json.RawMessage{}
	if err := json.Unmarshal(document, &whole); err != nil {
		return nil, fmt.Errorf("read the draft: %w", err)
	}
	for name, value := range members {
		if whole[name] = value; string(value) == "null" {
			delete(whole, name)
		}
	}
	return json.Marshal(whole)
}

// lockAutomation returns an automation of the account and locks its row until the transaction ends.
func lockAutomation(ctx context.Context, tx *ent.Tx, accountID, automationID string) (*ent.Automation, error) {
	a, err := tx.Automation.Query().Where(automation.AccountID(accountID), automation.ID(automationID)).
		ForUpdate().Only(ctx)
	if ent.IsNotFound(err) {
		return nil, fault.NoSuch("automation", automationID)
	}
	return a, err
}

// Delete removes an automation that was never activated, or that is archived and has no live runs. The records
// of its runs are kept until retention deletes them, and a trial that has started runs to its end.
func (s *Service) Delete(ctx context.Context, accountID, automationID string) error {
	err := s.db.InTx(ctx, func(tx *ent.Tx) error {
		a, err := lockAutomation(ctx, tx, accountID, automationID)
		if err != nil {
			return err
		}
		if a.Status != automation.StatusDraft && a.Status != automation.StatusArchived {
			return fault.Conflictf(fault.CodeConflict, "This automation is %s; archive it first", a.Status)
		}
		live, err := db.One(ctx, tx, db.Value[bool], `SELECT EXISTS (SELECT FROM automation_works WHERE automation_id = $1 AND version > 0)`, automationID)
		if err != nil || live {
			return errors.Join(err, whenTrue(live,
				fault.Conflictf(fault.CodeConflict, "Runs of this automation are being cancelled; try again shortly")))
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM automation_listens WHERE automation_id = $1`, automationID); err != nil {
			return err
		}
		return tx.Automation.DeleteOne(a).Exec(ctx)
	})
	if err != nil {
		return fmt.Errorf("delete automation: %w", err)
	}
	return nil
}

func whenTrue(is bool, err *fault.Error) error {
	if !is {
		return nil
	}
	return err
}

// Duplicate creates an automation from the draft of another one.
func (s *Service) Duplicate(ctx context.Context, accountID, automationID string,
	keep StoreChangeResponse) (*ent.Automation, error) {
	a, err := s.Get(ctx, accountID, automationID)
	if err != nil {
		return nil, err
	}
	name := []rune("Copy of " + a.Name)
	encoded, err := json.Marshal(string(name[:min(len(name), definition.MaxName)]))
	if err != nil {
		return nil, fmt.Errorf("duplicate automation: %w", err)
	}
	document, err := mergeFields(a.Draft, map[string]json.RawMessage{"name": encoded})
	if err != nil {
		return nil, err
	}
	return s.Create(ctx, accountID, document, keep)
}
