package sending

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/lib/pq"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/runtime/fault"
	"github.com/postrider/postrider/runtime/intake"
	"github.com/postrider/postrider/runtime/mail/message"
)

// Relayed is a message that came over SMTP. Its sender has composed it, and it leaves as
// it came: Message.To, CC and BCC are its envelope, each where the address stands in the
// header, and Subject, ReplyTo and Headers what the record shows of it.
type Relayed struct {
	// MIME is the whole, fit for verbatim.Split, without what must not leave: Bcc and
	// the fields that are for us. Date and Message-ID are added where they are missing.
	// nil: one that is sent again is composed here, of html and text.
	MIME      []byte
	MessageID string // of the header, without angle brackets; empty: there is none
	Files     []message.File
	Names     []string // all file names in it, whether or not they make files
}

// asksForAll tells whether subject and to are required: over SMTP they are not.
func (m Message) asksForAll() bool { return m.Relayed == nil }

// files is how many attachments there are.
func (m Message) files() int {
	if m.Relayed != nil {
		return len(m.Relayed.Files)
	}
	return len(m.Attachments)
}

// validate holds the files against the rules for attachments. A part without a name is
// no file to anybody.
func (r *Relayed) validate(wrong fault.Fields) {
	if r == nil {
		return
	}
	if len(r.Files) > MaxAttachments {
		wrong.Add("attachments", "has %d files; the limit is %d", len(r.Files), MaxAttachments)
	}
	for i, name := range r.Names {
		if isBlockedExtension(name) {
			wrong.Add(fmt.Sprintf("attachments[%d].name", i), "has an extension that is not allowed because it can run code")
		}
	}
	for i, f := range r.Files {
		path := fmt.Sprintf("attachments[%d].", i)
		if isBlockedExtension(f.Filename) {
			wrong.Add(path+"name", "has an extension that is not allowed because it can run code")
		}
		if f.Size > MaxAttachment {
			wrong.Add(path+"data", "is larger than 10 MB")
		}
	}
}

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
	rows, err := s.db.SQL.QueryContext(ctx, relayedSQL, accountID, pq.Array(emailIDs))
	if err != nil {
		return fmt.Errorf("find relayed emails: %w", err)
	}
	found, err := scanAll(rows, func(id *string) []any { return []any{id} })
	if err != nil {
		return fmt.Errorf("find relayed emails: %w", err)
	}
	for _, emailID := range found {
		m, err := s.readRelayed(ctx, accountID, emailID)
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
)

// readRelayed is nil where nothing came over SMTP, or it has been deleted. Error: Away when
// too many large ones are being read.
func (s *Service) readRelayed(ctx context.Context, accountID, emailID string) (*message.Message, error) {
	c, err := s.relayedContent(ctx, accountID, emailID, readPatience)
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

// relayedContent brings what came over SMTP here, part by part; nil: there is none, or no
// more. The caller closes it.
func (s *Service) relayedContent(ctx context.Context, accountID, emailID string, patience time.Duration) (_ *intake.Content, err error) {
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
		rows, err := s.db.QueryPrepared(ctx, partMIMESQL, emailID, accountID, before+1, partMIME) // prepared: only then lib/pq takes binary results
		if err != nil {
			return nil, err
		}
		err = useColumn(rows, func(part []byte) error { return c.Append(ctx, part) })
		if errors.Is(err, sql.ErrNoRows) || err == nil && c.Size() == before { // deleted or changed meanwhile
			c.Close()
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
	}
	c.Whole()
	return c, nil
}

// resendable completes a message that came over SMTP with its bodies, as an ordinary
// one: attachments are left out, as with any other, and so it is composed anew.
func (s *Service) resendable(ctx context.Context, stored *ent.Email, m Message) (Message, error) {
	read, err := s.readRelayed(ctx, stored.AccountID, stored.ID)
	if err != nil {
		return m, fmt.Errorf("read relayed email: %w", err)
	}
	if read == nil || read.HTML == "" && read.Text == "" {
		return m, fault.Conflictf(fault.CodeConflict, "This email has no text that could be sent again")
	}
	m.HTML, m.Text, m.Relayed = read.HTML, read.Text, &Relayed{}
	return m, nil
}
