package eventexport

import (
	"context"
	"errors"
	"slices"

	"github.com/postrider/postrider/modules/eventexport/jetstream"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/work/bus"
	"github.com/postrider/postrider/runtime/work/event"
)

// Limits of a page in facts and in bytes, which bound the memory of a process.
const (
	pageFacts = 1000
	pageBytes = 4 << 20
)

// run publishes one page.
func (s *Service) run(ctx context.Context, c cursor, lease *worker.Lease) page {
	read, err := s.facts.ReadFeed(ctx, bus.Feed{After: c.position, Before: c.horizon, Limit: s.config.Page,
		Octets: pageBytes})
	if err != nil {
		return failedPage(ctx, c.position, 0, err)
	}
	there, sent, err := s.publishMissing(ctx, c, read.Facts, lease)
	if err != nil {
		return failedPage(ctx, positionReached(c.position, read.Facts, there), sent, err)
	}
	position := read.Next
	if n := len(read.Facts); n > 0 {
		position = read.Facts[n-1].ID
	}
	return page{position: position, sent: sent, more: read.More}
}

// failedPage returns the result of an unfinished page.
func failedPage(ctx context.Context, position string, sent int, err error) page {
	p := page{position: position, sent: sent, more: true, err: err, cut: errors.Is(err, errNotOurs)}
	if cause := context.Cause(ctx); errors.Is(cause, worker.ErrStopping) || errors.Is(cause, worker.ErrLeaseOver) {
		p.cut = true
	}
	return p
}

var errNotOurs = errors.New("the lease of the export has expired")

// publishMissing publishes the facts that the stream lacks. there[i] reports whether the stream has facts[i], or must
// not have it.
func (s *Service) publishMissing(ctx context.Context, c cursor, facts []event.Fact,
	lease *worker.Lease) (there []bool, sent int, err error) {
	there = make([]bool, len(facts))
	stream, err := s.connectedStream(ctx)
	if err != nil {
		return there, 0, err
	}
	stored := map[string]bool{}
	if c.open && !c.again {
		if stored, err = stream.StoredIDs(ctx, c.position, s.config.Page); err != nil {
			s.doubt()
			return there, 0, err
		}
	}
	var missing []event.Fact
	var places []int
	for i, f := range facts {
		if there[i] = stored[f.ID] || !isExported(f); !there[i] {
			missing, places = append(missing, f), append(places, i)
		}
	}
	acked, err := stream.Publish(ctx, missing, func() error {
		if !lease.IsValid() {
			return errNotOurs
		}
		return nil
	})
	for i, place := range places {
		if there[place] = acked[i]; acked[i] {
			sent++
		}
	}
	if err != nil {
		s.doubt()
	}
	return there, sent, err
}

// isExported reports whether a fact is exported. Facts of test mode are not. Types unknown to this version come from a
// newer version and are exported, because otherwise the position would skip them.
func isExported(f event.Fact) bool {
	entry, known := event.Lookup(f.Type)
	return (!known || entry.IsPublic()) && !id.IsTestTenant(f.AccountID)
}

// positionReached returns the position before the first missing fact.
func positionReached(position string, facts []event.Fact, there []bool) string {
	if first := slices.Index(there, false); first >= 0 {
		facts = facts[:first]
	}
	if len(facts) > 0 {
		position = facts[len(facts)-1].ID
	}
	return position
}

// connectedStream returns the stream, and checks it again after a failure.
func (s *Service) connectedStream(ctx context.Context) (*jetstream.Stream, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stream != nil && s.stream.IsClosed() {
		s.stream = nil
	}
	var err error
	switch {
	case s.stream == nil:
		s.stream, err = jetstream.Open(ctx, s.config.Stream)
	case s.doubtful:
		err = s.stream.Prepare(ctx)
	}
	s.doubtful = err != nil
	return s.stream, err
}

func (s *Service) doubt() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.doubtful = true
}

func (s *Service) disconnect() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stream != nil {
		s.stream.Close()
		s.stream = nil
	}
}
