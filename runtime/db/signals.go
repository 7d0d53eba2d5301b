package db

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lib/pq"
)

const (
	signalChannel = "postrider"               // the one Postgres channel; the payload says which of ours
	joinFor       = 25 * time.Millisecond     // how long wakes of other processes wait for company
	pingEvery     = 10 * time.Second          // so that a dead server is noticed
	idleLimit     = 3*pingEvery + time.Second // of a listener's read
)

// Signals carry "there is something to do" between the processes of one
// database. They are hints: one may come too often, and after a lost
// connection every subscriber is woken once, but whoever needs certainty also
// looks from time to time.
//
// A wake reaches the subscribers of this process at once and those of others
// by NOTIFY, sent on a pool connection, many wakes in one statement. There is
// one LISTEN connection for the process.
type Signals struct {
	db       *DB
	log      *slog.Logger
	self     string // tells our own notifications, whose subscribers are awake already
	listener *pq.Listener
	dialer   *listenDialer
	ctx      context.Context // ends with Close; no request is behind a notification
	cancel   context.CancelFunc
	running  sync.WaitGroup
	kick     chan struct{}
	heard    chan struct{} // closed once others are heard
	closing  sync.Once

	mutex       sync.Mutex
	pending     map[string]bool
	subscribers map[string][]chan struct{}
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
	s := &Signals{db: d, log: log, self: hex.EncodeToString(random[:]), ctx: ctx, cancel: cancel, kick: make(chan struct{}, 1), heard: make(chan struct{}),
		dialer:  &listenDialer{dialer: dialer{timeout: d.config.OpTimeout, idle: idleLimit}},
		pending: map[string]bool{}, subscribers: map[string][]chan struct{}{}}
	s.listener = pq.NewDialListener(s.dialer, dsn, 100*time.Millisecond, 5*time.Second, s.connectionEvent)
	s.running.Go(s.listen)
	s.running.Go(s.receive)
	s.running.Go(s.ping)
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
	var err error
	s.closing.Do(func() {
		s.cancel()
		s.dialer.shut() // the listener's own Close would wait for an answer
		err = s.listener.Close()
		s.running.Wait()
	})
	return err
}

func wakeAll(subscribers []chan struct{}) {
	for _, wake := range subscribers {
		select {
		case wake <- struct{}{}:
		default: // one wake is waiting there already
		}
	}
}

// listen asks for our channel. It blocks until there is a connection; after
// that the listener asks again by itself on each new one.
func (s *Signals) listen() {
	for {
		err := s.listener.Listen(signalChannel)
		if s.ctx.Err() != nil {
			return
		}
		if err == nil {
			break
		}
		s.log.Error("signals of other processes are not heard", "error", err) // a standby refuses, for one
		select {
		case <-s.ctx.Done():
		case <-time.After(pingEvery):
		}
	}
	s.wakeEverybody() // of what was sent before we listened we know nothing
	close(s.heard)
}

// receive hands notifications out. A nil one means that the connection was lost
// and others may have been missed.
func (s *Signals) receive() {
	for notification := range s.listener.Notify {
		if notification == nil {
			s.wakeEverybody()
			continue
		}
		sender, channel, _ := strings.Cut(notification.Extra, ":")
		if sender == s.self {
			continue
		}
		s.mutex.Lock()
		wakeAll(s.subscribers[channel])
		s.mutex.Unlock()
	}
}

func (s *Signals) wakeEverybody() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for _, subscribers := range s.subscribers {
		wakeAll(subscribers)
	}
}

// ping makes the server say something now and then; silence beyond idleLimit
// ends the connection.
func (s *Signals) ping() {
	ticker := time.NewTicker(pingEvery)
	defer ticker.Stop()
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-ticker.C:
			if err := s.listener.Ping(); err != nil && s.ctx.Err() == nil {
				s.log.Debug("signals: no answer to a ping", "error", err)
			}
		}
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
	_, err := s.db.SQL.ExecContext(s.ctx, `SELECT pg_notify($1, payload) FROM unnest($2::text[]) payload`, signalChannel, pq.Array(payloads))
	return err
}

func (s *Signals) connectionEvent(event pq.ListenerEventType, err error) {
	if s.ctx.Err() != nil {
		return
	}
	switch event {
	case pq.ListenerEventDisconnected:
		s.log.Warn("signals: connection lost", "error", err)
	case pq.ListenerEventReconnected:
		s.log.Info("signals: connected again")
	case pq.ListenerEventConnectionAttemptFailed:
		s.log.Debug("signals: no connection", "error", err)
	}
}

// listenDialer remembers the listener's connection, to close it under a read.
type listenDialer struct {
	dialer
	mutex   sync.Mutex
	current net.Conn
	closed  bool
}

var (
	_ pq.Dialer        = (*listenDialer)(nil)
	_ pq.DialerContext = (*listenDialer)(nil)
)

// DialContext connects, unless the signals are closed.
func (d *listenDialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := d.dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.closed {
		return nil, errors.Join(net.ErrClosed, conn.Close())
	}
	d.current = conn
	return conn, nil
}

func (d *listenDialer) shut() {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.closed = true
	if d.current != nil {
		if err := d.current.Close(); err == nil {
			d.current = nil
		}
	}
}
