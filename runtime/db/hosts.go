package db

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lib/pq"

	"github.com/postrider/postrider/runtime/db/failover"
)

const (
	hostsFresh = time.Second     // how long an answer of a host counts for new connections
	hostsAgain = 2 * time.Second // between two looks at the hosts while connections are used
)

// watch keeps connections from an address with several hosts while it is not certain which of them may be written to.
type watch struct {
	survey  *failover.Survey
	fitness *fitness
	hosts   *hosts
	log     *slog.Logger

	split   atomic.Pointer[split] // nil: one host takes writes at most
	looked  atomic.Int64          // when the latest look in the background began, Unix nanoseconds
	looking sync.WaitGroup
}

// split is that several hosts take writes.
type split struct {
	err error
	at  time.Time // when that was seen
}

// survey asks the hosts of the address, each on a connection of its own.
func (d *DB) survey(patience time.Duration) (*failover.Survey, error) {
	c, err := d.connector(d.config, &dialer{timeout: patience})
	if err != nil {
		return nil, err
	}
	names := make([]string, len(d.hosts.all))
	for i := range names {
		names[i] = d.hosts.name(i)
	}
	return failover.NewSurvey(names, patience, func(ctx context.Context, host int) (driver.Conn, error) {
		to := c
		to.dialer = &dialer{timeout: patience} // which has not learned from other questions
		conn, _, err := to.reach(ctx, ctx, host, pq.TargetSessionAttrsAny)
		return conn, err
	}), nil
}

// newWatch begins to watch the hosts. A host may be silent for as long as it has a head start when connections are
// made.
func (d *DB) newWatch() (*watch, error) {
	survey, err := d.survey(d.config.OpTimeout / 4)
	if err != nil {
		return nil, err
	}
	survey.Begin()
	return &watch{survey: survey, fitness: d.fitness, hosts: d.hosts, log: d.log}, nil
}

// close ends the looks.
func (w *watch) close() {
	w.survey.Close()
	w.looking.Wait()
}

// admit judges a new connection to a host, beside what the other hosts say.
func (w *watch) admit(ctx context.Context, host int, who failover.Identity) error {
	if who.System == "" {
		return nil // the server does not tell
	}
	now := time.Now()
	w.survey.Note(host, who, now)
	if err := w.look(ctx, now.Add(-hostsFresh), host); err != nil {
		return err
	}
	return w.fitness.refuseOld(who)
}

// refuse is the error of a connection that need not be tried, because several hosts take writes.
func (w *watch) refuse(ctx context.Context) error {
	known := w.split.Load()
	switch {
	case known == nil:
		return nil
	case time.Since(known.at) < hostsFresh:
		return notConnected(known.err)
	}
	return w.look(ctx, time.Now(), -1)
}

// look asks the hosts that were not asked since, but for one (-1: none). It is an error that several of them take
// writes. One that was asked before may have lost its role meanwhile, so then all are asked again.
func (w *watch) look(ctx context.Context, since time.Time, but int) error {
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
	return notConnected(err)
}

func (w *watch) judge(all []failover.Sighting) error {
	system := w.fitness.system()
	w.fitness.learn(failover.Newest(system, all))
	return failover.Judge(system, all)
}

// usable reports whether connections that are open may be used, and has the hosts looked at again from time to time.
func (w *watch) usable() bool {
	now, last := time.Now(), w.looked.Load()
	if now.UnixNano()-last > int64(hostsAgain) && w.looked.CompareAndSwap(last, now.UnixNano()) {
		w.looking.Go(func() {
			_ = w.look(context.Background(), now, int(w.hosts.last.Load())) // the survey bounds it, and split has the result
		})
	}
	return w.split.Load() == nil
}

// guarded is a connection that is not used while several hosts take writes.
type guarded struct {
	session

	watch *watch
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

func (w *watch) guard(conn driver.Conn) (driver.Conn, error) {
	s, is := conn.(session)
	if !is {
		return nil, errors.Join(errors.New("the driver lacks a part of its interface"), conn.Close())
	}
	return &guarded{s, w}, nil
}

// ResetSession is called before a connection of a pool is used again.
func (g *guarded) ResetSession(ctx context.Context) error {
	if !g.watch.usable() {
		return driver.ErrBadConn // the new connection that is asked for then has the reason
	}
	return g.session.ResetSession(ctx)
}

// AskHosts asks every host that the address names, on connections of their own, and returns what they say and the
// system identifier of the cluster that the pools use; empty: it is not known.
func (d *DB) AskHosts(ctx context.Context) (all []failover.Sighting, system string, err error) {
	survey, err := d.survey(d.config.OpTimeout)
	if err != nil {
		return nil, "", err
	}
	defer survey.Close()
	return survey.Look(ctx, time.Now(), -1), d.fitness.system(), nil
}

// HostInUse returns the connection string of the one host of an address that a process would use, for programs that
// cannot know: those of PostgreSQL take the first one that answers.
func HostInUse(ctx context.Context, url string) (string, error) {
	given, err := pq.NewConfig(url)
	if err != nil || len(given.Multi) == 0 {
		return url, nil // what is wrong with it, its user says
	}
	d, err := Open(ctx, Config{URL: url, RiskLosingAcceptedMail: true}, slog.New(slog.DiscardHandler))
	if err != nil {
		return "", err
	}
	return d.hosts.addresses(url)[0], d.Close()
}

// MayFill refuses to have tables made in a database without any, where the address names several hosts and not
// all of them answer as one cluster: this one may be a stranger's, and the mail on a host that is away. The error of
// a host that does not answer is part of the refusal.
func (d *DB) MayFill(ctx context.Context) error {
	if len(d.hosts.all) < 2 {
		return nil
	}
	made, err := d.HasTables(ctx)
	if err != nil || made {
		return err
	}
	const remedy = "Bring it back, or take it out of the address. For a new installation, run `postrider migrate` once with an address that names the primary alone"
	all, _, err := d.AskHosts(ctx)
	var refused []error
	first, of := "", ""
	for _, host := range all {
		switch {
		case errors.Is(host.Err, failover.ErrHidden):
		case host.Err != nil:
			refused = append(refused, fmt.Errorf("the database that answers has no tables of Postrider, and none were made, because another host may have the mail: %s cannot be asked (%w). %s", host.Host, host.Err, remedy))
		case first == "":
			first, of = host.System, host.Host
		case host.System != first:
			refused = append(refused, fmt.Errorf("the database that answers has no tables of Postrider, and none were made, because the hosts are of different clusters: %s and %s differ in their system identifier. Take out the wrong one", of, host.Host))
		}
	}
	return errors.Join(err, errors.Join(refused...))
}
