package sending

import (
	"context"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/domains"
	"github.com/postrider/postrider/runtime/db"
	"github.com/postrider/postrider/runtime/event"
	"github.com/postrider/postrider/runtime/idempotency"
	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/mail/smtpclient"
	"github.com/postrider/postrider/runtime/page"
	"github.com/postrider/postrider/runtime/worker"
)

// Request is one POST /emails, or its like from another edge.
type Request struct {
	Message Message
	// Claim is the caller's idempotency key; nil without one.
	Claim *idempotency.Claim
	// Render gives the bytes of the answer that are stored under the Claim.
	// It is called only with a Claim.
	Render func(Receipt) idempotency.Answer
}

// Receipt says that a message was stored durably.
type Receipt struct {
	ID     string // msg_…
	Status string // sent, scheduled, failed
	// Replay is set when an earlier request with the same key has won: its
	// stored answer stands and nothing was sent for this one.
	Replay *idempotency.Answer
}

// Accounts tells who an account is and what its plan allows.
type Accounts interface {
	Account(ctx context.Context, accountID string) (accounts.Account, error)
}

// Domains tells under which identity an account may write as an address.
type Domains interface {
	Identity(ctx context.Context, accountID string, from address.Address) (domains.Identity, error)
}

// Bus publishes facts inside a transaction and wakes their consumers after it.
type Bus interface {
	Publish(ctx context.Context, tx db.Execer, facts ...event.Fact) error
	Wake()
}

// Timeline reads the facts of subjects of one account, oldest first.
type Timeline interface {
	Facts(ctx context.Context, accountID string, subjectIDs ...string) (map[string][]event.Fact, error)
}

// Answers gives the stored answer of a used idempotency key.
type Answers interface {
	Replay(ctx context.Context, claim *idempotency.Claim) (*idempotency.Answer, error)
}

// Transport makes one attempt to hand a message to a receiving server. It asks
// beforeFinalDot right before the message would become the receiver's.
type Transport interface {
	Deliver(ctx context.Context, e smtpclient.Envelope, msg []byte, beforeFinalDot func() error) smtpclient.Outcome
}

// Params is what the module needs.
type Params struct {
	Config      Config
	DB          *db.DB
	Bus         Bus
	Timeline    Timeline
	Accounts    Accounts
	Domains     Domains
	Idempotency Answers
	Transport   Transport
	Pages       *page.Codec
	Logger      *slog.Logger
	Metrics     prometheus.Registerer
}

// Service accepts, delivers and tells of messages.
type Service struct {
	db          *db.DB
	bus         Bus
	timeline    Timeline
	accounts    Accounts
	domains     Domains
	idempotency Answers
	transport   Transport
	pages       *page.Codec
	logger      *slog.Logger
	accepts     *db.Joiner[*acceptance]
	deliveries  *worker.Worker[delivery, smtpclient.Outcome]
}
