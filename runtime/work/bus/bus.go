package bus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/work/event"
)

// Channel is the notification channel that wakes idle groups.
const Channel = "postrider_bus"

// Signals wakes other goroutines and processes on the same database, as *db.Signals does.
type Signals interface {
	// Wake soon wakes all subscribers of the channel; many calls may share one signal.
	Wake(channel string)
	// Subscribe returns a channel that receives after each signal, and a function that unsubscribes.
	Subscribe(channel string) (woken <-chan struct{}, unsubscribe func())
}

var _ Signals = (*db.Signals)(nil)

// Consumer declares which facts a group wants.
type Consumer struct {
	Group  string       // the module's name
	Types  []event.Type // the wanted types
	Handle Handler
	// HandleAll, if set, does in one call what Handle does for each of the facts; without it the bus calls
	// Handle for each fact in the same savepoint. The bus calls HandleAll with those facts of a batch that
	// never failed, in the order of publication, if there are at least two. If it fails, its writes are
	// undone and Handle gets the facts one by one.
	HandleAll BatchHandler
	// Batch is the number of messages handled in one transaction, for a group whose HandleAll is cheaper for more of
	// them; default Options.Batch.
	Batch int
	// Wants, if set, restricts the facts to some accounts. It is called at each Publish and answers from
	// memory, which may be some seconds old: the catch-up finds the facts that Wants missed.
	Wants func(accountID string) bool
	// Refresh reloads the data of Wants. Afterwards the data includes everything committed before the call.
	// It is required with Wants.
	Refresh func(ctx context.Context) error
	// Begun, if set, is called when a batch begins. What Handle wrote in an earlier batch for which Committed was
	// not called has no effect, or an unknown one if the connection was lost. It may wait briefly, and so delay the
	// messages of its group.
	Begun func()
	// Committed, if set, is called after the commit of a batch in which at least one message was handled,
	// when the writes of Handle are visible to others. It must not block.
	Committed func()
}

// Handler turns a fact into rows. The package comment describes its limits.
type Handler func(ctx context.Context, tx db.Execer, fact event.Fact) error

// BatchHandler turns facts into rows, in one call. It must have the same effect as calling Handle for each
// of the facts.
type BatchHandler func(ctx context.Context, tx db.Execer, facts []event.Fact) error

// Options configure a bus. Zero fields use the default.
type Options struct {
	Signals    Signals               // if nil, messages are found only by polling
	Registerer prometheus.Registerer // nil: metrics are not registered
	Workers    *worker.Metrics       // of the tasks; may be nil
	Batch      int                   // messages handled in one transaction; default 50
	// messages that a batch has not started within this time are left to the next; default 1 s
	BatchTime      time.Duration
	HandlerTimeout time.Duration  // default 5 s; less than the server's idle_in_transaction_session_timeout
	Poll           time.Duration  // interval of polling for messages of idle groups; default 5 s
	CatchUp        time.Duration  // interval of searching for facts without a message; default 5 s
	Retry          worker.Backoff // pauses after failures of a handler; default 5 s to 5 min
	PoisonAfter    int            // failures after which a message is set aside; default 5
}

func (o Options) withDefaults() Options {
	if o.Batch == 0 {
		o.Batch = 50
	}
	if o.BatchTime == 0 {
		o.BatchTime = time.Second // handled messages wait this long for their commit, with an open transaction
	}
	if o.HandlerTimeout == 0 {
		o.HandlerTimeout = 5 * time.Second
	}
	if o.Poll == 0 {
		o.Poll = 5 * time.Second
	}
	if o.CatchUp == 0 {
		o.CatchUp = 5 * time.Second
	}
	if o.Retry == (worker.Backoff{}) {
		o.Retry = worker.Backoff{Min: 5 * time.Second, Max: 5 * time.Minute}
	}
	if o.PoisonAfter == 0 {
		o.PoisonAfter = 5
	}
	if o.Signals == nil {
		o.Signals = noSignals{}
	}
	return o
}

// Bus publishes facts and delivers them to consumers.
type Bus struct {
	db      *db.DB
	log     *slog.Logger
	options Options
	metrics metrics

	consumers []Consumer
	audience  audience

	mu       sync.Mutex
	state    state
	stopping chan struct{}
	done     chan struct{}
	cancel   context.CancelFunc
	tasks    *worker.Tasks // the poll, and the catch-up of each group
}

type state int

const (
	registering state = iota
	running
	stopped
)

// New returns a new Bus without consumers.
func New(d *db.DB, log *slog.Logger, options Options) *Bus {
	options = options.withDefaults()
	return &Bus{db: d, log: log, options: options, metrics: newMetrics(options.Registerer), audience: audience{},
		stopping: make(chan struct{}), done: make(chan struct{}), cancel: func() {},
		tasks: worker.NewTasks(log, options.Workers)}
}

// Register adds a consumer. Call it before Start and before the first Publish. It panics if the consumer is
// invalid.
func (b *Bus) Register(c Consumer) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.state != registering:
		panic(fmt.Sprintf("bus: consumer %q registered after the start", c.Group))
	case c.Group == "" || len(c.Types) == 0 || c.Handle == nil:
		panic(fmt.Sprintf("bus: consumer %q requires a group, types and a handler", c.Group))
	case c.Wants != nil && c.Refresh == nil:
		panic(fmt.Sprintf("bus: consumer %q has Wants without Refresh", c.Group))
	case slices.ContainsFunc(b.consumers, func(other Consumer) bool { return other.Group == c.Group }):
		panic(fmt.Sprintf("bus: consumer %q registered twice", c.Group))
	}
	b.consumers = append(b.consumers, c)
	for _, typ := range c.Types {
		if !slices.ContainsFunc(b.audience[typ], func(l listener) bool { return l.group == c.Group }) {
			b.audience[typ] = append(b.audience[typ], listener{c.Group, c.Wants})
		}
	}
}

// Start starts delivering messages until Stop. ctx limits only the start itself.
func (b *Bus) Start(ctx context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.state != registering {
		return errors.New("start bus: it was already started or stopped")
	}
	if err := b.createMarks(ctx); err != nil {
		return fmt.Errorf("start bus: %w", err)
	}
	b.state = running
	run, cancel := context.WithCancel(context.WithoutCancel(ctx))
	b.cancel = cancel
	var groups sync.WaitGroup
	var polled []*group
	var failed error
	for _, c := range b.consumers {
		g := newGroup(b, c)
		if err := g.subscribe(run); err != nil {
			failed = fmt.Errorf("start bus: subscribe %s: %w", c.Group, err)
			break
		}
		groups.Go(g.deliverMessages)
		b.tasks.Start(g.catchUp())
		polled = append(polled, g)
	}
	if len(polled) > 0 {
		b.tasks.Start(b.pollTask(polled))
	}
	go func() {
		defer close(b.done)
		<-b.stopping
		b.tasks.Stop(run)
		groups.Wait()
		cancel()
	}()
	if failed != nil {
		b.state = stopped
		close(b.stopping)
	}
	return failed
}

// Stop stops the delivery. Running handlers finish, and their results are stored. If ctx ends first, their
// transactions are rolled back and the messages are kept for the next start.
func (b *Bus) Stop(ctx context.Context) error {
	b.mu.Lock()
	before := b.state
	b.state = stopped
	b.mu.Unlock()
	switch before {
	case registering:
		close(b.done)
	case running:
		close(b.stopping)
	}
	select {
	case <-b.done:
		return nil
	case <-ctx.Done():
		b.cancel()
		return fmt.Errorf("stop bus: handlers still ran: %w", ctx.Err())
	}
}

// Wake notifies the groups of all replicas that messages were committed. Call it after the commit. Calls are
// cheap and merged.
func (b *Bus) Wake() {
	if len(b.consumers) > 0 {
		b.options.Signals.Wake(Channel)
	}
}

// WakeFor is Wake, unless no group wants any of the facts. Most mail is accepted and delivered without any
// consumer.
func (b *Bus) WakeFor(facts ...event.Fact) {
	for _, f := range facts {
		if b.audience.isWanted(f.AccountID, f.Type) {
			b.Wake()
			return
		}
	}
}

// audience lists the listeners for each type of fact.
type audience map[event.Type][]listener

type listener struct {
	group string
	wants func(accountID string) bool // nil: of all accounts
}

// interestedGroups returns the groups that want a fact.
func (a audience) interestedGroups(accountID string, typ event.Type) (names []string) {
	for _, l := range a[typ] {
		if l.wants == nil || l.wants(accountID) {
			names = append(names, l.group)
		}
	}
	return names
}

// wantedMessages returns the messages for the groups that want the facts.
func (a audience) wantedMessages(facts message.Messages) (list []groupMessage) {
	for _, m := range facts {
		for _, group := range a.interestedGroups(m.Metadata[metaAccount], event.Type(m.Metadata[metaType])) {
			list = append(list, groupMessage{group, m.UUID})
		}
	}
	return list
}

func (a audience) isWanted(accountID string, typ event.Type) bool {
	return len(a.interestedGroups(accountID, typ)) > 0
}

// noSignals is used if there are no signals.
type noSignals struct{}

func (noSignals) Wake(string) {}

func (noSignals) Subscribe(string) (<-chan struct{}, func()) { return nil, func() {} }
