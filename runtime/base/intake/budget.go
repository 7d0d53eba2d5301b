package intake

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"sync/atomic"
	"time"
)

// The sizes of the budget, and what each is for. doc.go says how they were found.
const (
	// DefaultSpool is the octets of files. A quarter is three bodies of the largest kind.
	DefaultSpool = 2 << 30
	// LeastSpool lets a quarter hold the largest body, which has 150 MiB.
	LeastSpool = 640 << 20

	// FullMemory is the memory of a process from which on the parts have their full size. With less
	// they shrink with it.
	FullMemory = 2 << 30

	arrivingPart   = 32        // of the memory: 64 MiB of what is small
	workingPart    = 4         // 512 MiB while something large is worked on
	connectionSize = 512 << 10 // bytes that a connection may cost: 4,096 of them

	readsSize = 8 // large contents that are read out of the database at a time

	// callerPatience is how long a caller of the API waits for room: it is rather late
	// than refused, for sending all of it again costs more.
	callerPatience = 2 * time.Minute
)

// Config says where the spool is and how large the parts are. Zero sizes are the
// defaults.
type Config struct {
	Dir    string // of the spool's files; "" is the system's for temporary files
	Spool  int64
	Memory int64 // bytes that the process may use; 0: enough
	Logger *slog.Logger

	Arriving, Working, Bodies, Reads int64         // for tests
	Connections                      int64         // likewise
	Floor                            Pace          // likewise
	Patience                         time.Duration // likewise: with which callers wait for room
	Grace                            time.Duration // likewise: before a holder is ended for another
}

// Budget is what this process holds for others.
type Budget struct {
	dir  string
	log  *slog.Logger
	disk atomic.Uint64 // failures
	slow atomic.Uint64 // clients that were ended
	told atomic.Int64  // when the operator was, Unix seconds

	refused     atomic.Uint64       // connections and requests without a place
	large       [ways]atomic.Uint64 // responses of more than a few KB
	connections int

	floor                                   Pace
	patience                                time.Duration
	arriving, working, spool, bodies, reads *Pool
}

// New makes the budget and the folder of the spool, and cleans it.
func New(c Config) (*Budget, error) {
	if c.Dir == "" {
		c.Dir = os.TempDir()
	}
	if c.Logger == nil {
		return nil, errors.New("intake: a logger is needed")
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
	if c.Floor == (Pace{}) {
		c.Floor = Floor
	}
	if c.Patience == 0 {
		c.Patience = callerPatience
	}
	if err := prepare(c.Dir); err != nil {
		return nil, err
	}
	b := &Budget{dir: c.Dir, log: c.Logger, floor: c.Floor, patience: c.Patience, arriving: NewPool(c.Arriving), working: NewPool(c.Working), spool: NewPool(c.Spool),
		bodies: NewPool(c.Bodies), reads: NewPool(c.Reads), connections: int(c.Connections)}
	if c.Grace > 0 {
		b.spool.grace = c.Grace
	}
	return b, nil
}

// Connections is how many connections an HTTP listener has at a time: streams of events, and the
// streams of HTTP/2, are among them.
func (b *Budget) Connections() int { return b.connections }

// Pace is the least speed of clients.
func (b *Budget) Pace() Pace { return b.floor }

// CountRefused counts a connection or a request that found no place.
func (b *Budget) CountRefused() { b.refused.Add(1) }

// Work waits for memory in which something large that has come whole is worked on. The
// work talks to no client and asks no DNS: it is over when we are done. release may be
// called once. The errors are those of Pool.Take.
func (b *Budget) Work(ctx context.Context, o Owner, octets int64, patience time.Duration) (release func(), err error) {
	return b.working.Take(ctx, o, octets, patience)
}

// Body waits for the place of an HTTP body that arrives.
func (b *Budget) Body(ctx context.Context, o Owner, patience time.Duration) (release func(), err error) {
	return b.bodies.Take(ctx, o, 1, patience)
}

// Read waits for the turn to read something large out of the database.
func (b *Budget) Read(ctx context.Context, o Owner, patience time.Duration) (release func(), err error) {
	return b.reads.Take(ctx, o, 1, patience)
}
