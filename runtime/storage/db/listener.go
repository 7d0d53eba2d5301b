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
	pingEvery      = 10 * time.Second // to detect a dead server
	listenAgainMin = 100 * time.Millisecond
	listenAgainMax = 2 * time.Second
	listenCommand  = `LISTEN "` + signalChannel + `"`
)

// Lock returns the key of the advisory lock (pg_advisory_lock) that the listening connection holds. The
// lock is released when the connection ends. Each connection uses another key, so a lock whose connection
// the server still believes alive blocks no other. held is false while there is no connection.
func (s *Signals) Lock() (key int64, held bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.lock, s.lock != 0
}

// LockChanged returns a channel that receives when the result of Lock has changed. It supports one reader.
func (s *Signals) LockChanged() <-chan struct{} { return s.locked }

func (s *Signals) setLock(conn *pq.ListenerConn, key int64) {
	s.mutex.Lock()
	s.conn, s.lock = conn, key
	s.mutex.Unlock()
	wakeAll([]chan struct{}{s.locked})
}

// keepListening keeps one connection that receives the notifications of other processes.
func (s *Signals) keepListening() {
	wait, told, before := listenAgainMin, false, false
	for s.ctx.Err() == nil {
		conn, heard, err := s.connectListener()
		switch {
		case err == nil:
			if before {
				s.log.Info("signals: reconnected")
			}
			wait, told, before = listenAgainMin, false, true
			s.dispatchNotifications(heard)
			s.setLock(nil, 0)
			if s.ctx.Err() == nil {
				s.log.Warn("signals: connection lost", "error", conn.Err())
			}
		case s.ctx.Err() == nil && !told: // for example, a standby refuses
			told = true
			s.log.Warn("cannot receive signals of other processes, retrying", "error", err)
		}
		select {
		case <-s.ctx.Done():
		case <-time.After(wait):
		}
		wait = min(2*wait, listenAgainMax)
	}
}

// connectListener returns a connection to the first suitable host.
func (s *Signals) connectListener() (conn *pq.ListenerConn, heard <-chan *pq.Notification, err error) {
	if s.db.watch != nil {
		if err := s.db.watch.Refresh(s.ctx); err != nil {
			return nil, nil, err
		}
	}
	var errs []error
	for _, address := range s.db.hosts.hostAddresses(s.dsn) {
		conn, heard, err := s.connectTo(address)
		if err == nil {
			return conn, heard, nil
		}
		errs = append(errs, err)
	}
	return nil, nil, errors.Join(errs...)
}

// connectTo returns a connection to a fit server that holds the lock and listens. heard is closed when the
// connection has ended.
func (s *Signals) connectTo(address string) (conn *pq.ListenerConn, heard <-chan *pq.Notification, err error) {
	notifications := make(chan *pq.Notification, 64)
	if conn, err = s.dialListener(address, notifications); err != nil {
		return nil, nil, err
	}
	s.mutex.Lock()
	s.conn = conn
	s.mutex.Unlock()
	key := newLockKey()
	err = s.ctx.Err() // Close may have been called before
	if err == nil {
		err = s.checkServer(conn)
	}
	for _, command := range []string{fmt.Sprintf("SELECT pg_advisory_lock(%d)", key), listenCommand} {
		if err == nil {
			err = s.execCommand(conn, command)
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
	s.running.Go(func() { s.keepPinging(conn) })
	select {
	case <-s.heard:
	default:
		close(s.heard)
	}
	s.wakeEverybody() // notifications from before may have been missed
	return conn, notifications, nil
}

// checkServer rejects a server that the pools do not use.
func (s *Signals) checkServer(conn *pq.ListenerConn) error {
	for _, claim := range s.db.fitness.listenerClaims() {
		if err := claim.judgeResult(s.execCommand(conn, claim.query)); err != nil {
			return err
		}
	}
	return nil
}

// dialListener connects. The handshake of lib/pq has its own timeout and ignores contexts: when the signals close,
// it is abandoned.
func (s *Signals) dialListener(address string, notifications chan *pq.Notification) (*pq.ListenerConn, error) {
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
				_ = d.conn.Close() // the connection is no longer needed
			}
		}()
		return nil, context.Cause(s.ctx)
	}
}

// newLockKey returns a random key from a range so large that no two connections share one.
func newLockKey() int64 {
	var random [8]byte
	rand.Read(random[:])                                        // never returns an error
	return int64(binary.BigEndian.Uint64(random[:])>>2 | 1<<61) // never 0
}

// execCommand runs a command within the time limit of one operation. A server that does not answer in time loses
// the connection.
func (s *Signals) execCommand(conn *pq.ListenerConn, command string) error {
	late := time.AfterFunc(s.db.config.OpTimeout, func() { _ = conn.Close() })
	defer late.Stop()
	_, err := conn.ExecSimpleQuery(command)
	return err
}

// dispatchNotifications dispatches notifications until the connection has ended.
func (s *Signals) dispatchNotifications(heard <-chan *pq.Notification) {
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

// keepPinging sends a harmless command at intervals until the connection has ended: the server may have become one
// from before a failover. Listening again to the same channel changes nothing, and keeps the purpose of
// this connection visible in the server's list.
func (s *Signals) keepPinging(conn *pq.ListenerConn) {
	ticker := time.NewTicker(pingEvery)
	defer ticker.Stop()
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-ticker.C:
			err := s.checkServer(conn)
			if err == nil {
				err = s.execCommand(conn, listenCommand)
			}
			if err != nil {
				_ = conn.Close() // the reader then gets an error
				return
			}
		}
	}
}
