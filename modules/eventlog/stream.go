package eventlog

import (
	"context"
	"io"
	"time"

	"github.com/postrider/postrider/runtime/storage/page"
	"github.com/postrider/postrider/runtime/work/event"
)

// streamPage is the number of events that a stream reads per query.
const streamPage = 100

// Stream is a continuous read of the event log. It must be used by one goroutine only.
type Stream struct {
	service   *Service
	accountID string
	query     EventQuery
	woken     chan struct{} // buffers at most one wake
	closed    bool
	more      bool
}

// Open starts a stream after a position. With an empty position it starts with new events. The query's
// Limit is ignored. The caller must close the stream.
func (s *Service) Open(ctx context.Context, accountID string, q EventQuery) (*Stream, error) {
	q.Limit = streamPage
	if q.After == "" {
		q.After = Latest
	}
	if err := q.Validate(); err != nil {
		return nil, err
	}
	stream := &Stream{service: s, accountID: accountID, query: q, woken: make(chan struct{}, 1), more: true}
	if err := s.streams.enter(stream); err != nil {
		return nil, err
	}
	if q.After == Latest { // measured from the opening of the stream, not from its first read
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
	s.service.streams.exit(s)
}

// Position returns the position to continue from.
func (s *Stream) Position() string { return s.query.After }

// Next waits at most maxWait for events, and returns an empty page if there are none. The error is io.EOF
// when the service drains.
func (s *Stream) Next(ctx context.Context, maxWait time.Duration) (page.Page[event.Fact], error) {
	over := time.NewTimer(maxWait)
	defer over.Stop()
	for {
		select {
		case <-s.service.streams.ending:
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

// wait returns when events may be available, or at the next poll.
func (s *Stream) wait(ctx context.Context, over <-chan time.Time) (done bool, err error) {
	look := time.NewTimer(s.service.config.Poll)
	defer look.Stop()
	select {
	case <-ctx.Done():
		return false, ctx.Err()
	case <-s.service.streams.ending:
		return false, io.EOF
	case <-over:
		return true, nil
	case <-look.C:
	case <-s.woken:
	}
	return false, nil
}

// wake makes the stream check for events.
func (s *Stream) wake() {
	select {
	case s.woken <- struct{}{}:
	default:
	}
}
