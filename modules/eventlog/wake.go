package eventlog

import (
	"context"
	"sync"
	"time"

	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/storage/page"
	"github.com/postrider/postrider/runtime/work/event"
)

// While streams are open, one task of the process asks for the horizon and wakes those
// streams whose account has a fact before it. So an event reaches a stream whether or not
// anything else wants it, the database is asked once for all streams, and a stream that
// has nothing to show costs no read of its own.

// waking is the task that wakes streams. It rests while none is open.
func (s *Service) waking() worker.Task {
	var seen time.Time // the horizon up to which streams were woken; zero: none was open
	return worker.Task{Name: "wakes of event streams", First: worker.UntilWoken, Woken: s.streams.opened, Step: func(ctx context.Context) (time.Duration, error) {
		accounts := s.streams.accounts()
		if len(accounts) == 0 {
			seen = time.Time{}
			return worker.UntilWoken, nil
		}
		horizon, err := s.wakeStreams(ctx, accounts, seen)
		if err == nil {
			seen = horizon
		}
		return wakeInterval, err
	}}
}

// wakeStreams wakes the streams of the accounts that have facts between since and the horizon, which it
// returns, and those that were opened meanwhile: their first read may have been up to an older horizon.
func (s *Service) wakeStreams(ctx context.Context, accounts []string, since time.Time) (horizon time.Time, err error) {
	if horizon, err = s.horizon.get(ctx); err != nil {
		return horizon, err
	}
	active := accounts
	if !since.IsZero() {
		if active, err = s.log.Active(ctx, since, horizon, accounts); err != nil {
			return horizon, err
		}
	}
	s.streams.wake(active, accounts)
	return horizon, nil
}

// tail reads up to a horizon that the streams of the process share.
func (s *Service) tail(ctx context.Context, accountID string, q Query) (page.Page[event.Fact], error) {
	horizon, err := s.horizon.get(ctx)
	if err != nil {
		return page.Page[event.Fact]{}, err
	}
	return s.read(ctx, accountID, q, horizon)
}

// horizonAge is how old a horizon may be that streams share. An old one is safe, it
// only shows less.
const horizonAge = 50 * time.Millisecond

// sharedHorizon is asked for by many and read from the log a few times a second.
type sharedHorizon struct {
	log Log

	mutex sync.Mutex
	at    time.Time
	asked time.Time // when the log was asked
}

// get returns a horizon that is horizonAge old at most.
func (h *sharedHorizon) get(ctx context.Context) (time.Time, error) {
	h.mutex.Lock()
	at, fresh := h.at, time.Since(h.asked) < horizonAge
	h.mutex.Unlock()
	if fresh {
		return at, nil
	}
	asked := time.Now()
	at, err := h.log.Horizon(ctx)
	if err != nil {
		return time.Time{}, err
	}
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if asked.After(h.asked) { // else another caller has read a newer one meanwhile
		h.at, h.asked = at, asked
	}
	return at, nil
}
