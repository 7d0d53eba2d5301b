package inbound

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/receivedemail"
	"github.com/postrider/postrider/runtime/fault"
	"github.com/postrider/postrider/runtime/id"
	"github.com/postrider/postrider/runtime/mail/message"
)

// Get gives one record of the account. Error: NotFound, also for another account's.
func (s *Service) Get(ctx context.Context, accountID, emailID string) (*ent.ReceivedEmail, error) {
	if !id.Is(id.ReceivedEmail, emailID) {
		return nil, fault.Missing("received email", emailID)
	}
	found, err := s.db.Ent.ReceivedEmail.Query().Where(receivedemail.ID(emailID), receivedemail.AccountID(accountID)).Select(listColumns...).Only(ctx)
	switch {
	case ent.IsNotFound(err):
		return nil, fault.Missing("received email", emailID)
	case err != nil:
		return nil, fmt.Errorf("get received email: %w", err)
	}
	return found, nil
}

// Content is a message in memory, until Close.
type Content struct {
	Raw   []byte // as it came in
	close func()
}

// NewContent makes one; done gives its memory back.
func NewContent(raw []byte, done func()) *Content { return &Content{Raw: raw, close: done} }

// Close gives the memory back. It may be called once.
func (c *Content) Close() { c.close() }

// Message reads it.
func (c *Content) Message() (*message.Message, error) { return message.Read(bytes.NewReader(c.Raw)) }

// Files writes each of the message's Files, decoded, to the writer that to gives for
// its number.
func (c *Content) Files(to func(n int) io.Writer) error {
	return message.ReadFiles(bytes.NewReader(c.Raw), to)
}

// ErrPurged says that the record is there and its content is not any more.
var ErrPurged = fault.Conflictf(fault.CodeConflict, "The content of this email has been deleted: it was older than the account keeps bodies")

// Open brings the content of a record into memory. Errors: ErrPurged; Away when the
// object store does not give it, or too many large ones are being read.
func (s *Service) Open(ctx context.Context, e *ent.ReceivedEmail) (_ *Content, err error) {
	release, err := reserve(ctx, s.reading, e.Size, readPatience)
	if errors.Is(err, errNoMemory) {
		err = busy()
	}
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			release()
		}
	}()
	raw, key, err := s.stored(ctx, e.AccountID, e.ContentID)
	if err != nil {
		return nil, err
	}
	if raw == nil {
		if raw, err = s.fetch(ctx, key, e.Size); err != nil {
			return nil, fault.Unavailable(fmt.Errorf("object store: %w", err))
		}
	}
	return NewContent(raw, release), nil
}

const storedSQL = `SELECT data, coalesce(object_key, '') FROM received_contents WHERE id = $1 AND account_id = $2`

// stored gives a content from the database, or the key of its object.
func (s *Service) stored(ctx context.Context, accountID string, contentID int64) (raw []byte, key string, err error) {
	err = s.db.Hot.QueryRowContext(ctx, storedSQL, contentID, accountID).Scan(&raw, &key)
	switch {
	case errors.Is(err, sql.ErrNoRows), err == nil && raw == nil && key == "":
		return nil, "", ErrPurged
	case err != nil:
		return nil, "", fmt.Errorf("read content: %w", err)
	}
	return raw, key, nil
}

var errNoStore = errors.New("none is configured")

func (s *Service) fetch(ctx context.Context, key string, size int64) (_ []byte, err error) {
	if s.objects == nil {
		return nil, errNoStore
	}
	object, err := s.objects.Get(ctx, key)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, object.Close()) }()
	raw := make([]byte, size)
	if _, err := io.ReadFull(object, raw); err != nil {
		return nil, fmt.Errorf("object %s of %d octets: %w", key, size, err)
	}
	return raw, nil
}
