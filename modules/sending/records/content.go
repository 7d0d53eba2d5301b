package records

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/postrider/postrider/modules/sending/bodies"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/intake"
	"github.com/postrider/postrider/runtime/mail/message"
	"github.com/postrider/postrider/runtime/storage/db"
)

// MaxBody is the maximum size of the html and of the text of an email, in bytes each.
const MaxBody = 5 << 20

const (
	relayedSQL   = `SELECT id, coalesce(body_key, '') FROM emails WHERE account_id = $1 AND id = ANY($2) AND (mime IS NOT NULL OR body_key IS NOT NULL)`
	loadMIMESQL  = `SELECT mime FROM emails WHERE id = $1 AND account_id = $2 AND mime IS NOT NULL`
	placeMIMESQL = `SELECT coalesce(octet_length(mime), body_size), coalesce(body_key, '') FROM emails
		WHERE id = $1 AND account_id = $2 AND (mime IS NOT NULL OR body_key IS NOT NULL AND body_size IS NOT NULL)`
	partMIMESQL = `SELECT substring(mime FROM $3::int FOR $4::int) FROM emails WHERE id = $1 AND account_id = $2 AND mime IS NOT NULL`
)

// eachRelayed calls use for each of the emails that was submitted over SMTP, one at a time.
func (s *Service) eachRelayed(ctx context.Context, accountID string, emailIDs []string,
	use func(emailID string, m *message.Message) error) error {
	if len(emailIDs) == 0 {
		return nil
	}
	type row struct{ id, key string }
	found, err := db.All(ctx, s.db.SQL, func(r *row) []any { return []any{&r.id, &r.key} }, relayedSQL, accountID,
		db.Array(emailIDs))
	if err != nil {
		return fmt.Errorf("find relayed emails: %w", err)
	}
	for _, r := range found {
		if r.key != "" && !bodies.IsRelayed(r.key) {
			continue
		}
		emailID := r.id
		m, err := s.ReadRelayed(ctx, accountID, emailID)
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

// Limits for reading relayed messages.
const (
	smallMIME    = 256 << 10 // bytes; up to this size a message is read into memory
	partMIME     = 1 << 20   // bytes of a larger message per statement
	readPatience = 5 * time.Second

	// mostTexts covers the html and the text of one email, and their headers.
	mostTexts = 2*MaxBody + 1<<20
)

// ReadRelayed reads a message that was submitted over SMTP. It returns nil if the email was not, or its content
// has been deleted. Error: Unavailable when too many large messages are being read.
func (s *Service) ReadRelayed(ctx context.Context, accountID, emailID string) (*message.Message, error) {
	c, err := s.Content(ctx, accountID, emailID, readPatience)
	if err != nil || c == nil {
		return nil, err
	}
	defer c.Close()
	if c.Size() > smallMIME {
		release, err := s.budget.AcquireWork(ctx, intake.Tenant{Account: accountID}, 2*min(3*c.Size(), mostTexts),
			readPatience)
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
	refused := &fault.Error{Kind: fault.Unavailable, Code: fault.CodeUnavailable, RetryAfter: readPatience,
		Message: "Too many large messages are being read concurrently. Retry in 5 seconds."}
	return refused.WithCause(err)
}

// mimePlace is the location of a message that was submitted over SMTP.
type mimePlace struct {
	size int64
	key  string // in the object store; empty if the row has it
}

// placeOfMIME looks up the location. found is false if the email was not submitted over SMTP or its content
// has been deleted.
func (s *Service) placeOfMIME(ctx context.Context, accountID, emailID string) (at mimePlace, found bool, err error) {
	err = s.db.Hot.QueryRowContext(ctx, placeMIMESQL, emailID, accountID).Scan(&at.size, &at.key)
	if errors.Is(err, sql.ErrNoRows) {
		return at, false, nil
	}
	return at, err == nil && (at.key == "" || bodies.IsRelayed(at.key)), err
}

// Content reads a message that was submitted over SMTP, part by part. It returns nil if the email was not, or
// its content has been deleted. The caller closes it. Error: Unavailable when too many large messages are
// being read, or the object store fails.
func (s *Service) Content(ctx context.Context, accountID, emailID string,
	patience time.Duration) (_ *intake.Content, err error) {
	at, found, err := s.placeOfMIME(ctx, accountID, emailID)
	if err != nil || !found {
		return nil, err
	}
	owner := intake.Tenant{Account: accountID}
	c := s.budget.NewContent(intake.Terms{Tenant: owner, MaxMemory: smallMIME, MaxSize: at.size, Patience: patience})
	defer func() {
		if err != nil {
			c.Close()
			err = tooManyReads(ctx, err)
		}
	}()
	if at.size > smallMIME {
		if err := c.Reserve(ctx, at.size); err != nil {
			return nil, err
		}
		turn, err := s.budget.AcquireRead(ctx, owner, patience)
		if err != nil {
			return nil, err
		}
		defer turn()
	}
	if there, err := s.fillMIME(ctx, c, at, accountID, emailID); err != nil || !there {
		c.Close()
		return nil, err
	}
	c.Finish()
	return c, nil
}

// fillMIME reads a message from its location. If the message moves to the object store meanwhile, reading
// continues there. there is false if it was deleted meanwhile.
func (s *Service) fillMIME(ctx context.Context, c *intake.Content, at mimePlace, accountID,
	emailID string) (there bool, err error) {
	for at.key == "" && c.Size() < at.size {
		before := c.Size()
		// lib/pq returns binary results only for prepared statements
		err := db.Each(ctx, s.db.Prepared, func(row db.Row) error {
			var part sql.RawBytes
			if err := row.Scan(&part); err != nil {
				return err
			}
			return c.Append(ctx, part)
		}, partMIMESQL, emailID, accountID, before+1, partMIME)
		if err != nil {
			return false, err
		}
		if c.Size() > before {
			continue
		}
		now, found, err := s.placeOfMIME(ctx, accountID, emailID)
		if err != nil || !found || now.key == "" || now.size != at.size {
			return false, err
		}
		at = now
	}
	if c.Size() == at.size {
		return true, nil
	}
	object, err := s.store.Open(ctx, at.key)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, object.Close()) }()
	if _, err = io.CopyN(io.Discard, object, c.Size()); err == nil {
		_, err = io.Copy(c.Writer(ctx), io.LimitReader(object, at.size-c.Size()))
	}
	if err == nil && c.Size() != at.size {
		err = fault.BodyUnavailable(fmt.Errorf("object %s has %d bytes instead of %d", at.key, c.Size(), at.size))
	}
	return err == nil, err
}
