package relay

import (
	"context"
	"crypto/sha256"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/sending"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/intake"
	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/web/idempotency"
)

// Username is the user name shown with every credential. The relay accepts any other user name as well.
const Username = "postrider"

// A client address must wait after maxFailures wrong passwords within failureTime.
const (
	maxFailures = 20
	failureTime = 10 * time.Minute
)

// lastUsedInterval is the interval at which last_used_at is written.
const lastUsedInterval = 30 * time.Second

// Config configures the module.
type Config struct {
	// Host, Port and TLS describe how programs reach the relay, for display.
	Host string
	Port int
	TLS  string // starttls or implicit
}

// Sender accepts messages.
type Sender interface {
	Send(ctx context.Context, caller accounts.Caller, r sending.Request) (sending.Receipt, error)
	MaySend(ctx context.Context, caller accounts.Caller, from address.Address) error
}

// Accounts checks what an account may do and looks up API keys.
type Accounts interface {
	AuthenticateHash(ctx context.Context, hash [sha256.Size]byte, from netip.Addr) (accounts.Caller, error)
	Account(ctx context.Context, accountID string) (accounts.Account, error)
	CheckMode(wrong fault.Fields, mode string)
}

// Rate counts one message of an account as one request.
type Rate interface {
	Admit(ctx context.Context, account accounts.Account, header http.Header) error
}

// Answers stores responses by idempotency key.
type Answers interface {
	Begin(ctx context.Context, accountID, operation, key string,
		canonicalBody []byte) (*idempotency.Claim, *idempotency.Response, error)
}

// Params contains the parameters of New.
type Params struct {
	fx.In

	Credentials *Credentials
	Sender      Sender
	Accounts    Accounts
	Rate        Rate
	Answers     Answers
	Budget      *intake.Budget // for incoming messages
	Logger      *slog.Logger
}

// Service accepts messages from programs. It is safe for concurrent use.
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

// New returns a new Service.
func New(p Params) (*Service, error) {
	if p.Budget == nil {
		return nil, errors.New("relay: Budget is required")
	}
	return &Service{credentials: p.Credentials, sender: p.Sender, accounts: p.Accounts, rate: p.Rate,
		answers: p.Answers, log: p.Logger,
		guard: newGuard(maxFailures, failureTime), budget: p.Budget}, nil
}
