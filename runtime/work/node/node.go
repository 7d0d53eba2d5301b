package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/work/hold"
	"github.com/postrider/postrider/runtime/work/node/machine"
)

// Pause is how long nothing is claimed after an outage: a process offers its results
// again after worker.RetryMax at the latest, and has a second to store them.
const Pause = worker.RetryMax + time.Second

// Gone is how old the last beat of a process is whose claims are handed back although no
// other process has its name.
const Gone = 6 * time.Second

// The roles of a process.
const (
	Accepts  = "accepts"
	Delivers = "delivers"
	Webhooks = "webhooks"
)

// times are what tests make shorter.
type times struct {
	every    time.Duration // between two beats
	again    time.Duration // after one that failed
	silent   time.Duration // without a beat for so long a process claims nothing
	holds    time.Duration // nor does anything irreversible after so long
	gone     time.Duration
	pause    time.Duration
	forget   time.Duration // rows that are older go
	patience time.Duration // after an outage, with others that are absent or in doubt
	look     time.Duration // at the addresses of the machine
	skew     time.Duration // of the clock, that a test makes up
}

var standard = times{every: 2 * time.Second, again: 500 * time.Millisecond, silent: 4 * time.Second, holds: Gone - time.Second, gone: Gone,
	pause: Pause, forget: time.Hour, patience: 20 * time.Second, look: 10 * time.Second}

// Signals is the connection that holds the lock.
type Signals interface {
	Lock() (key int64, held bool)
	LockChanged() <-chan struct{}
}

var _ Signals = (*db.Signals)(nil)

// HandBack makes due again what a node had claimed that is gone, and tells how much it
// was. It may be called several times for a node.
type HandBack func(ctx context.Context, node int32) (int64, error)

// Params is what New needs.
type Params struct {
	DB      *db.DB
	Signals Signals
	Name    string // of this process, the same after a restart
	Version string // of the program
	Roles   []string
	Egress  string // processes with one name are behind one public address
	Logger  *slog.Logger

	Machine machine.Addresses   // nil: the interfaces of this machine
	Workers *worker.Metrics     // nil: of no interest
	Correct func(time.Duration) // is told how far the clock here is before that of the database; nil: of no interest

	// Observe is told each reading of the clock of the database: what it showed at some moment
	// between two of the clock here; nil: of no interest.
	Observe func(sent, answered, seen time.Time)
}

// Node is this process. Safe for concurrent use.
type Node struct {
	db      *db.DB
	signals Signals
	log     *slog.Logger
	name    string
	version string
	roles   string // JSON
	egress  string
	times   times
	own     own

	roleNames []string
	correct   func(time.Duration)
	observe   func(sent, answered, seen time.Time)

	queues map[string]HandBack // by what is handed back; complete before Start
	looks  map[int32]int       // at each node that is gone
	swept  time.Time

	tasks   *worker.Tasks
	started bool

	mu         sync.Mutex
	id         int32
	beat       time.Time // when the last beat was sent that was stored
	until      time.Time // by the database clock: a claim that runs later takes nothing
	clock      time.Time // of the database at the latest beat that was answered
	clockAt    time.Time // by the clock here
	claimsFrom time.Time // the latest pause ends
	outage     *outage   // nil: nothing is claimed because of one
	watched    []func(time.Time) int
	holdsFrom  time.Time     // leases from before are doubtful
	published  int64         // the lock that the row names
	changed    chan struct{} // closed by the next beat that is stored
	hold       *hold.Hold    // of the whole installation; nil: none
	others     []Process     // as of the latest beat
	twin       time.Time     // when one of them had the name of this one last
	ahead      time.Duration // the clock here before that of the database
	corrected  time.Duration // as ahead was when correct was told
	failing    bool          // the latest operation that was reported has failed
	back       chan struct{} // closed when operations work again
}

var _ worker.Process = (*Node)(nil)

// New makes a node that nobody sees before Start.
func New(p Params) (*Node, error) {
	if p.DB == nil || p.Signals == nil || p.Logger == nil || p.Name == "" {
		return nil, errors.New("node: DB, Signals, Logger and Name are needed")
	}
	roles, err := json.Marshal(append([]string{}, p.Roles...))
	if err != nil {
		return nil, fmt.Errorf("node: %w", err)
	}
	if p.Correct == nil {
		p.Correct = func(time.Duration) {}
	}
	if p.Observe == nil {
		p.Observe = func(time.Time, time.Time, time.Time) {}
	}
	if p.Machine == nil {
		p.Machine = machine.Interfaces{}
	}
	return &Node{db: p.DB, signals: p.Signals, log: p.Logger, name: p.Name, version: p.Version, roles: string(roles), roleNames: p.Roles, correct: p.Correct, observe: p.Observe, egress: p.Egress, times: standard, own: own{machine: p.Machine}, tasks: worker.NewTasks(p.Logger, p.Workers),
		queues: map[string]HandBack{}, looks: map[int32]int{}, changed: make(chan struct{}), back: make(chan struct{})}, nil
}

// OnGone has claims of nodes that are gone handed back; what is a word for the log. It is
// called before Start.
func (n *Node) OnGone(what string, f HandBack) { n.queues[what] = f }

// ID names the process in what it claims. It is 0 before Start.
func (n *Node) ID() int32 {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.id
}

// Until gives the time by the database clock from which a claim of this process takes
// nothing: a statement that lay in a frozen server is not to be heeded when it thaws.
func (n *Node) Until() time.Time {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.until
}

// Stored is the age of the last write that was certainly stored.
func (n *Node) Stored() time.Duration {
	n.mu.Lock()
	defer n.mu.Unlock()
	return elapsed(n.beat)
}

// Start makes the row, hands back what a process of the same name had claimed, and beats
// until Stop. It tries for as long as ctx lasts.
func (n *Node) Start(ctx context.Context) error {
	for {
		err := n.register(ctx)
		if err == nil {
			err = n.live(ctx)
		}
		if err == nil {
			break
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("start node: %w", err)
		case <-time.After(n.times.again):
		}
	}
	n.tasks.Start(worker.Task{Name: "beats of this process", First: n.times.every, Woken: n.signals.LockChanged(), Step: n.beatOnce})
	n.started = true
	return nil
}

// Stop ends the beats and takes the row away.
func (n *Node) Stop(ctx context.Context) error {
	n.tasks.Stop(ctx)
	if !n.started {
		return nil
	}
	if err := n.leave(ctx); err != nil { // the others find it after a while
		n.log.DebugContext(ctx, "node: the row stays", telemetry.KeyError, err)
	}
	return nil
}

// beatOnce says when to beat again. While nothing can be stored, nothing is claimed.
func (n *Node) beatOnce(ctx context.Context) (wait time.Duration, err error) {
	if err := n.live(ctx); err != nil {
		return n.times.again, err
	}
	return n.rhythm(), nil
}

// live is one beat, and then care for those that are gone. The hold of the installation is
// read first: who is woken by the beat knows of it.
func (n *Node) live(ctx context.Context) error {
	err := n.readHold(ctx)
	var gone []int64
	if err == nil {
		gone, err = n.write(ctx)
	}
	n.Report(err)
	if err != nil {
		return err
	}
	n.bury(ctx, gone)
	return nil
}

// elapsed is the time since then.
func elapsed(since time.Time) time.Duration { return between(since, time.Now()) }

// between takes the stricter of the two clocks: CLOCK_MONOTONIC does not count the time
// that the machine was suspended, the wall clock may be set back.
func between(from, to time.Time) time.Duration {
	return max(to.Sub(from), to.Round(0).Sub(from.Round(0)))
}
