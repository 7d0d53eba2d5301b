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
	signalChannel = "postrider"           // the one Postgres channel; the payload says which of ours
	joinFor       = 25 * time.Millisecond // how long wakes of other processes wait for company
)

// Signals carry "there is something to do" between the processes of one
// database. They are hints: one may come too often, and after a lost
// connection every subscriber is woken once, but whoever needs certainty also
// looks from time to time.
//
// A wake reaches the subscribers of this process at once and those of others
// by NOTIFY, sent on a pool connection, many wakes in one statement. There is
// one LISTEN connection for the process (listener.go). It also holds a lock, by which
// the others know that the process lives.
type Signals struct {
	db      *DB
	log     *slog.Logger
	self    string          // tells our own notifications, whose subscribers are awake already
	dsn     string          // of the listener
	ctx     context.Context // ends with Close; no request is behind a notification
	cancel  context.CancelFunc
	running sync.WaitGroup
	kick    chan struct{}
	heard   chan struct{} // closed once others are heard
	locked  chan struct{} // holds a wake when lock has changed
	closing sync.Once

	mutex       sync.Mutex
	pending     map[string]bool
	subscribers map[string][]chan struct{}
	conn        *pq.ListenerConn // nil while there is none
	lock        int64            // that the connection holds; 0: none
}

// NewSignals starts to listen; the connection is made, and made again, in the
// background.
func NewSignals(d *DB, log *slog.Logger) (*Signals, error) {
	var random [6]byte
	rand.Read(random[:]) // never returns an error
	dsn, err := d.config.dsn(parameter{"connect_timeout", fmt.Sprint(max(1, int(d.config.OpTimeout/time.Second)))})
	if err != nil {
		return nil, fmt.Errorf("signals: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &Signals{db: d, log: log, self: hex.EncodeToString(random[:]), dsn: dsn, ctx: ctx, cancel: cancel, kick: make(chan struct{}, 1),
		heard: make(chan struct{}), locked: make(chan struct{}, 1), pending: map[string]bool{}, subscribers: map[string][]chan struct{}{}}
	s.running.Go(s.listen)
	s.running.Go(s.notify)
	return s, nil
}

// Subscribe gives a channel that holds at most one wake, and the way to end the
// subscription.
func (s *Signals) Subscribe(channel string) (<-chan struct{}, func()) {
	wake := make(chan struct{}, 1)
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.subscribers[channel] = append(s.subscribers[channel], wake)
	return wake, func() {
		s.mutex.Lock()
		defer s.mutex.Unlock()
		s.subscribers[channel] = slices.DeleteFunc(s.subscribers[channel], func(other chan struct{}) bool { return other == wake })
	}
}

// Wake wakes the subscribers of a channel in every process. It is called after
// the commit of what they are to find, and does not block.
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

// Close ends the connection; wakes that are not sent yet are dropped.
func (s *Signals) Close() error {
	s.closing.Do(func() {
		s.cancel()
		s.mutex.Lock()
		if s.conn != nil {
			_ = s.conn.Close() // under a read; whoever reads sees it
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
		default: // one wake is waiting there already
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

// notify sends what has gathered, a moment after the first wake.
func (s *Signals) notify() {
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
		if err := s.send(); err != nil && s.ctx.Err() == nil {
			s.log.Warn("other processes were not woken; they will look by themselves", "error", err)
		}
	}
}

func (s *Signals) send() error {
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
