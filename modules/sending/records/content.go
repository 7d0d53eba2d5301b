package records

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/postrider/postrider/runtime/db"
	"github.com/postrider/postrider/runtime/fault"
	"github.com/postrider/postrider/runtime/intake"
	"github.com/postrider/postrider/runtime/mail/message"
)

// MaxBody is how many bytes html and text of an email have at most, each.
const MaxBody = 5 << 20

const (
	relayedSQL  = `SELECT id FROM emails WHERE account_id = $1 AND id = ANY($2) AND mime IS NOT NULL`
	loadMIMESQL = `SELECT mime FROM emails WHERE id = $1 AND account_id = $2 AND mime IS NOT NULL`
	sizeMIMESQL = `SELECT octet_length(mime) FROM emails WHERE id = $1 AND account_id = $2 AND mime IS NOT NULL`
	partMIMESQL = `SELECT substring(mime FROM $3::int FOR $4::int) FROM emails WHERE id = $1 AND account_id = $2 AND mime IS NOT NULL`
)

// eachRelayed reads those of the emails that came over SMTP, one after the other.
func (s *Service) eachRelayed(ctx context.Context, accountID string, emailIDs []string, use func(emailID string, m *message.Message) error) error {
	if len(emailIDs) == 0 {
		return nil
	}
	found, err := db.All(ctx, s.db.SQL, db.Value[string], relayedSQL, accountID, db.Array(emailIDs))
	if err != nil {
		return fmt.Errorf("find relayed emails: %w", err)
	}
	for _, emailID := range found {
		m, err := s.Relayed(ctx, accountID, emailID)
		if err != nil {
			return fmt.Errorf("read relayed email %s: %w", emailID, err)
		}
		if m == nil {
			continue
		}
		if err := use(emailID, m); err != nil {
			return err
		}
	}
	return nil
}

// How relayed messages are read for somebody.
const (
	smallMIME    = 256 << 10 // octets, in memory
	partMIME     = 1 << 20   // octets of a larger one at a time
	readPatience = 5 * time.Second

	// mostTexts is html and text of one email, and their headers.
	mostTexts = 2*MaxBody + 1<<20
)

// Relayed reads what came over SMTP. It gives nil where nothing did, or where it has been
// deleted. Error: Away when too many large ones are being read.
func (s *Service) Relayed(ctx context.Context, accountID, emailID string) (*message.Message, error) {
	c, err := s.Content(ctx, accountID, emailID, readPatience)
	if err != nil || c == nil {
		return nil, err
	}
	defer c.Close()
	if c.Size() > smallMIME {
		release, err := s.budget.Work(ctx, intake.Owner{Account: accountID}, 2*min(3*c.Size(), mostTexts), readPatience)
		if err != nil {
			return nil, tooManyReads(ctx, err)
		}
		defer release()
	}
	return message.Read(c.Reader())
}

func tooManyReads(ctx context.Context, err error) error {
	if ctx.Err() != nil || !errors.Is(err, intake.ErrFull) && !errors.Is(err, intake.ErrCut) {
		return err
	}
	refused := &fault.Error{Kind: fault.Away, Code: fault.CodeUnavailable, RetryAfter: readPatience,
		Message: "Too many large messages are being read at once; try again"}
	return refused.Because(err)
}

// Content brings what came over SMTP here, part by part. It gives nil where nothing did, or
// where it has been deleted. The caller closes it.
func (s *Service) Content(ctx context.Context, accountID, emailID string, patience time.Duration) (_ *intake.Content, err error) {
	var size int64
	switch err := s.db.Hot.QueryRowContext(ctx, sizeMIMESQL, emailID, accountID).Scan(&size); {
	case errors.Is(err, sql.ErrNoRows):
		return nil, nil
	case err != nil:
		return nil, err
	}
	owner := intake.Owner{Account: accountID}
	c := s.budget.Content(intake.Terms{Owner: owner, Small: smallMIME, Most: size, Patience: patience})
	defer func() {
		if err != nil {
			c.Close()
			err = tooManyReads(ctx, err)
		}
	}()
	if size > smallMIME {
		if err := c.Reserve(ctx, size); err != nil {
			return nil, err
		}
		turn, err := s.budget.Read(ctx, owner, patience)
		if err != nil {
			return nil, err
		}
		defer turn()
	}
	for c.Size() < size {
		before := c.Size()
		err := db.Each(ctx, s.db.Prepared, func(row db.Row) error { // prepared: only then lib/pq takes binary results
			var part sql.RawBytes
			if err := row.Scan(&part); err != nil {
				return err
			}
			return c.Append(ctx, part)
		}, partMIMESQL, emailID, accountID, before+1, partMIME)
		if err != nil {
			return nil, err
		}
		if c.Size() == before { // deleted or changed meanwhile
			c.Close()
			return nil, nil
		}
	}
	c.Whole()
	return c, nil
}
