package failover

import (
	"context"
	"database/sql/driver"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

const (
	fresh = time.Second     // how long an answer of a host counts for new connections
	again = 2 * time.Second // between two looks at the hosts while connections are used
)

// Cluster is what a process knows of the cluster that it uses. Package db has the one.
type Cluster interface {
	System() string        // the system identifier; empty: it is not known yet
	Learn(timeline string) // the newest one that a server is on
}

// Watch keeps connections from being used while several hosts take writes. Safe for concurrent use.
type Watch struct {
	survey  *Survey
	cluster Cluster
	log     *slog.Logger
	inUse   func() int // the host that connections are made to

	split   atomic.Pointer[split] // nil: one host takes writes at most
	looked  atomic.Int64          // when the latest look in the background began, Unix nanoseconds
	looking sync.WaitGroup
}

// split is that several hosts take writes.
type split struct {
	err error
	at  time.Time // when that was seen
}

// NewWatch begins to ask the hosts of a survey, which it closes at its end.
func NewWatch(survey *Survey, cluster Cluster, inUse func() int, log *slog.Logger) *Watch {
	survey.Begin()
	return &Watch{survey: survey, cluster: cluster, inUse: inUse, log: log}
}

// Close ends the looks.
func (w *Watch) Close() {
	w.survey.Close()
	w.looking.Wait()
}

// Admit judges a new connection to a host by what the other hosts say. The error is nil or a *SplitError.
func (w *Watch) Admit(ctx context.Context, host int, who Identity) error {
	if who.System == "" {
		return nil // the server does not say
	}
	now := time.Now()
	w.survey.Note(host, who, now)
	return w.look(ctx, now.Add(-fresh), host)
}

// Refuse returns the error of a connection that need not be tried, because several hosts take writes.
func (w *Watch) Refuse(ctx context.Context) error {
	known := w.split.Load()
	switch {
	case known == nil:
		return nil
	case time.Since(known.at) < fresh:
		return known.err
	}
	return w.look(ctx, time.Now(), -1)
}

// Look asks all hosts that were not asked just now. The error is nil or a *SplitError.
func (w *Watch) Look(ctx context.Context) error { return w.look(ctx, time.Now().Add(-fresh), -1) }

// look asks the hosts that were not asked since, but for one (-1: none). A host that was asked before may have lost its
// role meanwhile, so all are asked again before several are said to take writes.
func (w *Watch) look(ctx context.Context, since time.Time, but int) error {
	err := w.judge(w.survey.Look(ctx, since, but))
	if err != nil {
		err = w.judge(w.survey.Look(ctx, time.Now(), -1))
	}
	if err == nil {
		if w.split.Swap(nil) != nil {
			w.log.InfoContext(ctx, "the database can be used again: only one host takes writes")
		}
		return nil
	}
	if w.split.Swap(&split{err, time.Now()}) == nil {
		w.log.ErrorContext(ctx, "the database cannot be used", "error", err)
	}
	return err
}

func (w *Watch) judge(all []Sighting) error {
	system := w.cluster.System()
	w.cluster.Learn(Newest(system, all))
	return Judge(system, all)
}

// usable reports whether open connections may be used, and looks at the hosts from time to time.
func (w *Watch) usable() bool {
	now, last := time.Now(), w.looked.Load()
	if now.UnixNano()-last > int64(again) && w.looked.CompareAndSwap(last, now.UnixNano()) {
		w.looking.Go(func() {
			_ = w.look(context.Background(), now, w.inUse()) // the survey bounds its time, and split has its result
		})
	}
	return w.split.Load() == nil
}

// guarded is a connection that is not used while several hosts take writes.
type guarded struct {
	session

	watch *Watch
}

// session is what database/sql may ask of a connection of lib/pq.
type session interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
	driver.NamedValueChecker
	driver.SessionResetter
	driver.Validator
}

// Guard has a connection of a pool refused while several hosts take writes. It closes one that it cannot guard.
func (w *Watch) Guard(conn driver.Conn) (driver.Conn, error) {
	s, is := conn.(session)
	if !is {
		return nil, errors.Join(errors.New("the driver lacks a part of its interface"), conn.Close())
	}
	return &guarded{s, w}, nil
}

// ResetSession is called before a connection of a pool is used again.
func (g *guarded) ResetSession(ctx context.Context) error {
	if !g.watch.usable() {
		return driver.ErrBadConn // the pool asks for a new connection, whose error has the reason
	}
	return g.session.ResetSession(ctx)
}
