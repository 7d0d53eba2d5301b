package db

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/lib/pq"
)

const (
	signalChannel = "postrider"           // the only PostgreSQL channel; the payload names ours
	joinFor       = 25 * time.Millisecond // how long wakes for other processes are collected
)

// Signals notify the processes of one database that there is work to do. They are hints: there may be too
// many, and after a lost connection every subscriber is woken once. Code that needs certainty must also poll.
//
// A wake reaches the subscribers of this process immediately and those of other processes by NOTIFY, sent on
// a pool connection, many wakes in one statement. The process has one LISTEN connection (listener.go). It
// also holds a lock, which shows the others that the process is alive.
type Signals struct {
	db      *DB
	log     *slog.Logger
	self    string          // marks our own notifications, whose subscribers are already awake
	dsn     string          // for the listener
	ctx     context.Context // ends with Close; notifications belong to no request
	cancel  context.CancelFunc
	running sync.WaitGroup
	kick    chan struct{}
	heard   chan struct{} // closed when the connection listens
	locked  chan struct{} // receives when lock has changed
	closing sync.Once

	mutex       sync.Mutex
	pending     map[string]bool
	subscribers map[string][]chan struct{}
	conn        *pq.ListenerConn // nil if not connected
	lock        int64            // held by the connection; 0 if there is none
}

// NewSignals returns Signals that connect, and reconnect, in the background.
func NewSignals(d *DB, log *slog.Logger) (*Signals, error) {
	var random [6]byte
	rand.Read(random[:]) // never returns an error
	dsn, err := d.config.buildDSN(parameter{"connect_timeout", fmt.Sprint(max(1, int(d.config.OpTimeout/time.Second)))})
	if err != nil {
		return nil, fmt.Errorf("signals: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &Signals{db: d, log: log, self: hex.EncodeToString(random[:]), dsn: dsn, ctx: ctx, cancel: cancel,
		kick:  make(chan struct{}, 1),
		heard: make(chan struct{}), locked: make(chan struct{}, 1), pending: map[string]bool{},
		subscribers: map[string][]chan struct{}{}}
	s.running.Go(s.keepListening)
	s.running.Go(s.notifySoon)
	return s, nil
}

// Subscribe returns a channel that holds at most one wake, and a function that ends the subscription.
func (s *Signals) Subscribe(channel string) (<-chan struct{}, func()) {
	wake := make(chan struct{}, 1)
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.subscribers[channel] = append(s.subscribers[channel], wake)
	return wake, func() {
		s.mutex.Lock()
		defer s.mutex.Unlock()
		s.subscribers[channel] = slices.DeleteFunc(s.subscribers[channel],
			func(other chan struct{}) bool { return other == wake })
	}
}

// Wake wakes the subscribers of a channel in every process. Call it after the commit of the data that they
// should find. It does not block.
func (s *Signals) Wake(channel string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	wakeAll(s.subscribers[channel])
	s.pending[channel] = true
	select {
	case s.kick <- struct{}{}:
	default:
	}
}

// Close ends the connection. Unsent wakes are dropped.
func (s *Signals) Close() error {
	s.closing.Do(func() {
		s.cancel()
		s.mutex.Lock()
		if s.conn != nil {
			_ = s.conn.Close() // during a read, which then returns an error
		}
		s.mutex.Unlock()
		s.running.Wait()
	})
	return nil
}

func wakeAll(subscribers []chan struct{}) {
	for _, wake := range subscribers {
		select {
		case wake <- struct{}{}:
		default: // a wake is already queued
		}
	}
}

func (s *Signals) wakeEverybody() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for _, subscribers := range s.subscribers {
		wakeAll(subscribers)
	}
}

// notifySoon sends the collected wakes, a moment after the first.
func (s *Signals) notifySoon() {
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-s.kick:
		}
		select {
		case <-s.ctx.Done():
			return
		case <-time.After(joinFor):
		}
		if err := s.sendPending(); err != nil && s.ctx.Err() == nil {
			s.log.Warn("other processes were not woken; they will notice on their next poll", "error", err)
		}
	}
}

func (s *Signals) sendPending() error {
	s.mutex.Lock()
	payloads := make([]string, 0, len(s.pending))
	for channel := range s.pending {
		payloads = append(payloads, s.self+":"+channel)
	}
	clear(s.pending)
	s.mutex.Unlock()
	_, err := s.db.SQL.ExecContext(s.ctx, `SELECT pg_notify($1, payload) FROM unnest($2::text[]) payload`, signalChannel, Array(payloads))
	return err
}
