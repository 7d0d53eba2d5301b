package intake

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"sync/atomic"
	"time"
)

// The sizes of the budget. doc.go explains how they were found.
const (
	// DefaultSpool is the size of the spool in bytes. A quarter holds three of the largest bodies.
	DefaultSpool = 2 << 30
	// LeastSpool lets a quarter hold the largest body, which is 150 MiB.
	LeastSpool = 640 << 20

	// FullMemory is the memory of a process at which the parts have their full size. With less memory they
	// shrink in proportion.
	FullMemory = 2 << 30

	arrivingPart   = 32        // of the memory: 64 MiB of small contents
	workingPart    = 4         // 512 MiB for work on large contents
	connectionSize = 512 << 10 // bytes that a connection may use: 4,096 of them

	readsSize = 8 // concurrent reads of large contents from the database

	// callerPatience is how long an API request waits for room. A late response is better than a refusal,
	// because sending everything again costs more.
	callerPatience = 2 * time.Minute
)

// Config defines the location of the spool and the sizes of the parts. Zero sizes use the defaults.
type Config struct {
	Dir    string // directory of spool files; "" is the system's temporary directory
	Spool  int64
	Memory int64 // bytes that the process may use; 0: enough for full size
	Logger *slog.Logger

	Arriving, Working, Bodies, Reads int64         // for tests
	Connections                      int64         // for tests
	MinRate                          Rate          // for tests
	Patience                         time.Duration // for tests: how long requests wait for room
	// for tests: how long a newcomer waits before another holder is ended
	Grace time.Duration
}

// Budget bounds what this process holds for clients.
type Budget struct {
	dir  string
	log  *slog.Logger
	disk atomic.Uint64 // failures
	slow atomic.Uint64 // clients ended for being slow
	told atomic.Int64  // when the operator was last notified, in Unix seconds

	refused     atomic.Uint64       // connections and requests rejected for lack of a place
	large       [ways]atomic.Uint64 // responses of more than a few KB
	connections int

	floor                                   Rate
	patience                                time.Duration
	arriving, working, spool, bodies, reads *Pool
}

// New creates the budget and the spool folder, and removes leftover files.
func New(c Config) (*Budget, error) {
	if c.Dir == "" {
		c.Dir = os.TempDir()
	}
	if c.Logger == nil {
		return nil, errors.New("intake: a logger is required")
	}
	orElse := func(n *int64, standard int64) {
		if *n <= 0 {
			*n = standard
		}
	}
	orElse(&c.Memory, FullMemory)
	memory := min(c.Memory, FullMemory)
	orElse(&c.Connections, memory/connectionSize)
	orElse(&c.Spool, DefaultSpool)
	orElse(&c.Arriving, memory/arrivingPart)
	orElse(&c.Working, memory/workingPart)
	orElse(&c.Bodies, c.Connections)
	orElse(&c.Reads, readsSize)
	if c.MinRate == (Rate{}) {
		c.MinRate = DefaultRate
	}
	if c.Patience == 0 {
		c.Patience = callerPatience
	}
	if err := prepareFolder(c.Dir); err != nil {
		return nil, err
	}
	b := &Budget{dir: c.Dir, log: c.Logger, floor: c.MinRate, patience: c.Patience, arriving: NewPool(c.Arriving),
		working: NewPool(c.Working), spool: NewPool(c.Spool),
		bodies: NewPool(c.Bodies), reads: NewPool(c.Reads), connections: int(c.Connections)}
	if c.Grace > 0 {
		b.spool.grace = c.Grace
	}
	return b, nil
}

// Connections returns how many connections an HTTP listener may have at a time, including event streams and
// HTTP/2 streams.
func (b *Budget) Connections() int { return b.connections }

// MinRate returns the minimum speed of clients.
func (b *Budget) MinRate() Rate { return b.floor }

// CountRefused counts a connection or a request that was rejected for lack of a place.
func (b *Budget) CountRefused() { b.refused.Add(1) }

// AcquireWork waits for the memory to process a large content that has arrived completely. The work must not
// wait for a client or for DNS: its duration depends on this process alone. Call release at most once. The
// errors are those of Pool.Take.
func (b *Budget) AcquireWork(ctx context.Context, o Tenant, octets int64,
	patience time.Duration) (release func(), err error) {
	return b.working.Take(ctx, o, octets, patience)
}

// AcquireBody waits for a place for an HTTP body that is about to arrive.
func (b *Budget) AcquireBody(ctx context.Context, o Tenant, patience time.Duration) (release func(), err error) {
	return b.bodies.Take(ctx, o, 1, patience)
}

// AcquireRead waits for a place to read a large content from the database.
func (b *Budget) AcquireRead(ctx context.Context, o Tenant, patience time.Duration) (release func(), err error) {
	return b.reads.Take(ctx, o, 1, patience)
}
