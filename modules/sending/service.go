package sending

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/domains"
	"github.com/postrider/postrider/modules/outbound"
	"github.com/postrider/postrider/modules/suppression"
	"github.com/postrider/postrider/modules/templates"
	"github.com/postrider/postrider/modules/tracking"
	"github.com/postrider/postrider/runtime/db"
	"github.com/postrider/postrider/runtime/event"
	"github.com/postrider/postrider/runtime/idempotency"
	"github.com/postrider/postrider/runtime/intake"
	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/mail/lane"
	"github.com/postrider/postrider/runtime/mail/returnpath"
	"github.com/postrider/postrider/runtime/mail/smtpclient"
	"github.com/postrider/postrider/runtime/node"
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

// Suppression tells who must not be written to, and makes the links that recipients
// unsubscribe with.
type Suppression interface {
	Blocked(ctx context.Context, tx db.Execer, list []suppression.Address) ([]suppression.Block, error)
	// BlockedSQL and BlockedArgs are Blocked as a part of another statement.
	BlockedSQL(first int) (text string, next int)
	BlockedArgs(list []suppression.Address) []any
	Link(u suppression.Unsubscribe) string
}

// Templates fills the gaps of a published template.
type Templates interface {
	Render(ctx context.Context, accountID string, ref templates.Ref, variables map[string]any) (templates.Rendered, error)
}

// Quota counts messages against the caps of their accounts.
type Quota interface {
	Consume(ctx context.Context, tx db.Execer, uses []accounts.Use) ([]error, error)
	Refund(ctx context.Context, tx db.Execer, uses []accounts.Use) error
	CheckCaps(ctx context.Context, accountID string) error
	Capped(ctx context.Context, accountID string) (bool, error)
}

// Rewriter makes bodies trackable.
type Rewriter interface {
	Rewrite(ctx context.Context, m tracking.Message, html, text string) (newHTML, newText string, err error)
}

// Bus publishes facts inside a transaction and wakes their consumers after it.
type Bus interface {
	Publish(ctx context.Context, tx db.Execer, facts ...event.Fact) error
	InsertArgs(facts ...event.Fact) ([]any, error)
	Wake()
	WakeFor(facts ...event.Fact) // Wake, where somebody wants one of them
	// Forget and Rewrite are for what is deleted by age, or erased.
	Forget(ctx context.Context, tx db.Execer, accountID string, subjectIDs ...string) (int64, error)
	Rewrite(ctx context.Context, tx db.Execer, accountID string, subjectIDs []string, edit func(event.Fact) (json.RawMessage, error)) error
}

// Timeline reads the facts of subjects of one account, oldest first.
type Timeline interface {
	Facts(ctx context.Context, accountID string, subjectIDs ...string) (map[string][]event.Fact, error)
}

// Answers gives the stored answer of a used idempotency key.
type Answers interface {
	Replay(ctx context.Context, claim *idempotency.Claim) (*idempotency.Answer, error)
}

// Ways tells by which way messages leave.
type Ways interface {
	Choose(ctx context.Context, questions []outbound.Question) ([]smtpclient.Way, error)
	Return(labels []string) // chosen, and not begun
	Count(ctx context.Context, tx db.Execer, labels []string) error
	HasFallback(accountID, domainID string) bool
}

// Transport makes one attempt to hand a message to a receiving server. It asks
// beforeFinalDot right before the message would become the receiver's.
type Transport interface {
	Deliver(ctx context.Context, e smtpclient.Envelope, msg []byte, beforeFinalDot func() error) smtpclient.Outcome
}

// Node is this process among those that share the database.
type Node interface {
	worker.Process
	ID() int32        // 0: none
	Until() time.Time // by the database clock, for claims; zero: any time
	OnGone(what string, f node.HandBack)
}

// Signals wakes the delivering processes after a commit.
type Signals interface {
	Wake(channel string)
	Subscribe(channel string) (<-chan struct{}, func())
}

// deliveryChannel is woken when recipients became due.
const deliveryChannel = "delivery"

// Params is what the module needs.
type Params struct {
	fx.In

	Config      Config
	DB          *db.DB
	Bus         Bus
	Timeline    Timeline
	Accounts    Accounts
	Domains     Domains
	Suppression Suppression
	Templates   Templates
	Quota       Quota
	Rewriter    Rewriter // nil: tracking is off
	Idempotency Answers
	Ways        Ways
	Lanes       *lane.Registry
	Transport   Transport
	ReturnPaths *returnpath.Signer
	Budget      *intake.Budget // of heavy messages on their way, and of relayed ones that are read
	Signals     Signals
	Node        Node `optional:"true"` // nil: a process that knows of no others
	Pages       *page.Codec
	Logger      *slog.Logger
	Workers     *worker.Metrics
}

// New makes the service; nothing runs before Start.
func New(p Params) (*Service, error) {
	if err := p.Config.Validate(); err != nil {
		return nil, err
	}
	if p.Node == nil {
		p.Node = node.None{}
	}
	if p.Budget == nil {
		return nil, errors.New("sending: a budget is needed")
	}
	s := &Service{
		node: p.Node, db: p.DB, bus: p.Bus, timeline: p.Timeline, accounts: p.Accounts, domains: p.Domains,
		suppression: p.Suppression, templates: p.Templates, quota: p.Quota, rewriter: p.Rewriter,
		idempotency: p.Idempotency, ways: p.Ways, lanes: p.Lanes, transport: p.Transport, returnPaths: p.ReturnPaths, budget: p.Budget, signals: p.Signals, pages: p.Pages, logger: p.Logger,
		acceptOnly:   p.Config.Concurrency == 0,
		storeOnceSQL: storeOnceSQL(p.Suppression),
		load:         heavyLoad{most: max(1, p.Config.Concurrency/4)},
	}
	size := func(sub *submission) int { return sub.size }
	joiner := func(writers, items int) *db.Joiner[*submission] {
		return db.NewJoiner(db.JoinerConfig[*submission]{Writers: writers, MaxItems: items, MaxBytes: acceptBytes, Size: size, Final: keyIsBusy}, s.flushAccepts)
	}
	s.accepts, s.heavyAccepts, s.batchAccepts = joiner(2, acceptBatch), joiner(heavyWriters, acceptBatch), joiner(1, acceptBatch/MaxBatch+1)
	s.apartAccepts = joiner(4, 1)
	s.begun.store = s.storeBegun
	p.Node.OnGone("deliveries", s.handBackOf)
	s.deliveries = worker.New(worker.Queue[delivery, smtpclient.Outcome]{
		Name: "delivery", Claim: s.claim, Run: s.deliver, Settle: s.settle, Extend: s.extend, Release: s.release,
	}, worker.Config{
		// The lanes let in no more than this: those with a connection, and half as many that
		// wait for one.
		Concurrency: p.Config.Concurrency + (p.Config.Concurrency+1)/2, Batch: p.Config.ClaimBatch, Lease: p.Config.Lease, Poll: p.Config.Poll, Process: p.Node,
	}, p.Logger, p.Workers)
	p.Lanes.OnRoom(func() {
		if !s.parking.empty() {
			s.deliveries.Nudge()
		}
	})
	return s, nil
}

// What one commit of accepted messages holds at most, but for a batch or two.
const (
	acceptBatch = 128
	acceptBytes = 16 << 20
	// As many as there are shares of the memory for such work: who fills one of them
	// keeps no writer from others.
	heavyWriters = 4
)

// Start begins to deliver, unless this process only accepts.
func (s *Service) Start(ctx context.Context) error {
	if s.acceptOnly {
		s.logger.InfoContext(ctx, "this process accepts mail and neither releases nor delivers it: delivery concurrency is 0")
		return nil
	}
	if err := s.deliveries.Start(ctx); err != nil {
		return err
	}
	s.releases = s.startReleasing(ctx)
	woken, unsubscribe := s.signals.Subscribe(deliveryChannel)
	done := make(chan struct{})
	s.stopNudging = func() { unsubscribe(); close(done) }
	go func() {
		for {
			select {
			case <-woken:
				s.deliveries.Nudge()
			case <-done:
				return
			}
		}
	}()
	return nil
}

// Stop accepts nothing more, and lets deliveries that have begun end until ctx does.
func (s *Service) Stop(ctx context.Context) error {
	s.accepts.Close()
	s.heavyAccepts.Close()
	s.batchAccepts.Close()
	s.apartAccepts.Close()
	if s.stopNudging != nil {
		s.stopNudging()
	}
	if s.releases != nil {
		s.releases.stop(ctx)
	}
	err := s.deliveries.Stop(ctx)
	if err == nil && s.begun.shown() { // else somebody has to find out what became of the rest
		err = s.forgetBegun(ctx, s.node.ID())
	}
	return err
}

// Service accepts, delivers and tells of messages.
type Service struct {
	db           *db.DB
	bus          Bus
	timeline     Timeline
	accounts     Accounts
	domains      Domains
	suppression  Suppression
	templates    Templates
	quota        Quota
	rewriter     Rewriter
	idempotency  Answers
	ways         Ways
	lanes        *lane.Registry
	parking      parking
	transport    Transport
	returnPaths  *returnpath.Signer
	signals      Signals
	node         Node
	begun        begun // of what was claimed ahead
	pages        *page.Codec
	logger       *slog.Logger
	acceptOnly   bool
	storeOnceSQL string
	stopNudging  func()
	accepts      *db.Joiner[*submission]
	// Large messages and batches have writers of their own: nobody's mail waits for
	// somebody's upload.
	heavyAccepts *db.Joiner[*submission]
	batchAccepts *db.Joiner[*submission]
	// Submissions that shared a batch with a busy key are stored one by one.
	apartAccepts *db.Joiner[*submission]
	busyKeys     busyKeys
	budget       *intake.Budget
	load         heavyLoad
	deliveries   *worker.Worker[delivery, smtpclient.Outcome]
	releases     *releaser // of scheduled emails; nil before Start and where mail is only accepted
}
