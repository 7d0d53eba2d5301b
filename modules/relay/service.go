package relay

import (
	"context"
	"crypto/sha256"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/maypok86/otter/v2"
	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/sending"
	"github.com/postrider/postrider/runtime/cache"
	"github.com/postrider/postrider/runtime/db"
	"github.com/postrider/postrider/runtime/fault"
	"github.com/postrider/postrider/runtime/idempotency"
	"github.com/postrider/postrider/runtime/intake"
	"github.com/postrider/postrider/runtime/lastuse"
	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/page"
	"github.com/postrider/postrider/runtime/worker"
)

// Username is the one that everybody signs in with, in any letter case.
const Username = "postrider"

// Config of the module; the zero value of a limit is its default.
type Config struct {
	// Host, Port and TLS say how programs reach the relay, for records.
	Host string
	Port int
	TLS  string // starttls, implicit
	// LastUsedEvery is the pace at which last_used_at is written: 30 s.
	LastUsedEvery time.Duration
	// Failures is how many wrong passwords an address may give in FailureTime before it
	// has to wait: 20 in 10 minutes.
	Failures    int
	FailureTime time.Duration
}

func (c Config) withDefaults() Config {
	if c.LastUsedEvery == 0 {
		c.LastUsedEvery = 30 * time.Second
	}
	if c.Failures == 0 {
		c.Failures = 20
	}
	if c.FailureTime == 0 {
		c.FailureTime = 10 * time.Minute
	}
	return c
}

// Validate reports every setting that cannot work.
func (c Config) Validate() error {
	wrong := fault.Fields{}
	if c.LastUsedEvery < 0 {
		wrong.Add("last_used_every", "must be positive")
	}
	if c.Failures < 0 || c.FailureTime < 0 {
		wrong.Add("failures", "must be positive")
	}
	return wrong.Err()
}

// Sender accepts messages.
type Sender interface {
	Send(ctx context.Context, caller accounts.Caller, r sending.Request) (sending.Receipt, error)
	MaySend(ctx context.Context, caller accounts.Caller, from address.Address) error
}

// Accounts tells what an account may do, and whose an API key is.
type Accounts interface {
	AuthenticateHash(ctx context.Context, hash [sha256.Size]byte) (accounts.Caller, error)
	Account(ctx context.Context, accountID string) (accounts.Account, error)
}

// Rate counts one message of an account, as one request.
type Rate interface {
	Admit(ctx context.Context, account accounts.Account, header http.Header) error
}

// Answers remembers what was answered under an idempotency key.
type Answers interface {
	Begin(ctx context.Context, accountID, operation, key string, canonicalBody []byte) (*idempotency.Claim, *idempotency.Answer, error)
}

// Signals tells other processes of revocations.
type Signals interface {
	Wake(channel string)
	Subscribe(channel string) (<-chan struct{}, func())
}

// revokedChannel is woken when a credential was revoked.
const revokedChannel = "smtp credential revoked"

// Params is what the module needs.
type Params struct {
	fx.In

	Config   Config
	DB       *db.DB
	Sender   Sender
	Accounts Accounts
	Rate     Rate
	Answers  Answers
	Signals  Signals
	Budget   *intake.Budget // of messages that come in
	Cursors  *page.Codec
	Logger   *slog.Logger
	Workers  *worker.Metrics `optional:"true"`
}

// Service answers for credentials and takes messages. Safe for concurrent use.
type Service struct {
	config   Config
	db       *db.DB
	sender   Sender
	accounts Accounts
	rate     Rate
	answers  Answers
	signals  Signals
	cursors  *page.Codec
	log      *slog.Logger

	known  cache.Cache[passwordHash, credential]
	used   *lastuse.Recorder
	guard  *guard
	budget *intake.Budget

	tasks *worker.Tasks
	once  sync.Once
}

// New makes the service; Start runs its background work.
func New(p Params) (*Service, error) {
	if err := p.Config.Validate(); err != nil {
		return nil, err
	}
	if p.Budget == nil {
		return nil, errors.New("relay: a budget is needed")
	}
	config := p.Config.withDefaults()
	known, err := otter.New(&otter.Options[passwordHash, credential]{MaximumSize: 10_000,
		ExpiryCalculator: otter.ExpiryWritingFunc(func(e otter.Entry[passwordHash, credential]) time.Duration {
			return max(believedFor-time.Since(e.Value.askedAt), time.Nanosecond)
		})})
	if err != nil {
		return nil, err
	}
	return &Service{config: config, db: p.DB, used: lastuse.New(p.DB.SQL, "smtp_credentials"), sender: p.Sender, accounts: p.Accounts, rate: p.Rate, answers: p.Answers, signals: p.Signals,
		cursors: p.Cursors, log: p.Logger, known: known, guard: newGuard(config.Failures, config.FailureTime), budget: p.Budget,
		tasks: worker.NewTasks(p.Logger, p.Workers)}, nil
}

// Start begins to write last_used_at and to hear of revocations elsewhere.
func (s *Service) Start(context.Context) error {
	s.tasks.Start(
		worker.Every("last use of SMTP credentials", s.config.LastUsedEvery, s.used.Flush),
		worker.OnWake("revoked SMTP credentials", s.signals, revokedChannel, func(context.Context) error {
			s.known.InvalidateAll()
			return nil
		}),
	)
	return nil
}

// Stop writes what is left of last_used_at. Listeners have ended by then.
func (s *Service) Stop(ctx context.Context) error {
	var err error
	s.once.Do(func() {
		s.tasks.Stop(ctx)
		s.known.StopAllGoroutines()
		err = s.used.Flush(ctx)
	})
	return err
}
