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

// IsWithin reports whether a received email came in for one of the domains. Error: NotFound.
func (s *Service) IsWithin(ctx context.Context, accountID, emailID string, domainIDs []string) (bool, error) {
	found, err := s.Get(ctx, accountID, emailID)
	if err != nil {
		return false, err
	}
	return slices.Contains(domainIDs, found.DomainID), nil
}

// Content is a message that is read, until Close. It takes memory while it is small; a
// large one lies in the spool, so that whoever reads it may take their time.
type Content struct {
	raw   io.ReaderAt
	held  *intake.Content // nil: it is held by nobody
	size  int64
	hosts []string // names of this installation
	work  func(ctx context.Context) (release func(), err error)
	close func()
}

// NewContent makes one of octets; done is called by Close.
func NewContent(raw []byte, done func()) *Content {
	return &Content{raw: bytes.NewReader(raw), size: int64(len(raw)), close: done,
		work: func(context.Context) (func(), error) { return func() {}, nil }}
}

// Close gives back what the content holds. It may be called once.
func (c *Content) Close() { c.close() }

// Size is the octets of the message.
func (c *Content) Size() int64 { return c.size }

// Held is what an answer that is made of the message holds: at most one.
func (c *Content) Held() []*intake.Content {
	if c.held == nil {
		return nil
	}
	return []*intake.Content{c.held}
}

// Reader reads the message as it came in.
func (c *Content) Reader() *io.SectionReader { return io.NewSectionReader(c.raw, 0, c.size) }

// Work waits for the memory that Message and what is made of it take. release gives it
// back, before anything is sent to a client. Error: Away when too many others work.
func (c *Content) Work(ctx context.Context) (release func(), err error) {
	release, err = c.work(ctx)
	return release, busy(ctx, err)
}

// Message parses the message. Its header has no Authentication-Results that claim to be ours, unlike the bytes that
// Reader returns.
func (c *Content) Message() (*message.Message, error) {
	m, err := message.Read(c.Reader())
	if err != nil {
		return nil, err
	}
	m.Header = authn.RemoveForgedResults(m.Header, c.hosts...)
	return m, nil
}

// Files writes each of the message's Files, decoded, to the writer that to gives for
// its number. It takes little memory, however long the writers take.
func (c *Content) Files(to func(n int) io.Writer) error {
	return message.ReadFiles(c.Reader(), to)
}

// ErrPurged says that the record is there and its content is not any more.
var ErrPurged = fault.Conflictf(fault.CodeConflict, "The content of this email has been deleted: it was older than the account keeps bodies")

const (
	// smallContent is read with one statement into memory.
	smallContent = 256 << 10
	// sliceOctets is how much of a larger one is in memory at a time.
	sliceOctets = 1 << 20
	// readPatience is how long a caller waits for room.
	readPatience = 5 * time.Second
)

// busy is a lack of room for callers of the API.
func busy(ctx context.Context, err error) error {
	switch {
	case errors.Is(ctx.Err(), context.Canceled): // the client left; an expired deadline has a better error
		return ctx.Err()
	case !errors.Is(err, intake.ErrFull) && !errors.Is(err, intake.ErrCut):
		return err
	}
	refused := &fault.Error{Kind: fault.Away, Code: fault.CodeUnavailable, RetryAfter: readPatience,
		Message: "Too many large messages are being read at once; try again"}
	return refused.Because(err)
}

// Open brings the content of a record here. Errors: ErrPurged; Away when the object store
// does not give it, or too many large ones are being read.
func (s *Service) Open(ctx context.Context, e *ent.ReceivedEmail) (*Content, error) {
	return s.contents.open(ctx, e)
}

// contents has the messages themselves, in the database or in the object store.
type contents struct {
	db      *db.DB
	objects Objects        // nil: they stay in the database
	prompt  *blob.Prompt   // reads objects for clients that wait
	budget  *intake.Budget // of those that are read
	hosts   []string       // names of this installation, see Content.Message
}

func (s *contents) open(ctx context.Context, e *ent.ReceivedEmail) (_ *Content, err error) {
	owner := intake.Owner{Account: e.AccountID}
	c := s.budget.Content(intake.Terms{Owner: owner, Small: smallContent, Most: e.Size, Patience: readPatience})
	defer func() {
		if err != nil {
			c.Close()
		}
	}()
	if e.Size > smallContent {
		if err := c.Reserve(ctx, e.Size); err != nil {
			return nil, busy(ctx, err)
		}
		turn, err := s.budget.Read(ctx, owner, readPatience)
		if err != nil {
			return nil, busy(ctx, err)
		}
		defer turn()
	}
	if err := s.fill(ctx, c, e); err != nil {
		return nil, busy(ctx, err)
	}
	c.Whole()
	work := func(ctx context.Context) (func(), error) {
		if e.Size <= smallContent {
			return func() {}, nil
		}
		return s.budget.Work(ctx, owner, 2*min(3*e.Size, mostTexts), readPatience)
	}
	return &Content{raw: c, held: c, size: c.Size(), hosts: s.hosts, work: work, close: c.Close}, nil
}

// sliceSQL gives a part of a content, or the key of its object.
const sliceSQL = `
SELECT substring(data FROM $3::int FOR $4::int), coalesce(object_key, ''), data IS NULL FROM received_contents WHERE id = $1 AND account_id = $2`

// fill reads a content, slice by slice. It may be brought to the object store meanwhile,
// and is read on from there.
func (s *contents) fill(ctx context.Context, c *intake.Content, e *ent.ReceivedEmail) error {
	for first := true; first || c.Size() < e.Size; first = false {
		var key string
		moved := false
		n := 0
		err := s.slice(ctx, sliceSQL, func(row db.Row) error {
			var data sql.RawBytes
			if err := row.Scan(&data, &key, &moved); err != nil {
				return err
			}
			n = len(data)
			return c.Append(ctx, data)
		}, e.ContentID, e.AccountID, c.Size()+1, min(sliceOctets, e.Size-c.Size()))
		switch {
		case errors.Is(err, sql.ErrNoRows), err == nil && moved && key == "":
			return ErrPurged
		case err != nil:
			return fmt.Errorf("read content: %w", err)
		case moved:
			return s.fetch(ctx, c, key, e.Size)
		case n == 0 && e.Size > 0:
			return fmt.Errorf("read content: it has %d octets, the record says %d", c.Size(), e.Size)
		}
	}
	return nil
}

// slice runs a statement that gives one row. What use scans is good until it returns. The
// error is sql.ErrNoRows if there is none.
func (s *contents) slice(ctx context.Context, query string, use func(db.Row) error, args ...any) error {
	found := false
	// Prepared, because only then lib/pq takes binary results.
	err := db.Each(ctx, s.db.Prepared, func(row db.Row) error {
		found = true
		return use(row)
	}, query, args...)
	if err == nil && !found {
		return sql.ErrNoRows
	}
	return err
}

var errNoStore = errors.New("none is configured")

// fetch reads what is still missing from the object store.
func (s *contents) fetch(ctx context.Context, c *intake.Content, key string, size int64) (err error) {
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
		return fmt.Errorf("object %s of %d octets: %w", key, size, err)
	}
	return nil
}
