package delivery

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/outbound"
	"github.com/postrider/postrider/modules/sending/compose"
	"github.com/postrider/postrider/modules/sending/lifecycle"
	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/mail/bounce"
	"github.com/postrider/postrider/runtime/mail/lane"
	"github.com/postrider/postrider/runtime/mail/returnpath"
	"github.com/postrider/postrider/runtime/mail/smtpclient"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/work/event"
	"github.com/postrider/postrider/runtime/work/node"
)

// Accounts looks up accounts and whether they are suspended.
type Accounts interface {
	Account(ctx context.Context, accountID string) (accounts.Account, error)
}

// Composer composes and signs messages.
type Composer interface {
	Sign(ctx context.Context, e *compose.StoredEmail) (msg compose.SignedMessage, done func(), err error)
}

// Bus publishes facts inside a transaction and wakes their consumers after it.
type Bus interface {
	Publish(ctx context.Context, tx db.Execer, facts ...event.Fact) error
	PublishArgs(facts ...event.Fact) ([]db.Argument, error)
	WakeFor(facts ...event.Fact) // only where a consumer wants one of them
}

// Ways chooses by which way messages leave.
type Ways interface {
	Choose(ctx context.Context, questions []outbound.Question) ([]smtpclient.Way, error)
	Return(labels []string) // chosen, but not used
	RoutingOf(label string) outbound.Routing
	GainedWays() <-chan struct{} // receives when mail parked for other processes may now be deliverable here
	Count(ctx context.Context, tx db.Execer, labels []string) error
	IsCounted(label string) bool // whether Count stores anything for a way
	HasFallback(accountID, domainID string) bool
}

// Transport makes one attempt to hand a message to a receiving server. It calls beforeFinalDot right before
// the message would pass to the receiver.
type Transport interface {
	Deliver(ctx context.Context, e smtpclient.Envelope, msg []byte, beforeFinalDot func() error) smtpclient.Outcome
}

// Node is this process among those that share the database.
type Node interface {
	worker.Process
	ID() int32              // 0: no node
	ClaimsUntil() time.Time // by the database clock, for claims; zero: no limit
	OnDead(what string, f node.ReleaseFunc)
}

// Signals wakes the delivering processes after a commit.
type Signals interface {
	Wake(channel string)
	Subscribe(channel string) (<-chan struct{}, func())
}

// Params are the dependencies of the service.
type Params struct {
	fx.In

	Config      Config
	DB          *db.DB
	Bus         Bus
	Accounts    Accounts
	Composer    Composer
	Ways        Ways
	Lanes       *lane.Registry
	Transport   Transport
	ReturnPaths *returnpath.Signer
	Signals     Signals
	Node        Node `optional:"true"` // nil: this process knows of no others
	Logger      *slog.Logger
	Workers     *worker.Metrics
	Registry    prometheus.Registerer `optional:"true"`
	Tracing     *telemetry.Tracing    `optional:"true"`
}

// Service claims due recipients and delivers to them.
type Service struct {
	claimer     *claimer
	composer    Composer
	settler     *settler
	transport   Transport
	returnPaths *returnpath.Signer
	signals     Signals
	idle        bool // this process delivers nothing
	worker      *worker.Worker[Job, smtpclient.Outcome]
	tasks       *worker.Tasks // react to due mail, and to mail that others parked for this process
	observed
}

// observed is where attempts are logged and traced.
type observed struct {
	logger  *slog.Logger
	tracing *telemetry.Tracing // nil: off
}

// claimer claims recipients from the queue and returns them to it.
type claimer struct {
	db        *db.DB
	accounts  Accounts
	ways      Ways
	lanes     *lane.Registry
	node      Node
	signals   Signals
	parking   *parking
	unseen    *unseen
	abandoned abandonedClaims
	begun     *begunAttempts // for deliveries claimed ahead
	load      heavyLoad
	nudge     func() // makes the worker claim again
}

// settler stores the outcomes of attempts.
type settler struct {
	db      *db.DB
	bus     Bus
	ways    Ways
	parking *parking
	begun   *begunAttempts
	results results
	nudge   func() // makes the worker claim again
}

const (
	claimBatch = 100 // recipients taken at a time
	// claimLease is how long a claim holds without a sign of life; it is extended while a delivery runs. If a
	// process is killed, its messages wait this long for another process.
	claimLease = 12 * time.Second
	claimPoll  = time.Second // how long due work may go unnoticed when a wake-up is lost
)

// New returns a new Service, which does nothing before Start.
func New(p Params) (*Service, error) {
	if err := p.Config.Validate(); err != nil {
		return nil, err
	}
	if p.Node == nil {
		p.Node = node.None{}
	}
	counters, err := newResults(p.Registry)
	if err != nil {
		return nil, err
	}
	parked, begun := &parking{}, newBegunAttempts(p.DB, p.Node)
	s := &Service{
		claimer: &claimer{db: p.DB, accounts: p.Accounts, ways: p.Ways, lanes: p.Lanes, node: p.Node,
			signals: p.Signals, parking: parked, unseen: newUnseen(), begun: begun,
			load: newHeavyLoad(max(1, p.Config.Concurrency/4))},
		composer:  p.Composer,
		settler:   &settler{db: p.DB, bus: p.Bus, ways: p.Ways, parking: parked, begun: begun, results: counters},
		transport: p.Transport, returnPaths: p.ReturnPaths, signals: p.Signals, idle: p.Config.Concurrency == 0,
		tasks: worker.NewTasks(p.Logger, p.Workers), observed: observed{p.Logger, p.Tracing},
	}
	p.Node.OnDead("deliveries", s.claimer.handBackClaimsOf)
	s.worker = worker.New(s.Work(), worker.Config{
		// The lanes admit no more than this: deliveries with a connection, and half as many that wait for
		// one.
		Concurrency: p.Config.Concurrency + (p.Config.Concurrency+1)/2, Batch: claimBatch, Lease: claimLease,
		Poll: claimPoll, Process: p.Node,
	}, p.Logger, p.Workers)
	s.claimer.nudge, s.settler.nudge = s.worker.Nudge, s.worker.Nudge
	p.Lanes.OnRoom(s.worker.Nudge) // also while nothing is parked: a claim may be about to park a row that had no room
	return s, nil
}

// LaneState is a lane at one moment.
type LaneState = lane.Snapshot

// Lanes returns the lanes of this process, by name and way. Server replies have personal names removed,
// because the operator of the installation reads them.
func (s *Service) Lanes() []LaneState {
	list := s.claimer.lanes.Snapshot()
	for i := range list {
		list[i].Reason = bounce.RedactRecipient(list[i].Reason)
	}
	slices.SortFunc(list, func(a, b lane.Snapshot) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Way, b.Way))
	})
	return list
}

// Work returns the queue operations on due recipients. The service's own worker runs them between Start and
// Stop.
func (s *Service) Work() worker.Queue[Job, smtpclient.Outcome] {
	return worker.Queue[Job, smtpclient.Outcome]{
		Name: "delivery", Claim: s.claimer.claimJobs, Run: s.deliver, Settle: s.settler.settleResults,
		Extend: s.claimer.extendLeases, Release: s.claimer.releaseJobs,
	}
}

// Start starts delivering, unless this process only accepts mail.
func (s *Service) Start(ctx context.Context) error {
	if s.idle {
		s.logger.InfoContext(ctx, "delivery disabled: this process only accepts mail because delivery_concurrency is 0")
		return nil
	}
	if err := s.worker.Start(ctx); err != nil {
		return err
	}
	s.tasks.Start(worker.OnWake("wakes of deliveries", s.signals, lifecycle.DueChannel, func(context.Context) error {
		s.worker.Nudge()
		return nil
	}))
	s.tasks.Start(worker.OnWake("wakes of recipients parked for other processes", s.signals, parkedChannel,
		func(context.Context) error {
			s.claimer.searchSoon()
			return nil
		}))
	s.tasks.Start(worker.Task{Name: "wakes of ways that others had", First: worker.UntilWoken,
		Woken: s.claimer.ways.GainedWays(), Step: func(context.Context) (time.Duration, error) {
			s.claimer.searchSoon()
			return worker.UntilWoken, nil
		}})
	return nil
}

// Stop stops claiming, and lets running deliveries finish until ctx ends.
func (s *Service) Stop(ctx context.Context) error {
	s.tasks.Stop(ctx)
	err := s.worker.Stop(ctx)
	// otherwise another process has to determine the outcomes of the rest
	if err == nil && s.claimer.begun.hasStoredState() {
		err = s.claimer.begun.forgetNode(ctx, s.claimer.node.ID())
	}
	return err
}
