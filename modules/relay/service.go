package relay

import (
	"context"
	"crypto/sha256"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/sending"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/intake"
	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/web/idempotency"
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

// Params is what taking messages needs.
type Params struct {
	fx.In

	Config      Config
	Credentials *Credentials
	Sender      Sender
	Accounts    Accounts
	Rate        Rate
	Answers     Answers
	Budget      *intake.Budget // of messages that come in
	Logger      *slog.Logger
}

// Service takes messages from programs. Safe for concurrent use.
type Service struct {
	credentials *Credentials
	sender      Sender
	accounts    Accounts
	rate        Rate
	answers     Answers
	log         *slog.Logger
	guard       *guard
	budget      *intake.Budget
}

// New makes the service.
func New(p Params) (*Service, error) {
	if err := p.Config.Validate(); err != nil {
		return nil, err
	}
	if p.Budget == nil {
		return nil, errors.New("relay: a budget is needed")
	}
	config := p.Config.withDefaults()
	return &Service{credentials: p.Credentials, sender: p.Sender, accounts: p.Accounts, rate: p.Rate, answers: p.Answers, log: p.Logger,
		guard: newGuard(config.Failures, config.FailureTime), budget: p.Budget}, nil
}
