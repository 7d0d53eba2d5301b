package sending

import (
	"context"
	"io"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/fx"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/storage"
	"github.com/postrider/postrider/modules/domains"
	"github.com/postrider/postrider/modules/sending/handover"
	"github.com/postrider/postrider/modules/suppression"
	"github.com/postrider/postrider/modules/templates"
	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/mail/lint"
	"github.com/postrider/postrider/runtime/mail/message"
	"github.com/postrider/postrider/runtime/mail/rspamd"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/web/idempotency"
	"github.com/postrider/postrider/runtime/work/event"
)

// Accounts looks up accounts and the limits of their plans.
type Accounts interface {
	Account(ctx context.Context, accountID string) (accounts.Account, error)
}

// Domains looks up the identity under which an account may send from an address.
type Domains interface {
	Identity(ctx context.Context, accountID string, from address.Address) (domains.SigningIdentity, error)
}

// Suppression looks up suppressed recipients and creates unsubscribe links.
type Suppression interface {
	FindBlocks(ctx context.Context, tx db.Execer, list []suppression.MessageRecipient) ([]suppression.Block, error)
	// BlockingSQL and BlockingArg are FindBlocks as part of another statement.
	BlockingSQL() string
	BlockingArg(list []suppression.MessageRecipient) db.Argument
	Link(u suppression.Unsubscribe) string
}

// Templates renders published templates.
type Templates interface {
	Render(ctx context.Context, accountID string, ref templates.Ref,
		variables map[string]any) (templates.Rendered, error)
}

// Quota counts messages against the caps of their accounts.
type Quota interface {
	Consume(ctx context.Context, tx db.Execer, uses []accounts.EmailUsage) ([]error, error)
	Refund(ctx context.Context, tx db.Execer, uses []accounts.EmailUsage) error
	Move(ctx context.Context, tx db.Execer, accountID string, from, to time.Time) error
	IsCapped(ctx context.Context, accountID string) (bool, error)
}

// Storage counts the bytes that an account stores. Its errors are of kind Limit and Unavailable.
type Storage interface {
	Charge(ctx context.Context, accountID string, kind storage.DataKind, bytes int64) error
	Refund(ctx context.Context, accountID string, bytes int64)
}

// Records reads stored emails, to send them again.
type Records interface {
	Get(ctx context.Context, accountID, emailID string) (*ent.Email, error)
	LoadTexts(ctx context.Context, e *ent.Email) error
	ReadRelayed(ctx context.Context, accountID, emailID string) (*message.Message, error)
}

// Bus publishes facts inside a transaction and wakes their consumers after it.
type Bus interface {
	Publish(ctx context.Context, tx db.Execer, facts ...event.Fact) error
	PublishArgs(facts ...event.Fact) ([]db.Argument, error)
	Wake()
	WakeFor(facts ...event.Fact) // wakes the consumers of these facts
}

// Answers returns the stored response of a used idempotency key.
type Answers interface {
	Replay(ctx context.Context, claim *idempotency.Claim) (*idempotency.Response, error)
}

// Signals wakes the delivery processes after a commit.
type Signals interface {
	Wake(channel string)
}

// LinkChecker requests links and reports those that do not work.
type LinkChecker interface {
	Check(ctx context.Context, accountID string, links []lint.Link) []lint.Finding
}

// SpamFilter checks a message for spam.
type SpamFilter interface {
	Check(ctx context.Context, e rspamd.Envelope, raw io.ReaderAt, size int64) (rspamd.Verdict, error)
}

// Params are the dependencies of the service.
type Params struct {
	fx.In

	DB          *db.DB
	Bus         Bus
	Accounts    Accounts
	Domains     Domains
	Suppression Suppression
	Templates   Templates
	Quota       Quota
	Storage     Storage `optional:"true"` // nil: bytes are not counted
	Records     Records
	Idempotency Answers
	Signals     Signals
	Claimer     handover.Claimer      `optional:"true"` // nil: recipients are stored unclaimed
	Registry    prometheus.Registerer `optional:"true"`
	Tracing     *telemetry.Tracing    `optional:"true"`
	Links       LinkChecker           `optional:"true"` // nil: checks do not request links
	Spam        SpamFilter            `optional:"true"` // nil: checks have no spam score
}

// Service accepts messages, for immediate delivery or for a later time.
type Service struct {
	db          *db.DB
	bus         Bus
	accounts    Accounts
	domains     Domains
	suppression Suppression
	templates   Templates
	quota       Quota
	records     Records
	writer      *writer
	inspector   *inspector
}

// writer stores submissions, many in one commit.
type writer struct {
	db           *db.DB
	bus          Bus
	suppression  Suppression
	quota        Quota
	storage      Storage // nil: bytes are not counted
	answers      Answers
	signals      Signals
	claimer      handover.Claimer // nil: recipients are stored unclaimed
	storeOnceSQL *db.Statement
	lines        writerQueues
	busyKeys     busyKeys
	counters     acceptedEmails
	tracing      *telemetry.Tracing // nil: off
}

// writerQueues are the queues in which submissions wait for a commit. Large messages and batches have separate
// writers, so that other mail does not wait for an upload.
type writerQueues struct {
	single, heavy, batch *db.Joiner[*submission]
	apart                *db.Joiner[*submission] // one at a time: submissions that shared a commit with a busy key
}

// The approximate maximum size of one commit of accepted messages; a single batch may exceed it.
const (
	acceptBatch = 128
	acceptBytes = 16 << 20
	// One for each share of the memory for such work, so that an account that fills one share leaves the other
	// writers free.
	heavyWriters = 4
)

// HeavyFrom is the stored size in bytes from which a message counts as heavy.
const HeavyFrom = 1 << 20

// New returns a new Service, which accepts messages until Stop.
func New(p Params) (*Service, error) {
	counters, err := newAcceptedEmails(p.Registry)
	if err != nil {
		return nil, err
	}
	s := &Service{
		db: p.DB, bus: p.Bus, accounts: p.Accounts, domains: p.Domains, suppression: p.Suppression,
		templates: p.Templates, quota: p.Quota, records: p.Records,
		inspector: &inspector{suppression: p.Suppression, links: p.Links, spam: p.Spam},
		writer: &writer{db: p.DB, bus: p.Bus, suppression: p.Suppression, quota: p.Quota, storage: p.Storage,
			answers: p.Idempotency, signals: p.Signals, claimer: p.Claimer,
			storeOnceSQL: storeOnceSQL(p.Suppression), counters: counters, tracing: p.Tracing},
	}
	size := func(sub *submission) int { return sub.size }
	joiner := func(writers, items int) *db.Joiner[*submission] {
		return db.NewJoiner(db.JoinerConfig[*submission]{Writers: writers, MaxItems: items, MaxBytes: acceptBytes,
			Timeout: p.DB.FlushTime(), Size: size, Final: keyIsBusy}, s.writer.flushAccepts)
	}
	s.writer.lines = writerQueues{single: joiner(2, acceptBatch), heavy: joiner(heavyWriters, acceptBatch),
		batch: joiner(1, acceptBatch/MaxBatch+1), apart: joiner(4, 1)}
	return s, nil
}

// Stop stops accepting messages.
func (s *Service) Stop(context.Context) error {
	for _, line := range []*db.Joiner[*submission]{s.writer.lines.single, s.writer.lines.heavy, s.writer.lines.batch,
		s.writer.lines.apart} {
		line.Close()
	}
	return nil
}
