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

// Tolerated is how far behind a replica may be before it is no longer used.
const Tolerated = 5 * time.Second

const (
	patience  = 100 * time.Millisecond // how long a read waits for the replica to catch up
	beginning = 250 * time.Millisecond // additional time to begin a transaction there
	lookEvery = time.Second
	lookLimit = time.Second     // for each step of a check; after that the replica counts as unavailable
	opLimit   = 4 * time.Second // as for the primary
	rest      = 5 * time.Second // how long a replica must be healthy before it is used again
)

// Config defines the replica to use.
type Config struct {
	URL         string // of one or several standbys
	Connections int    // for reads; one more is used for checks
	// RiskLosingAcceptedMail says that the primary may confirm commits that are not flushed.
	RiskLosingAcceptedMail bool
}

// Replica serves reads in place of the primary. It is safe for concurrent use.
type Replica struct {
	primary *db.DB
	reads   *sql.DB
	looks   *sql.DB // a pool of one connection, so that a check never waits for reads
	ent     *ent.Client
	wanted  string // the statement that asks the primary for its position
	log     *slog.Logger
	tasks   *worker.Tasks
	opening sync.WaitGroup // transactions being opened

	fit                 atomic.Bool // reads may use the replica
	answered, elsewhere atomic.Int64

	looking sync.Mutex // one check at a time
	mutex   sync.Mutex // guards the fields below
	state
}

var _ db.Reader = (*Replica)(nil)

// Open returns a replica, which need not be reachable, for the primary's ReadFrom. It is not checked, and
// therefore not used, before Start.
func Open(primary *db.DB, c Config, log *slog.Logger) (*Replica, error) {
	r := &Replica{primary: primary, wanted: positionStatement("pg_current_wal_flush_lsn"), log: log,
		state: state{passedOver: "it has not been checked yet"}}
	if c.RiskLosingAcceptedMail {
		r.wanted = positionStatement("pg_current_wal_insert_lsn")
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

// Start starts checking the replica.
func (r *Replica) Start(workers *worker.Metrics) {
	r.tasks = worker.NewTasks(r.log, workers)
	r.tasks.Start(worker.Task{Name: "look at the replica", Step: func(ctx context.Context) (time.Duration, error) {
		r.CheckNow(ctx)
		return lookEvery, nil
	}})
}

// Stop stops the checks. Reads then go to the primary.
func (r *Replica) Stop(ctx context.Context) error {
	r.tasks.Stop(ctx)
	r.fit.Store(false)
	return nil
}

// Close closes the connections.
func (r *Replica) Close() error {
	err := errors.Join(r.reads.Close(), r.looks.Close())
	r.opening.Wait()
	if err != nil && !fault.IsDatabaseUnavailable(err) {
		return fmt.Errorf("close replica: %w", err)
	}
	return nil
}

// Read runs fn on the replica if the replica has everything committed so far, and otherwise on the primary.
// If the replica fails, fn runs again on the primary.
func (r *Replica) Read(ctx context.Context, fn func(on *ent.Client) error) error {
	if done, err := r.tryRead(ctx, fn); done {
		return err
	}
	r.elsewhere.Add(1)
	return fn(r.primary.Ent)
}

// tryRead returns false if the primary must serve the read.
func (r *Replica) tryRead(ctx context.Context, fn func(on *ent.Client) error) (done bool, err error) {
	if !r.fit.Load() {
		return false, nil
	}
	want, err := r.primaryPosition(ctx)
	if err != nil {
		return fault.IsDatabaseUnavailable(err), err // a demoted primary has another error to report
	}
	tx, err := r.beginTx(ctx, want)
	if err != nil {
		r.fit.Store(false) // until the next check
		r.log.DebugContext(ctx, "the replica is not ready for a read, using the primary", "reason", err)
		return false, nil
	}
	defer func() { _ = tx.Rollback() }() // it was read-only
	err = fn(tx.Client())
	if err == nil || ctx.Err() != nil || isQueryError(err) {
		r.answered.Add(1)
		return true, err
	}
	r.log.DebugContext(ctx, "a read failed on the replica, using the primary", "reason", err)
	return false, nil
}

// isQueryError reports whether the primary would return the same error, because it is caused by the query and not
// by the server.
func isQueryError(err error) bool {
	var known *fault.Error
	return errors.As(err, &known) && known.Kind != fault.Unavailable
}

// openedTx is an open transaction on the replica.
type openedTx struct {
	tx   *ent.Tx
	seen standby
	err  error
}

// releaseConnection returns the connection to the pool.
func (b openedTx) releaseConnection() {
	if b.tx != nil {
		_ = b.tx.Rollback() // it was read-only
	}
}

// beginTx opens a read-only transaction on the replica and waits a moment for it to catch up. A replica that
// does not answer costs only a moment.
func (r *Replica) beginTx(ctx context.Context, want mark) (*ent.Tx, error) {
	made, late := make(chan openedTx), make(chan struct{})
	r.opening.Go(func() {
		// A connection that is being opened must outlive the caller, because the next caller will need it.
		b := r.openTx(context.WithoutCancel(ctx), want)
		select {
		case made <- b:
		case <-late:
			b.releaseConnection()
		}
	})
	timer := time.NewTimer(patience + beginning)
	defer timer.Stop()
	var b openedTx
	select {
	case b = <-made:
	case <-ctx.Done():
		close(late)
		return nil, ctx.Err()
	case <-timer.C:
		close(late)
		return nil, errors.New("beginning a transaction there takes too long")
	}
	if b.err != nil {
		b.releaseConnection()
		return nil, b.err
	}
	return b.tx, nil
}

func (r *Replica) openTx(ctx context.Context, want mark) (b openedTx) {
	if b.tx, b.err = r.ent.BeginTx(ctx, &sql.TxOptions{ReadOnly: true}); b.err != nil {
		return b
	}
	if b.seen, b.err = awaitReplay(ctx, b.tx, want); b.err != nil {
		return b
	}
	b.err = b.seen.unfitReason(want)
	switch {
	case b.err != nil:
		r.dropIdle()
	case !b.seen.hasReplayed(want):
		b.err = errors.New("it is behind")
	}
	return b
}

// dropIdle closes idle connections, for example to a server that was promoted. New ones connect to a fit
// server.
func (r *Replica) dropIdle() {
	for _, pool := range []*sql.DB{r.reads, r.looks} {
		pool.SetMaxIdleConns(0)
		pool.SetMaxIdleConns(pool.Stats().MaxOpenConnections)
	}
}
