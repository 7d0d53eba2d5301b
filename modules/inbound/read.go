package inbound

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/receivedemail"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/base/intake"
	"github.com/postrider/postrider/runtime/mail/authn"
	"github.com/postrider/postrider/runtime/mail/message"
	"github.com/postrider/postrider/runtime/storage/blob"
	"github.com/postrider/postrider/runtime/storage/db"
)

// Get returns one record of the account. It returns NotFound for unknown records and those of other accounts.
func (s *Service) Get(ctx context.Context, accountID, emailID string) (*ent.ReceivedEmail, error) {
	if !id.Is(id.ReceivedEmail, emailID) {
		return nil, fault.NoSuch("received email", emailID)
	}
	found, err := s.db.Ent.ReceivedEmail.Query().Where(receivedemail.ID(emailID), receivedemail.AccountID(accountID)).
		Select(listColumns...).Only(ctx)
	switch {
	case ent.IsNotFound(err):
		return nil, fault.NoSuch("received email", emailID)
	case err != nil:
		return nil, fmt.Errorf("get received email: %w", err)
	}
	return found, nil
}

// IsWithin reports whether a received email was sent to one of the domains. It returns NotFound for an unknown
// email.
func (s *Service) IsWithin(ctx context.Context, accountID, emailID string, domainIDs []string) (bool, error) {
	found, err := s.Get(ctx, accountID, emailID)
	if err != nil {
		return false, err
	}
	return slices.Contains(domainIDs, found.DomainID), nil
}

// Content is a message that is being read, until Close. A small message is in memory. A large one is in a spool
// file, so that slow readers hold no memory.
type Content struct {
	raw   io.ReaderAt
	held  *intake.Content // nil: not charged to the budget
	size  int64
	hosts []string // names of this installation
	work  func(ctx context.Context) (release func(), err error)
	close func()
}

// NewContent returns a Content with the given bytes; Close calls done.
func NewContent(raw []byte, done func()) *Content {
	return &Content{raw: bytes.NewReader(raw), size: int64(len(raw)), close: done,
		work: func(context.Context) (func(), error) { return func() {}, nil }}
}

// Close releases the resources of the content. Call it at most once.
func (c *Content) Close() { c.close() }

// Size returns the size of the message in bytes.
func (c *Content) Size() int64 { return c.size }

// IntakeContents returns the intake content that a response created from the message holds, if any.
func (c *Content) IntakeContents() []*intake.Content {
	if c.held == nil {
		return nil
	}
	return []*intake.Content{c.held}
}

// Reader returns a reader of the message as received.
func (c *Content) Reader() *io.SectionReader { return io.NewSectionReader(c.raw, 0, c.size) }

// Work waits for the memory that Message and data derived from it need. Call release before a response is sent
// to a client. It returns Unavailable if there is too much concurrent work.
func (c *Content) Work(ctx context.Context) (release func(), err error) {
	release, err = c.work(ctx)
	return release, unavailableIfFull(ctx, err)
}

// Message parses the message. Unlike the bytes of Reader, its header contains no Authentication-Results that
// falsely claim to come from this installation.
func (c *Content) Message() (*message.Message, error) {
	m, err := message.Read(c.Reader())
	if err != nil {
		return nil, err
	}
	m.Header = authn.RemoveForgedResults(m.Header, c.hosts...)
	return m, nil
}

// Files decodes each of the message's Files and writes it to the writer that to returns for its index. It needs
// little memory, however slow the writers are.
func (c *Content) Files(to func(n int) io.Writer) error {
	return message.ReadFiles(c.Reader(), to)
}

// ErrPurged is returned if the record exists but its content has been deleted.
var ErrPurged = fault.Conflictf(fault.CodeConflict,
	"The content of this email has been deleted, because the account's retention period for bodies is over")

const (
	// smallContent is the size up to which one statement reads a content into memory.
	smallContent = 256 << 10
	// sliceBytes is the size of the slices in which larger contents are read.
	sliceBytes = 1 << 20
	// readPatience is how long a caller waits for room.
	readPatience = 5 * time.Second
)

// unavailableIfFull converts a lack of room to an API error.
func unavailableIfFull(ctx context.Context, err error) error {
	switch {
	// the client disconnected; for an expired deadline, the error below is better
	case errors.Is(ctx.Err(), context.Canceled):
		return ctx.Err()
	case !errors.Is(err, intake.ErrFull) && !errors.Is(err, intake.ErrCut):
		return err
	}
	refused := &fault.Error{Kind: fault.Unavailable, Code: fault.CodeUnavailable, RetryAfter: readPatience,
		Message: "Too many large messages are being read concurrently. Retry in 5 seconds."}
	return refused.WithCause(err)
}

// Open opens the content of a record. It returns ErrPurged, or Unavailable if the object store is unavailable
// or too many large contents are being read.
func (s *Service) Open(ctx context.Context, e *ent.ReceivedEmail) (*Content, error) {
	return s.contents.open(ctx, e)
}

// contentReader reads raw messages from the database or the object store.
type contentReader struct {
	db      *db.DB
	objects Objects                // nil: contents stay in the database
	prompt  *blob.InteractiveStore // reads objects for waiting clients
	budget  *intake.Budget         // for contents being read
	hosts   []string               // names of this installation (see Content.Message)
}

func (s *contentReader) open(ctx context.Context, e *ent.ReceivedEmail) (_ *Content, err error) {
	owner := intake.Tenant{Account: e.AccountID}
	c := s.budget.NewContent(intake.Terms{Tenant: owner, MaxMemory: smallContent, MaxSize: e.Size,
		Patience: readPatience})
	defer func() {
		if err != nil {
			c.Close()
		}
	}()
	if e.Size > smallContent {
		if err := c.Reserve(ctx, e.Size); err != nil {
			return nil, unavailableIfFull(ctx, err)
		}
		turn, err := s.budget.AcquireRead(ctx, owner, readPatience)
		if err != nil {
			return nil, unavailableIfFull(ctx, err)
		}
		defer turn()
	}
	if err := s.fillContent(ctx, c, e); err != nil {
		return nil, unavailableIfFull(ctx, err)
	}
	c.Finish()
	work := func(ctx context.Context) (func(), error) {
		if e.Size <= smallContent {
			return func() {}, nil
		}
		return s.budget.AcquireWork(ctx, owner, 2*min(3*e.Size, maxTextMemory), readPatience)
	}
	return &Content{raw: c, held: c, size: c.Size(), hosts: s.hosts, work: work, close: c.Close}, nil
}

// sliceSQL returns a part of a content, or the key of its object.
const sliceSQL = `
SELECT substring(data FROM $3::int FOR $4::int), coalesce(object_key, ''), data IS NULL FROM received_contents WHERE id = $1 AND account_id = $2`

// fillContent reads a content in slices. If the content moves to the object store in the meantime, the rest is
// read from there.
func (s *contentReader) fillContent(ctx context.Context, c *intake.Content, e *ent.ReceivedEmail) error {
	for first := true; first || c.Size() < e.Size; first = false {
		var key string
		moved := false
		n := 0
		err := s.readSlice(ctx, sliceSQL, func(row db.Row) error {
			var data sql.RawBytes
			if err := row.Scan(&data, &key, &moved); err != nil {
				return err
			}
			n = len(data)
			return c.Append(ctx, data)
		}, e.ContentID, e.AccountID, c.Size()+1, min(sliceBytes, e.Size-c.Size()))
		switch {
		case errors.Is(err, sql.ErrNoRows), err == nil && moved && key == "":
			return ErrPurged
		case err != nil:
			return fmt.Errorf("read content: %w", err)
		case moved:
			return s.fetchObject(ctx, c, key, e.Size)
		case n == 0 && e.Size > 0:
			return fmt.Errorf("read content: it has %d bytes instead of %d", c.Size(), e.Size)
		}
	}
	return nil
}

// readSlice runs a statement that returns one row. Values scanned by use are valid until use returns. It
// returns sql.ErrNoRows if there is no row.
func (s *contentReader) readSlice(ctx context.Context, query string, use func(db.Row) error, args ...any) error {
	found := false
	// lib/pq uses binary results only for prepared statements.
	err := db.Each(ctx, s.db.Prepared, func(row db.Row) error {
		found = true
		return use(row)
	}, query, args...)
	if err == nil && !found {
		return sql.ErrNoRows
	}
	return err
}

var errNoStore = errors.New("no object store is configured")

// fetchObject reads the missing rest from the object store.
func (s *contentReader) fetchObject(ctx context.Context, c *intake.Content, key string, size int64) (err error) {
	defer func() {
		if err != nil && !errors.Is(err, intake.ErrFull) {
			err = fault.BodyUnavailable(err)
		}
	}()
	if s.objects == nil {
		return errNoStore
	}
	object, err := s.prompt.Get(ctx, key)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, object.Close()) }()
	if _, err := io.CopyN(io.Discard, object, c.Size()); err != nil {
		return err
	}
	if _, err := io.CopyN(c.Writer(ctx), object, size-c.Size()); err != nil {
		return fmt.Errorf("object %s of %d bytes: %w", key, size, err)
	}
	return nil
}
