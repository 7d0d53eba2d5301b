package eventlog

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/postrider/postrider/runtime/bus"
	"github.com/postrider/postrider/runtime/event"
	"github.com/postrider/postrider/runtime/fault"
	"github.com/postrider/postrider/runtime/page"
)

// streamPage is how many events a stream reads at once.
const streamPage = 100

// horizonAge is how old a horizon may be that streams share. An old one is safe, it
// only shows less.
const horizonAge = 250 * time.Millisecond

// busyPace is how often a stream looks while there may be something.
const busyPace = 500 * time.Millisecond

// Stream is a reading that goes on. It belongs to one goroutine.
type Stream struct {
	service   *Service
	accountID string
	query     Query
	woken     <-chan struct{}
	leave     func()
	closed    bool
	more      bool
	busyUntil time.Time
	looked    time.Time // last, however short Next's patience is
}

// Open begins a stream behind a position; with an empty one that is what happens
// from now on. Limit of the query has no meaning. The caller closes the stream.
func (s *Service) Open(ctx context.Context, accountID string, q Query) (*Stream, error) {
	q.Limit = streamPage
	if q.After == "" {
		q.After = Latest
	}
	if err := q.Validate(); err != nil {
		return nil, err
	}
	if err := s.enter(accountID); err != nil {
		return nil, err
	}
	stream := &Stream{service: s, accountID: accountID, query: q, more: true}
	stream.woken, stream.leave = s.signals.Subscribe(bus.Channel)
	if q.After == Latest { // from when the stream was asked for, not from its first read
		horizon, err := s.log.Horizon(ctx)
		if err != nil {
			stream.Close()
			return nil, err
		}
		found, err := s.read(ctx, accountID, q, horizon)
		if err != nil {
			stream.Close()
			return nil, err
		}
		stream.query.After = found.NextCursor
	}
	return stream, nil
}

// Close ends the stream.
func (s *Stream) Close() {
	if s.closed {
		return
	}
	s.closed = true
	s.leave()
	s.service.exit(s.accountID)
}

// Position is where reading goes on.
func (s *Stream) Position() string { return s.query.After }

// Next waits for events, for at most the time given: then it gives none. The error
// is io.EOF when the service drains.
func (s *Stream) Next(ctx context.Context, patience time.Duration) (page.Page[event.Fact], error) {
	over := time.NewTimer(patience)
	defer over.Stop()
	for {
		select {
		case <-s.service.ending:
			return page.Page[event.Fact]{}, io.EOF
		default:
		}
		if !s.more {
			switch done, err := s.wait(ctx, over.C); {
			case err != nil:
				return page.Page[event.Fact]{}, err
			case done:
				return page.Page[event.Fact]{NextCursor: s.query.After}, nil
			}
		}
		s.looked = time.Now()
		found, err := s.service.tail(ctx, s.accountID, s.query)
		if err != nil {
			return page.Page[event.Fact]{}, err
		}
		s.query.After, s.more = found.NextCursor, found.HasMore
		if len(found.Items) > 0 {
			return found, nil
		}
	}
}

// wait ends when it is time to look: at the poll, and often for as long after a wake
// as what it told of is held back.
func (s *Stream) wait(ctx context.Context, over <-chan time.Time) (done bool, err error) {
	look := time.NewTimer(s.untilLook())
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-s.service.ending:
			return false, io.EOF
		case <-over:
			return true, nil
		case <-look.C:
			return false, nil
		case <-s.woken:
			if waking := time.Now().Add(bus.HoldBack + busyPace); s.busyUntil.Before(time.Now()) {
				s.busyUntil = waking
				look.Reset(s.untilLook())
			} else {
				s.busyUntil = waking
			}
		}
	}
}

// untilLook is how long it is to the next look.
func (s *Stream) untilLook() time.Duration { return max(s.pace()-time.Since(s.looked), 0) }

func (s *Stream) pace() time.Duration {
	if time.Now().Before(s.busyUntil) {
		return busyPace
	}
	return s.service.config.Poll
}

// tail reads up to a horizon that the streams of the process share.
func (s *Service) tail(ctx context.Context, accountID string, q Query) (page.Page[event.Fact], error) {
	s.mutex.Lock()
	horizon, fresh := s.horizon, time.Since(s.asked) < horizonAge
	s.mutex.Unlock()
	if !fresh {
		asked := time.Now()
		at, err := s.log.Horizon(ctx)
		if err != nil {
			return page.Page[event.Fact]{}, err
		}
		s.mutex.Lock()
		s.horizon, s.asked = at, asked
		s.mutex.Unlock()
		horizon = at
	}
	return s.read(ctx, accountID, q, horizon)
}

var errDraining = errors.New("the service is stopping")

func (s *Service) enter(accountID string) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	switch {
	case s.ended:
		return fault.Unavailable(errDraining)
	case s.open[accountID] >= s.config.StreamsPerAccount:
		return tooMany("The account has %d event streams open, which is the most; close one", s.config.StreamsPerAccount)
	case s.all >= s.config.Streams:
		return tooMany("%d event streams are open here, which is the most; ask again later", s.config.Streams)
	}
	s.open[accountID]++
	s.all++
	return nil
}

func tooMany(format string, args ...any) error {
	refusal := fault.Invalidf(format, args...)
	refusal.Kind, refusal.Code, refusal.RetryAfter = fault.Limit, fault.CodeRateLimit, 5*time.Second
	return refusal
}

func (s *Service) exit(accountID string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.all--
	if s.open[accountID]--; s.open[accountID] == 0 {
		delete(s.open, accountID)
	}
}

// Drain ends all streams and lets no more begin. It may be called again.
func (s *Service) Drain() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if !s.ended {
		s.ended = true
		close(s.ending)
	}
}
