package suppression

import (
	"context"
	"errors"
	"fmt"

	"github.com/postrider/postrider/ent"
	entsuppression "github.com/postrider/postrider/ent/suppression"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/web/idempotency"
)

// NewSuppression is the input of Add.
type NewSuppression struct {
	Email   string // a bare address; its domain may be in Unicode
	EmailID string // the email that is the reason, if any
	// Keep stores the response for this request in the transaction that adds the suppression, so that neither
	// exists without the other. It may be nil. If it fails, both are rolled back and its error is returned.
	Keep func(ctx context.Context, tx idempotency.Execer, row *ent.Suppression) error
}

// Validate reports every invalid field.
func (in NewSuppression) Validate() error {
	_, err := in.parse()
	return err
}

func (in NewSuppression) parse() (entry, error) {
	wrong := fault.Fields{}
	spec, err := parseAddress(in.Email)
	if err != nil {
		wrong.Add("email", "%s", err)
	}
	if in.EmailID != "" && !id.Is(id.Email, in.EmailID) {
		wrong.Add("email_id", "is not the id of an email")
	}
	return entry{email: spec, reason: entsuppression.ReasonManual, emailID: in.EmailID}, wrong.Err()
}

// parseAddress parses a bare address into the form in which recipients are stored. The error is a message for the
// field.
func parseAddress(email string) (string, error) {
	parsed, err := address.Parse(email)
	switch {
	case err != nil:
		return "", err
	case parsed.Name != "":
		return "", errors.New("must be a bare address, without a name")
	}
	return canonicalAddress(parsed.AddrSpec()), nil
}

// Add suppresses an address at the request of the account. If the address is already suppressed, its row and
// reason do not change.
func (s *Service) Add(ctx context.Context, accountID string, in NewSuppression) (*ent.Suppression, error) {
	e, err := in.parse()
	if err != nil {
		return nil, err
	}
	var row *ent.Suppression
	err = s.db.InTx(ctx, func(tx *ent.Tx) error {
		rows, err := s.put(ctx, tx, accountID, []entry{e})
		if err != nil {
			return err
		}
		row = rows[0].Suppression
		if in.Keep == nil {
			return nil
		}
		return in.Keep(ctx, tx, row)
	})
	if err != nil {
		return nil, fmt.Errorf("add suppression: %w", err)
	}
	s.bus.Wake()
	return row, nil
}

// MaxBatch is the maximum number of addresses in one AddBatch.
const MaxBatch = 1000

// BatchInput is the input of AddBatch.
type BatchInput struct {
	Emails []string
	// Keep is like in NewSuppression.
	Keep func(ctx context.Context, tx idempotency.Execer, items []BatchItem) error
}

// BatchItem is the result for one address of a batch.
type BatchItem struct {
	Suppression *ent.Suppression // nil when Err is set
	Added       bool             // false if it was already suppressed
	Err         error            // Invalid, about the field email
}

// AddBatch suppresses many addresses in one transaction. An invalid address causes an error for its item
// only; the others are added.
func (s *Service) AddBatch(ctx context.Context, accountID string, in BatchInput) ([]BatchItem, error) {
	if n := len(in.Emails); n == 0 || n > MaxBatch {
		return nil, fault.InvalidField("emails", "must hold 1 to %d addresses", MaxBatch)
	}
	items := make([]BatchItem, len(in.Emails))
	var entries []entry
	var place []int
	for i, email := range in.Emails {
		e, err := NewSuppression{Email: email}.parse()
		if items[i].Err = err; err == nil {
			entries, place = append(entries, e), append(place, i)
		}
	}
	err := s.db.InTx(ctx, func(tx *ent.Tx) error {
		rows, err := s.put(ctx, tx, accountID, entries)
		if err != nil {
			return err
		}
		for j, row := range rows {
			items[place[j]] = BatchItem{Suppression: row.Suppression, Added: row.added}
		}
		if in.Keep == nil {
			return nil
		}
		return in.Keep(ctx, tx, items)
	})
	if err != nil {
		return nil, fmt.Errorf("add suppressions: %w", err)
	}
	s.bus.Wake()
	return items, nil
}
