package db

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/lib/pq"
)

const (
	pingEvery      = 10 * time.Second // so that a dead server is noticed
	listenAgainMin = 100 * time.Millisecond
	listenAgainMax = 2 * time.Second
	listenCommand  = `LISTEN "` + signalChannel + `"`
)

// Lock gives the key of the advisory lock (pg_advisory_lock) that the listening
// connection holds. It is free as soon as the connection has ended, and each connection
// has another key: the lock of one that the server has not yet missed is in nobody's
// way. held is false while there is no connection.
func (s *Signals) Lock() (key int64, held bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.lock, s.lock != 0
}

// LockChanged holds a wake when Lock gives something else than before. It is for one
// reader.
func (s *Signals) LockChanged() <-chan struct{} { return s.locked }

func (s *Signals) setLock(conn *pq.ListenerConn, key int64) {
	s.mutex.Lock()
	s.conn, s.lock = conn, key
	s.mutex.Unlock()
	wakeAll([]chan struct{}{s.locked})
}

// listen keeps one connection that hears the notifications of others.
func (s *Signals) listen() {
	wait, told, before := listenAgainMin, false, false
	for s.ctx.Err() == nil {
		conn, heard, err := s.connect()
		switch {
		case err == nil:
			if before {
				s.log.Info("signals: connected again")
			}
			wait, told, before = listenAgainMin, false, true
			s.receive(heard)
			s.setLock(nil, 0)
			if s.ctx.Err() == nil {
				s.log.Warn("signals: connection lost", "error", conn.Err())
			}
		case s.ctx.Err() == nil && !told: // a standby refuses, for one
			told = true
			s.log.Warn("signals of other processes are not heard, trying again until they are", "error", err)
		}
		select {
		case <-s.ctx.Done():
		case <-time.After(wait):
		}
		wait = min(2*wait, listenAgainMax)
	}
}

// connect gives a connection to the first of the hosts that will do.
func (s *Signals) connect() (conn *pq.ListenerConn, heard <-chan *pq.Notification, err error) {
	if s.db.watch != nil {
		if err := s.db.watch.Look(s.ctx); err != nil {
			return nil, nil, err
		}
	}
	var errs []error
	for _, address := range s.db.hosts.addresses(s.dsn) {
		conn, heard, err := s.connectTo(address)
		if err == nil {
			return conn, heard, nil
		}
		errs = append(errs, err)
	}
	return nil, nil, errors.Join(errs...)
}

// connectTo gives a connection to a server that is fit, which has the lock and listens. heard is
// closed when the connection has ended.
func (s *Signals) connectTo(address string) (conn *pq.ListenerConn, heard <-chan *pq.Notification, err error) {
	notifications := make(chan *pq.Notification, 64)
	if conn, err = s.dial(address, notifications); err != nil {
		return nil, nil, err
	}
	s.mutex.Lock()
	s.conn = conn
	s.mutex.Unlock()
	key := newLockKey()
	err = s.ctx.Err() // Close may have come before the connection
	if err == nil {
		err = s.check(conn)
	}
	for _, command := range []string{fmt.Sprintf("SELECT pg_advisory_lock(%d)", key), listenCommand} {
		if err == nil {
			err = s.exec(conn, command)
		}
	}
	if err != nil {
		s.setLock(nil, 0)
		_ = conn.Close()
		for range notifications { // until the connection has ended
		}
		return nil, nil, err
	}
	s.setLock(conn, key)
	s.running.Go(func() { s.ping(conn) })
	select {
	case <-s.heard:
	default:
		close(s.heard)
	}
	s.wakeEverybody() // of what was sent before we listened we know nothing
	return conn, notifications, nil
}

// check refuses a server that is not the one that the pools use.
func (s *Signals) check(conn *pq.ListenerConn) error {
	for _, claim := range s.db.fitness.claims() {
		if err := claim.judge(s.exec(conn, claim.query)); err != nil {
			return err
		}
	}
	return nil
}

// dial connects. The handshake of lib/pq has its own time limit and knows no context:
// at the end of the signals it is left to itself.
func (s *Signals) dial(address string, notifications chan *pq.Notification) (*pq.ListenerConn, error) {
	type dialled struct {
		conn *pq.ListenerConn
		err  error
	}
	made := make(chan dialled, 1)
	go func() {
		conn, err := pq.NewListenerConn(address, notifications)
		made <- dialled{conn, err}
	}()
	select {
	case d := <-made:
		return d.conn, d.err
	case <-s.ctx.Done():
		go func() {
			if d := <-made; d.err == nil {
				_ = d.conn.Close() // nobody needs it
			}
		}()
		return nil, context.Cause(s.ctx)
	}
}

// newLockKey is drawn from so many that no two connections have the same.
func newLockKey() int64 {
	var random [8]byte
	rand.Read(random[:])                                        // never returns an error
	return int64(binary.BigEndian.Uint64(random[:])>>2 | 1<<61) // not 0
}

// exec runs a command, for as long as one operation may take: a server that does not
// answer loses the connection.
func (s *Signals) exec(conn *pq.ListenerConn, command string) error {
	late := time.AfterFunc(s.db.config.OpTimeout, func() { _ = conn.Close() })
	defer late.Stop()
	_, err := conn.ExecSimpleQuery(command)
	return err
}

// receive hands notifications out until the connection has ended.
func (s *Signals) receive(heard <-chan *pq.Notification) {
	for notification := range heard {
		sender, channel, _ := strings.Cut(notification.Extra, ":")
		if sender == s.self {
			continue
		}
		s.mutex.Lock()
		wakeAll(s.subscribers[channel])
		s.mutex.Unlock()
	}
}

// ping makes the server say something now and then, until the connection has ended: it may
// have become one from before a fail-over. To ask again for the channel changes nothing, and
// the server's list of connections goes on saying what this one is for.
func (s *Signals) ping(conn *pq.ListenerConn) {
	ticker := time.NewTicker(pingEvery)
	defer ticker.Stop()
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-ticker.C:
			err := s.check(conn)
			if err == nil {
				err = s.exec(conn, listenCommand)
			}
			if err != nil {
				_ = conn.Close() // whoever reads sees it
				return
			}
		}
	}
}
