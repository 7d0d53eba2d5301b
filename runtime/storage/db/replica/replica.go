package replica

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/storage/db"
)

// Tolerated is how far a replica may be behind before it is passed over.
const Tolerated = 5 * time.Second

const (
	patience  = 100 * time.Millisecond // how long a replica may take to have what a read has to see
	beginning = 250 * time.Millisecond // how long a transaction may take to begin there, beside that
	lookEvery = time.Second
	lookLimit = time.Second     // for each step of a look: one that is silent for longer is away
	opLimit   = 4 * time.Second // as at the primary
	rest      = 5 * time.Second // how long a replica has to be well before it is used again
)

// Config says which replica to use.
type Config struct {
	URL         string // of a standby, or of several
	Connections int    // for reads; one more looks
	// RiskLosingAcceptedMail says that the primary may confirm what is not on its disk.
	RiskLosingAcceptedMail bool
}

// Replica answers reads in place of the primary. Safe for concurrent use.
type Replica struct {
	primary *db.DB
	reads   *sql.DB
	looks   *sql.DB // a pool of one, so that a look never waits for reads
	ent     *ent.Client
	wanted  string // the statement that asks the primary for its position
	log     *slog.Logger
	tasks   *worker.Tasks
	opening sync.WaitGroup // transactions that begin

	fit                 atomic.Bool // reads may go there
	answered, elsewhere atomic.Int64

	looking sync.Mutex // one look at a time
	mutex   sync.Mutex // of the following
	state
}

var _ db.Reader = (*Replica)(nil)

// Open knows of a replica, which need not be there. It is for the primary's ReadFrom. Nobody looks at it, and
// so nobody uses it, before Start.
func Open(primary *db.DB, c Config, log *slog.Logger) (*Replica, error) {
	r := &Replica{primary: primary, wanted: position("pg_current_wal_flush_lsn"), log: log, state: state{passedOver: "nobody has looked at it yet"}}
	if c.RiskLosingAcceptedMail {
		r.wanted = position("pg_current_wal_insert_lsn")
	}
	var err error
	if r.reads, err = primary.OpenReplica(c.URL, max(c.Connections, 1), opLimit); err != nil {
		return nil, fmt.Errorf("open replica: %w", err)
	}
	if r.looks, err = primary.OpenReplica(c.URL, 1, lookLimit); err != nil {
		return nil, fmt.Errorf("open replica: %w", errors.Join(err, r.reads.Close()))
	}
	r.ent = ent.NewClient(ent.Driver(entsql.OpenDB(dialect.Postgres, r.reads)))
	return r, nil
}

// Start begins to look at the replica.
func (r *Replica) Start(workers *worker.Metrics) {
	r.tasks = worker.NewTasks(r.log, workers)
	r.tasks.Start(worker.Task{Name: "look at the replica", Step: func(ctx context.Context) (time.Duration, error) {
		r.Look(ctx)
		return lookEvery, nil
	}})
}

// Stop ends that. Reads go to the primary.
func (r *Replica) Stop(ctx context.Context) error {
	r.tasks.Stop(ctx)
	r.fit.Store(false)
	return nil
}

// Close closes the connections.
func (r *Replica) Close() error {
	err := errors.Join(r.reads.Close(), r.looks.Close())
	r.opening.Wait()
	if err != nil && !fault.IsDatabaseAway(err) {
		return fmt.Errorf("close replica: %w", err)
	}
	return nil
}

// Read runs fn at the replica if that has all that was committed before, else at the primary. After an
// error of the replica fn is run again, at the primary.
func (r *Replica) Read(ctx context.Context, fn func(on *ent.Client) error) error {
	if done, err := r.try(ctx, fn); done {
		return err
	}
	r.elsewhere.Add(1)
	return fn(r.primary.Ent)
}

// try gives false when the primary has to answer.
func (r *Replica) try(ctx context.Context, fn func(on *ent.Client) error) (done bool, err error) {
	if !r.fit.Load() {
		return false, nil
	}
	want, err := r.position(ctx)
	if err != nil {
		return fault.IsDatabaseAway(err), err // a primary that was demoted has another reason to give
	}
	tx, err := r.begin(ctx, want)
	if err != nil {
		r.fit.Store(false) // until the next look
		r.log.DebugContext(ctx, "the replica is not ready for a read, which goes to the primary", "reason", err)
		return false, nil
	}
	defer func() { _ = tx.Rollback() }() // nothing was written
	err = fn(tx.Client())
	if err == nil || ctx.Err() != nil || ours(err) {
		r.answered.Add(1)
		return true, err
	}
	r.log.DebugContext(ctx, "a read failed at the replica, and goes to the primary", "reason", err)
	return false, nil
}

// ours tells an error that the primary would give as well: not of the server, but of what was asked.
func ours(err error) bool {
	var known *fault.Error
	return errors.As(err, &known) && known.Kind != fault.Away
}

// begun is a transaction at the replica.
type begun struct {
	tx   *ent.Tx
	seen standby
	err  error
}

// end gives the connection back.
func (b begun) end() {
	if b.tx != nil {
		_ = b.tx.Rollback() // nothing was written
	}
}

// begin opens a read-only transaction at the replica and waits a moment for it to have what is wanted. A
// replica that does not answer costs no more than a moment.
func (r *Replica) begin(ctx context.Context, want mark) (*ent.Tx, error) {
	made, late := make(chan begun), make(chan struct{})
	r.opening.Go(func() {
		// The caller's end is not that of a connection that is being made: the next one will need it.
		b := r.open(context.WithoutCancel(ctx), want)
		select {
		case made <- b:
		case <-late:
			b.end()
		}
	})
	timer := time.NewTimer(patience + beginning)
	defer timer.Stop()
	var b begun
	select {
	case b = <-made:
	case <-ctx.Done():
		close(late)
		return nil, ctx.Err()
	case <-timer.C:
		close(late)
		return nil, errors.New("it takes long to begin a transaction there")
	}
	if b.err != nil {
		b.end()
		return nil, b.err
	}
	return b.tx, nil
}

func (r *Replica) open(ctx context.Context, want mark) (b begun) {
	if b.tx, b.err = r.ent.BeginTx(ctx, &sql.TxOptions{ReadOnly: true}); b.err != nil {
		return b
	}
	if b.seen, b.err = follow(ctx, b.tx, want); b.err != nil {
		return b
	}
	b.err = b.seen.unfit(want)
	switch {
	case b.err != nil:
		r.drop()
	case !b.seen.has(want):
		b.err = errors.New("it is behind")
	}
	return b
}

// drop closes the connections that nobody uses, as those to a server that was promoted: new ones go to one
// that is fit.
func (r *Replica) drop() {
	for _, pool := range []*sql.DB{r.reads, r.looks} {
		pool.SetMaxIdleConns(0)
		pool.SetMaxIdleConns(pool.Stats().MaxOpenConnections)
	}
}
