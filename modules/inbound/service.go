package inbound

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/netip"

	"go.uber.org/fx"

	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/domains"
	"github.com/postrider/postrider/modules/inbound/addressrules"
	"github.com/postrider/postrider/modules/sending"
	"github.com/postrider/postrider/runtime/base/intake"
	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/mail/authn"
	"github.com/postrider/postrider/runtime/mail/rspamd"
	"github.com/postrider/postrider/runtime/storage/blob"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/page"
	"github.com/postrider/postrider/runtime/work/event"
)

// Domains tells who receives for a domain, and whose it is.
type Domains interface {
	addressrules.Domains

	Receiver(ctx context.Context, rcpt address.Address) (domains.Receiver, error)
}

// Accounts tells whether an account is suspended.
type Accounts interface {
	Account(ctx context.Context, accountID string) (accounts.Account, error)
}

// Storage counts the bytes of received mail; its refusals are of kind Limit and Away.
type Storage interface {
	ChargeReceived(ctx context.Context, accountID string, from netip.Addr, bytes int64) error
	RefundReceived(ctx context.Context, accountID string, from netip.Addr, bytes int64)
}

// Sender sends replies and forwarded mail.
type Sender interface {
	Send(ctx context.Context, caller accounts.Caller, r sending.Request) (sending.Receipt, error)
}

// Verifier finds out who sent a message.
type Verifier interface {
	Verify(ctx context.Context, c authn.Client, raw io.ReaderAt, size int64) shape.Authentication
}

// SpamFilter judges a message.
type SpamFilter interface {
	Check(ctx context.Context, e rspamd.Envelope, raw io.ReaderAt, size int64) (rspamd.Verdict, error)
}

// Objects is an object store. To delete what is not there is no error.
type Objects interface {
	Put(ctx context.Context, key string, data io.ReaderAt, size int64) error
	Get(ctx context.Context, key string) (io.ReadCloser, error)
	Delete(ctx context.Context, key string) error
}

// Bus publishes facts and forgets them.
type Bus interface {
	PublishArgs(facts ...event.Fact) ([]db.Argument, error)
	WakeFor(facts ...event.Fact)
	Forget(ctx context.Context, tx db.Execer, accountID string, subjectIDs ...string) (int64, error)
}

// Statistics counts received mail before it is deleted.
type Statistics interface {
	Keep(ctx context.Context, tx db.Execer, accountID string, emailIDs ...string) error
}

// Params is what the module needs.
type Params struct {
	fx.In

	Config   Config
	DB       *db.DB
	Domains  Domains
	Accounts Accounts
	Storage  Storage `optional:"true"` // nil: bytes are not counted
	Sender   Sender  // nil: sending is off, and nothing is answered
	Verifier Verifier
	Spam     SpamFilter // nil: every status is unknown
	Objects  Objects    // nil: contents stay in the database
	Bus      Bus
	Budget   *intake.Budget // of messages that come in and are read
	Pages    *page.Codec
	Logger   *slog.Logger
	Workers  *worker.Metrics

	Statistics Statistics // nil: they are off
}

// Service receives mail and keeps it. Safe for concurrent use.
type Service struct {
	db     *db.DB
	pages  *page.Codec
	bus    Bus
	counts Statistics // nil: they are off
	sender Sender     // nil: sending is off, and nothing is answered

	rules     *addressrules.Book
	reception *reception
	contents  *contents
	mover     *mover // nil: there is nowhere to move to, or another process does
}

// New makes the service; nothing runs before Start.
func New(p Params) (*Service, error) {
	if err := p.Config.Validate(); err != nil {
		return nil, err
	}
	if p.Budget == nil {
		return nil, errors.New("inbound: a budget is needed")
	}
	s := &Service{db: p.DB, pages: p.Pages, bus: p.Bus, counts: p.Statistics, sender: p.Sender, contents: &contents{db: p.DB, objects: p.Objects, prompt: blob.NewPrompt(p.Objects), budget: p.Budget,
		hosts: []string{p.Config.Hostname, p.Config.SMTPHost}}}
	s.rules = addressrules.NewBook(p.DB, p.Domains)
	s.reception = &reception{domains: p.Domains, accounts: p.Accounts, storage: p.Storage, rules: s.rules, bus: p.Bus, budget: p.Budget, log: p.Logger,
		examiner: &examiner{hostname: p.Config.Hostname, verifier: p.Verifier, spam: p.Spam, log: p.Logger},
		writer:   newWriter(p.DB, p.Bus, p.Objects != nil)}
	if p.Objects != nil && !p.Config.AcceptOnly {
		s.mover = newMover(s.contents, p.Logger, p.Workers)
	}
	return s, nil
}

// Answers tells whether received mail can be replied to and forwarded.
func (s *Service) Answers() bool { return s.sender != nil }

// Rules returns the address rules of a domain of the account. Error: NotFound for the domain.
func (s *Service) Rules(ctx context.Context, accountID, domainID string) (addressrules.Rules, error) {
	return s.rules.Get(ctx, accountID, domainID)
}

// PutRules replaces the address rules of a domain. Errors: NotFound for the domain, Invalid
// with all wrong fields.
func (s *Service) PutRules(ctx context.Context, accountID, domainID string, r addressrules.Rules) (addressrules.Rules, error) {
	return s.rules.Put(ctx, accountID, domainID, r)
}

// Start begins to bring contents to the object store, if there is one.
func (s *Service) Start(ctx context.Context) error {
	if s.mover == nil {
		return nil
	}
	return s.mover.worker.Start(ctx)
}

// Stop stores what waits, and lets moves that have begun end while ctx lasts.
func (s *Service) Stop(ctx context.Context) error {
	s.reception.writer.close()
	if s.mover == nil {
		return nil
	}
	return s.mover.worker.Stop(ctx)
}
