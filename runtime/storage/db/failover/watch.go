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
	fresh = time.Second     // how long the result of a host is valid for new connections
	again = 2 * time.Second // interval of checks while connections are used
)

// Cluster is what a process knows about its cluster. Package db implements it.
type Cluster interface {
	System() string        // the system identifier; empty if not known yet
	Learn(timeline string) // the newest timeline of a server
}

// Watch prevents the use of connections while several hosts accept writes. It is safe for concurrent use.
type Watch struct {
	survey  *Survey
	cluster Cluster
	log     *slog.Logger
	inUse   func() int // the host to which it is connected

	split   atomic.Pointer[split] // nil if at most one host accepts writes
	looked  atomic.Int64          // when the latest background check began, in Unix nanoseconds
	looking sync.WaitGroup
}

// split records that several hosts accept writes.
type split struct {
	err error
	at  time.Time // when it was detected
}

// NewWatch starts querying the hosts of a survey, which it closes at its end.
func NewWatch(survey *Survey, cluster Cluster, inUse func() int, log *slog.Logger) *Watch {
	survey.Begin()
	return &Watch{survey: survey, cluster: cluster, inUse: inUse, log: log}
}

// Close ends the checks.
func (w *Watch) Close() {
	w.survey.Close()
	w.looking.Wait()
}

// Admit checks a new connection to a host against the results of the other hosts. The error is nil or a
// *SplitError.
func (w *Watch) Admit(ctx context.Context, host int, who Identity) error {
	if who.System == "" {
		return nil // the server does not reveal its identity
	}
	now := time.Now()
	w.survey.Record(host, who, now)
	return w.queryHosts(ctx, now.Add(-fresh), host)
}

// Refuse returns the error for a connection that need not be tried because several hosts accept writes.
func (w *Watch) Refuse(ctx context.Context) error {
	known := w.split.Load()
	switch {
	case known == nil:
		return nil
	case time.Since(known.at) < fresh:
		return known.err
	}
	return w.queryHosts(ctx, time.Now(), -1)
}

// Refresh checks all hosts whose results are stale. The error is nil or a *SplitError.
func (w *Watch) Refresh(ctx context.Context) error {
	return w.queryHosts(ctx, time.Now().Add(-fresh), -1)
}

// queryHosts queries the hosts whose results are older than since, except for one (-1: none). A host may have
// lost its role after its result, so all hosts are queried again before a split is reported.
func (w *Watch) queryHosts(ctx context.Context, since time.Time, but int) error {
	err := w.judgeSightings(w.survey.Refresh(ctx, since, but))
	if err != nil {
		err = w.judgeSightings(w.survey.Refresh(ctx, time.Now(), -1))
	}
	if err == nil {
		if w.split.Swap(nil) != nil {
			w.log.InfoContext(ctx, "the database can be used again: only one host accepts writes")
		}
		return nil
	}
	if w.split.Swap(&split{err, time.Now()}) == nil {
		w.log.ErrorContext(ctx, "the database cannot be used", "error", err)
	}
	return err
}

func (w *Watch) judgeSightings(all []Sighting) error {
	system := w.cluster.System()
	w.cluster.Learn(NewestTimeline(system, all))
	return Judge(system, all)
}

// isUsable reports whether open connections may be used, and checks the hosts at intervals.
func (w *Watch) isUsable() bool {
	now, last := time.Now(), w.looked.Load()
	if now.UnixNano()-last > int64(again) && w.looked.CompareAndSwap(last, now.UnixNano()) {
		w.looking.Go(func() {
			// the survey limits its time, and split contains its result
			_ = w.queryHosts(context.Background(), now, w.inUse())
		})
	}
	return w.split.Load() == nil
}

// guardedConn is a connection that is not used while several hosts accept writes.
type guardedConn struct {
	session

	watch *Watch
}

// session is the set of interfaces of a lib/pq connection that database/sql uses.
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

// Guard wraps a pool connection so that it is refused while several hosts accept writes. It closes a
// connection that it cannot wrap.
func (w *Watch) Guard(conn driver.Conn) (driver.Conn, error) {
	s, is := conn.(session)
	if !is {
		return nil, errors.Join(errors.New("the driver does not implement all interfaces"), conn.Close())
	}
	return &guardedConn{s, w}, nil
}

// ResetSession is called before a pool connection is reused.
func (g *guardedConn) ResetSession(ctx context.Context) error {
	if !g.watch.isUsable() {
		return driver.ErrBadConn // the pool then opens a new connection, whose error contains the reason
	}
	return g.session.ResetSession(ctx)
}
