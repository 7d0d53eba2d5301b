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
	"github.com/postrider/postrider/runtime/work/node/machine"
)

// Pause is how long nothing is claimed after an outage: a process retries storing its results after
// worker.RetryMax at the latest, and has a second to store them.
const Pause = worker.RetryMax + time.Second

// Gone is the age of the last beat after which the claims of a process are handed back, even if no other
// process has its name.
const Gone = 6 * time.Second

// The roles of a process.
const (
	Accepts  = "accepts"
	Delivers = "delivers"
	Webhooks = "webhooks"
)

// timing contains durations that tests shorten.
type timing struct {
	every    time.Duration // interval of beats
	again    time.Duration // wait after a failed beat
	silent   time.Duration // after this time without a beat, a process claims nothing
	holds    time.Duration // after this time without a beat, it does nothing irreversible
	gone     time.Duration
	pause    time.Duration
	forget   time.Duration // older rows are deleted
	patience time.Duration // how long to wait after an outage for processes that are absent or in doubt
	look     time.Duration // interval of reading the machine's addresses
	skew     time.Duration // clock skew, simulated by tests
}

var standard = timing{every: 2 * time.Second, again: 500 * time.Millisecond, silent: 4 * time.Second,
	holds: Gone - time.Second, gone: Gone,
	pause: Pause, forget: time.Hour, patience: 20 * time.Second, look: 10 * time.Second}

// Signals is the connection that holds the lock.
type Signals interface {
	Lock() (key int64, held bool)
	LockChanged() <-chan struct{}
}

var _ Signals = (*db.Signals)(nil)

// ReleaseFunc makes jobs that a dead node had claimed due again, and returns their number. It may be called
// several times for a node.
type ReleaseFunc func(ctx context.Context, node int32) (int64, error)

// Params contains the parameters of New.
type Params struct {
	DB      *db.DB
	Signals Signals
	Name    string // name of this process, the same after a restart
	Version string // version of the program
	Roles   []string
	Egress  string // processes with the same name share one public address
	Cell    int    // number of the cell, the same for all processes
	Logger  *slog.Logger

	Machine machine.Addresses   // nil: the interfaces of this machine
	Workers *worker.Metrics     // may be nil
	Correct func(time.Duration) // receives how far the local clock is ahead of the database clock; may be nil

	// Observe receives each reading of the database clock: what it showed at some moment between two local
	// times. Optional.
	Observe func(sent, answered, seen time.Time)
}

// Node is this process. It is safe for concurrent use.
type Node struct {
	db      *db.DB
	signals Signals
	log     *slog.Logger
	name    string
	version string
	roles   string // JSON
	egress  string
	cell    int
	times   timing
	own     ownAddresses

	roleNames []string
	correct   func(time.Duration)
	observe   func(sent, answered, seen time.Time)

	queues map[string]ReleaseFunc // release functions, by kind of claim; complete before Start
	looks  map[int32]int          // per dead node
	swept  time.Time

	tasks   *worker.Tasks
	started bool

	mu         sync.Mutex
	id         int32
	beat       time.Time // when the last stored beat was sent
	until      time.Time // by the database clock: a claim that runs later takes nothing
	clock      time.Time // the database clock at the latest answered beat
	clockAt    time.Time // by the local clock
	claimsFrom time.Time // end of the latest pause
	outage     *outage   // nil unless an outage prevents claims
	watched    []func(time.Time) int
	holdsFrom  time.Time     // leases from before are in doubt
	published  int64         // the lock recorded in the row
	changed    chan struct{} // closed by the next stored beat
	hold       *Hold         // of the whole installation; may be nil
	others     []Process     // as of the latest beat
	twin       time.Time     // when another process last had the same name
	ahead      time.Duration // how far the local clock is ahead of the database clock
	corrected  time.Duration // the value last passed to Correct
	failing    bool          // the latest reported operation failed
	back       chan struct{} // closed when operations succeed again
}

var _ worker.Process = (*Node)(nil)

// New returns a new Node, which is invisible to others before Start.
func New(p Params) (*Node, error) {
	if p.DB == nil || p.Signals == nil || p.Logger == nil || p.Name == "" {
		return nil, errors.New("node: DB, Signals, Logger and Name are required")
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
	return &Node{db: p.DB, signals: p.Signals, log: p.Logger, name: p.Name, version: p.Version, roles: string(roles),
		roleNames: p.Roles, correct: p.Correct, observe: p.Observe, egress: p.Egress, cell: p.Cell, times: standard,
		own: ownAddresses{machine: p.Machine}, tasks: worker.NewTasks(p.Logger, p.Workers),
		queues: map[string]ReleaseFunc{}, looks: map[int32]int{}, changed: make(chan struct{}),
		back: make(chan struct{})}, nil
}

// OnDead registers a function that releases the claims of dead nodes; what names them in the log. Call it
// before Start.
func (n *Node) OnDead(what string, f ReleaseFunc) { n.queues[what] = f }

// ID identifies the process in its claims. It is 0 before Start.
func (n *Node) ID() int32 {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.id
}

// ClaimsUntil returns the time by the database clock from which a claim of this process takes nothing. A
// statement that was stuck in a frozen server thus has no effect when the server resumes.
func (n *Node) ClaimsUntil() time.Time {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.until
}

// SinceStored returns the age of the last write that was certainly stored.
func (n *Node) SinceStored() time.Duration {
	n.mu.Lock()
	defer n.mu.Unlock()
	return elapsedSince(n.beat)
}

// Start creates the row, releases the claims of a process with the same name, and beats until Stop. It
// retries while ctx lasts.
func (n *Node) Start(ctx context.Context) error {
	for {
		err := n.registerNode(ctx)
		if err == nil {
			err = n.beatAndReleaseDead(ctx)
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
	n.tasks.Start(worker.Task{Name: "beats of this process", First: n.times.every, Woken: n.signals.LockChanged(),
		Step: n.beatOnce})
	n.started = true
	return nil
}

// Stop ends the beats and deletes the row.
func (n *Node) Stop(ctx context.Context) error {
	n.tasks.Stop(ctx)
	if !n.started {
		return nil
	}
	if err := n.removeRow(ctx); err != nil { // other processes delete it later
		n.log.DebugContext(ctx, "node: cannot delete the row", telemetry.KeyError, err)
	}
	return nil
}

// beatOnce beats and returns when to beat again. While nothing can be stored, nothing is claimed.
func (n *Node) beatOnce(ctx context.Context) (wait time.Duration, err error) {
	if err := n.beatAndReleaseDead(ctx); err != nil {
		return n.times.again, err
	}
	return n.nextBeat(), nil
}

// beatAndReleaseDead beats once, and then handles dead nodes. It reads the hold first, so that goroutines woken by the
// beat see it.
func (n *Node) beatAndReleaseDead(ctx context.Context) error {
	err := n.readHold(ctx)
	var gone []int64
	if err == nil {
		gone, err = n.writeBeat(ctx)
	}
	n.Report(err)
	if err != nil {
		return err
	}
	n.releaseDead(ctx, gone)
	return nil
}

// elapsedSince returns the time since a moment.
func elapsedSince(since time.Time) time.Duration { return elapsedBetween(since, time.Now()) }

// elapsedBetween uses the stricter of the two clocks: CLOCK_MONOTONIC does not advance while the machine is
// suspended, and the wall clock may be set back.
func elapsedBetween(from, to time.Time) time.Duration {
	return max(to.Sub(from), to.Round(0).Sub(from.Round(0)))
}
