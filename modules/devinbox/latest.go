package devinbox

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"entgo.io/ent/dialect/sql"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/capturedmail"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/mail/address"
)

// MaxWait limits how long Latest waits.
const MaxWait = time.Minute

// lookAgain is the poll interval for mail stored by another process on the same database.
const lookAgain = time.Second

// LatestQuery selects the mail that Latest returns.
type LatestQuery struct {
	Tenant  string        // test tenant; empty means all mail of the installation
	To      string        // a complete envelope address, ignoring case; empty means any
	Subject string        // part of the subject, ignoring case; empty means any
	Wait    time.Duration // how long to wait for a match, 0 to MaxWait
}

// maxSubject is the maximum length of a subject filter, in bytes.
const maxSubject = 1000

// Validate reports every invalid field: to, subject, wait.
func (w LatestQuery) Validate() error {
	wrong := fault.Fields{}
	if w.To != "" {
		switch parsed, err := address.Parse(w.To); {
		case err != nil:
			wrong.Add("to", "%s", err)
		case parsed.Name != "":
			wrong.Add("to", "must be a bare address, without a name")
		}
	}
	if len(w.Subject) > maxSubject || !utf8.ValidString(w.Subject) || strings.ContainsRune(w.Subject, 0) {
		wrong.Add("subject", "must be text of at most %d bytes", maxSubject)
	}
	if w.Wait < 0 || w.Wait > MaxWait {
		wrong.Add("wait", "must be between 0s and %.0fs", MaxWait.Seconds())
	}
	return wrong.Err()
}

// Latest returns the newest matching email with its content, and waits until one arrives. Errors: Invalid,
// NotFound after the wait, Unavailable if the service stops meanwhile, and the error of ctx.
func (s *Service) Latest(ctx context.Context, w LatestQuery) (*ent.CapturedMail, error) {
	return s.awaitLatest(ctx, w, s.Get)
}

// awaitLatest is Latest with a function that reads the email.
func (s *Service) awaitLatest(ctx context.Context, w LatestQuery,
	read func(ctx context.Context, id int64) (*ent.CapturedMail, error)) (*ent.CapturedMail, error) {
	if err := w.Validate(); err != nil {
		return nil, err
	}
	over := time.NewTimer(w.Wait)
	defer over.Stop()
	again := time.NewTicker(lookAgain)
	defer again.Stop()
	for {
		stored := s.waits.stored.next() // subscribe before the query, so that no later mail is missed
		found, err := s.findNewest(ctx, w, read)
		if err != nil || found != nil {
			return found, err
		}
		select {
		case <-stored:
		case <-again.C:
		case <-over.C:
			return nil, &fault.Error{Kind: fault.NotFound, Code: fault.CodeNotFound, Message: w.notFoundMessage()}
		case <-s.waits.draining:
			return nil, &fault.Error{Kind: fault.Unavailable, Code: fault.CodeUnavailable, RetryAfter: time.Second,
				Message: "The service is stopping"}
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// notFoundMessage describes the query that matched no email.
func (w LatestQuery) notFoundMessage() string {
	said := "No mail"
	if w.To != "" {
		said += " to " + w.To
	}
	if w.Subject != "" {
		said += fmt.Sprintf(" with %q in its subject", w.Subject)
	}
	if w.Wait > 0 {
		return fmt.Sprintf("%s within %s", said, w.Wait)
	}
	return said
}

// findNewest returns nil if no email matches.
func (s *Service) findNewest(ctx context.Context, w LatestQuery,
	read func(ctx context.Context, id int64) (*ent.CapturedMail, error)) (*ent.CapturedMail, error) {
	query := s.db.Ent.CapturedMail.Query().Order(capturedmail.ByID(sql.OrderDesc()))
	if w.Tenant != "" {
		query.Where(capturedmail.AccountID(w.Tenant))
	}
	if parsed, err := address.Parse(w.To); err == nil {
		query.Where(matchRecipients(func(b *sql.Builder, column string) {
			b.WriteString("EXISTS (SELECT FROM jsonb_array_elements_text(" + column + ") AS one WHERE lower(one) = lower(").
				Arg(parsed.AddrSpec()).WriteString("))")
		}))
	}
	if w.Subject != "" {
		query.Where(capturedmail.SubjectContainsFold(w.Subject))
	}
	id, err := query.FirstID(ctx)
	if ent.IsNotFound(err) {
		return nil, nil //nolint:nilnil // no match is not an error here
	}
	if err != nil {
		return nil, fmt.Errorf("find captured mail: %w", err)
	}
	found, err := read(ctx, id)
	if fault.KindOf(err) == fault.NotFound { // deleted between the two queries
		return nil, nil //nolint:nilnil // as above
	}
	return found, err
}

// Drain ends all waiting calls of Latest.
func (s *Service) Drain() { s.waits.drained.Do(func() { close(s.waits.draining) }) }

// waits is the state of waiting Latest calls.
type waits struct {
	stored   broadcast // an email was stored
	drained  sync.Once
	draining chan struct{} // closed when waits must end
}

// broadcast notifies all waiters of an event. The zero value is ready to use.
type broadcast struct {
	mu      sync.Mutex
	waiting chan struct{} // nil if there are no waiters
}

// next returns a channel that is closed by the next notify.
func (b *broadcast) next() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.waiting == nil {
		b.waiting = make(chan struct{})
	}
	return b.waiting
}

func (b *broadcast) notify() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.waiting != nil {
		close(b.waiting)
		b.waiting = nil
	}
}
