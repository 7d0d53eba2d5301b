package eventlog

import (
	"context"
	"sync"
	"time"

	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/storage/page"
	"github.com/postrider/postrider/runtime/work/event"
)

// While streams are open, one task of the process polls the horizon and wakes the streams whose accounts
// have new facts before it. Each event therefore reaches its stream even without other consumers, the
// database is polled once for all streams, and an idle stream costs no separate query.

// waking returns the task that wakes streams. It sleeps while no stream is open.
func (s *Service) waking() worker.Task {
	var seen time.Time // the horizon up to which streams were woken; zero if none was open
	return worker.Task{Name: "wakes of event streams", First: worker.UntilWoken, Woken: s.streams.opened,
		Step: func(ctx context.Context) (time.Duration, error) {
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

// wakeStreams wakes the streams of accounts that have facts between since and the horizon, and returns the
// horizon. It also wakes streams opened in the meantime, because their first read may have used an older
// horizon.
func (s *Service) wakeStreams(ctx context.Context, accounts []string, since time.Time) (horizon time.Time, err error) {
	if horizon, err = s.horizon.get(ctx); err != nil {
		return horizon, err
	}
	active := accounts
	if !since.IsZero() {
		if active, err = s.log.ActiveAccounts(ctx, since, horizon, accounts); err != nil {
			return horizon, err
		}
	}
	s.streams.wake(active, accounts)
	return horizon, nil
}

// tail reads up to a horizon shared by all streams of the process.
func (s *Service) tail(ctx context.Context, accountID string, q EventQuery) (page.Page[event.Fact], error) {
	horizon, err := s.horizon.get(ctx)
	if err != nil {
		return page.Page[event.Fact]{}, err
	}
	return s.read(ctx, accountID, q, horizon)
}

// horizonAge is the maximum age of a shared horizon. An older horizon is safe, but shows fewer events.
const horizonAge = 50 * time.Millisecond

// sharedHorizon caches the horizon for many readers, so the log is queried only a few times a second.
type sharedHorizon struct {
	log Log

	mutex sync.Mutex
	at    time.Time
	asked time.Time // when the log was queried
}

// get returns a horizon no older than horizonAge.
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
	if asked.After(h.asked) { // otherwise another caller has read a newer one in the meantime
		h.at, h.asked = at, asked
	}
	return at, nil
}
