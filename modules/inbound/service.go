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

// Domains looks up the account that receives mail for an address or for the postmaster of this host, and the
// owner of a domain.
type Domains interface {
	addressrules.Domains

	Receiver(ctx context.Context, rcpt address.Address) (domains.Receiver, error)
	Postmaster(ctx context.Context, host string) (domains.Receiver, error)
}

// Accounts looks up whether an account is suspended.
type Accounts interface {
	Account(ctx context.Context, accountID string) (accounts.Account, error)
}

// Storage counts the bytes of received mail. Its errors are of kind Limit and Unavailable.
type Storage interface {
	ChargeReceived(ctx context.Context, accountID string, from netip.Addr, bytes int64) error
	RefundReceived(ctx context.Context, accountID string, from netip.Addr, bytes int64)
}

// Sender sends replies and forwarded mail.
type Sender interface {
	Send(ctx context.Context, caller accounts.Caller, r sending.Request) (sending.Receipt, error)
}

// Verifier authenticates the sender of a message.
type Verifier interface {
	Verify(ctx context.Context, c authn.Client, raw io.ReaderAt, size int64) shape.Authentication
}

// SpamFilter checks a message for spam.
type SpamFilter interface {
	Check(ctx context.Context, e rspamd.Envelope, raw io.ReaderAt, size int64) (rspamd.Verdict, error)
}

// Objects is an object store. Deleting a missing object is not an error.
type Objects interface {
	Put(ctx context.Context, key string, data io.ReaderAt, size int64) error
	Get(ctx context.Context, key string) (io.ReadCloser, error)
	Delete(ctx context.Context, key string) error
}

// Bus publishes facts and deletes them.
type Bus interface {
	PublishArgs(facts ...event.Fact) ([]db.Argument, error)
	WakeFor(facts ...event.Fact)
	Forget(ctx context.Context, tx db.Execer, accountID string, subjectIDs ...string) (int64, error)
}

// Statistics counts received mail before it is deleted.
type Statistics interface {
	Keep(ctx context.Context, tx db.Execer, accountID string, emailIDs ...string) error
}

// Params are the dependencies of the module.
type Params struct {
	fx.In

	Config   Config
	DB       *db.DB
	Domains  Domains
	Accounts Accounts
	Storage  Storage `optional:"true"` // nil: bytes are not counted
	Sender   Sender  // nil: sending is disabled, and replies are impossible
	Verifier Verifier
	Spam     SpamFilter // nil: every status is unknown
	Objects  Objects    // nil: contents stay in the database
	Bus      Bus
	Budget   *intake.Budget // memory for messages being received and read
	Pages    *page.Codec
	Logger   *slog.Logger
	Workers  *worker.Metrics

	Statistics Statistics // nil: module disabled
}

// Service receives and stores mail. It is safe for concurrent use.
type Service struct {
	db     *db.DB
	pages  *page.Codec
	bus    Bus
	counts Statistics // nil: module disabled
	sender Sender     // nil: sending is disabled, and replies are impossible

	rules     *addressrules.Book
	reception *reception
	contents  *contentReader
	mover     *mover // nil: no object store, or another process moves contents
}

// New creates the service. Nothing runs until Start.
func New(p Params) (*Service, error) {
	if err := p.Config.Validate(); err != nil {
		return nil, err
	}
	if p.Budget == nil {
		return nil, errors.New("inbound: Budget is required")
	}
	s := &Service{db: p.DB, pages: p.Pages, bus: p.Bus, counts: p.Statistics, sender: p.Sender,
		contents: &contentReader{db: p.DB, objects: p.Objects, prompt: blob.NewInteractiveStore(p.Objects),
			budget: p.Budget,
			hosts:  []string{p.Config.Hostname, p.Config.SMTPHost}}}
	s.rules = addressrules.NewBook(p.DB, p.Domains)
	s.reception = &reception{domains: p.Domains, accounts: p.Accounts, storage: p.Storage, rules: s.rules, bus: p.Bus,
		budget: p.Budget, log: p.Logger,
		examiner: &examiner{hostname: p.Config.Hostname, verifier: p.Verifier, spam: p.Spam, log: p.Logger},
		writer:   newWriter(p.DB, p.Bus, p.Objects != nil)}
	if p.Objects != nil && !p.Config.AcceptOnly {
		s.mover = newMover(s.contents, p.Logger, p.Workers)
	}
	return s, nil
}

// CanReply reports whether received mail can be replied to and forwarded.
func (s *Service) CanReply() bool { return s.sender != nil }

// Rules returns the address rules of a domain of the account. It returns NotFound for an unknown domain.
func (s *Service) Rules(ctx context.Context, accountID, domainID string) (addressrules.Rules, error) {
	return s.rules.Get(ctx, accountID, domainID)
}

// PutRules replaces the address rules of a domain. It returns NotFound for an unknown domain, or Invalid with
// all invalid fields.
func (s *Service) PutRules(ctx context.Context, accountID, domainID string,
	r addressrules.Rules) (addressrules.Rules, error) {
	return s.rules.Put(ctx, accountID, domainID, r)
}

// Start starts moving contents to the object store, if there is one.
func (s *Service) Start(ctx context.Context) error {
	if s.mover == nil {
		return nil
	}
	return s.mover.worker.Start(ctx)
}

// Stop stores waiting messages, and waits until ctx ends for running moves.
func (s *Service) Stop(ctx context.Context) error {
	s.reception.writer.close()
	if s.mover == nil {
		return nil
	}
	return s.mover.worker.Stop(ctx)
}
