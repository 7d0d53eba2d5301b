package webhooks

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/postrider/postrider/runtime/db"
	"github.com/postrider/postrider/runtime/worker"
)

// Most accounts have no endpoint, and a fact that nobody is told of need not go over
// the bus. Each process knows which accounts have one. That may be some seconds old:
// the facts that went by meanwhile are found by the bus, which asks for a reread first.

// endpointsChannel is woken when an account got an endpoint, or had one switched on.
const endpointsChannel = "webhook_endpoints"

const rereadEvery = 5 * time.Second

// interest is the accounts that have an endpoint.
type interest struct {
	reading  sync.Mutex // by one at a time, so that the newer reading is stored last
	mutex    sync.RWMutex
	accounts map[string]int // how many; nil: not known yet, so everybody's facts are wanted
}

func (i *interest) wants(accountID string) bool {
	i.mutex.RLock()
	defer i.mutex.RUnlock()
	return i.accounts == nil || i.accounts[accountID] > 0
}

// endpoints is how many an account has, as far as is known.
func (i *interest) endpoints(accountID string) int {
	i.mutex.RLock()
	defer i.mutex.RUnlock()
	return i.accounts[accountID]
}

func (i *interest) set(accounts map[string]int) {
	i.mutex.Lock()
	defer i.mutex.Unlock()
	i.accounts = accounts
}

// appeared is called after the commit that gave an account an endpoint.
func (s *Service) appeared(accountID string) {
	s.interest.mutex.Lock()
	if s.interest.accounts != nil {
		s.interest.accounts[accountID]++
	}
	s.interest.mutex.Unlock()
	s.signals.Wake(endpointsChannel)
}

// rereading is the task that keeps what is known fresh. It is subscribed at once.
func (s *Service) rereading() worker.Task {
	woken, unsubscribe := s.signals.Subscribe(endpointsChannel)
	return worker.Task{Name: "reading of which accounts have webhooks", Woken: woken, After: unsubscribe,
		Step: func(ctx context.Context) (time.Duration, error) { return rereadEvery, s.reread(ctx) }}
}

// reread learns which accounts have endpoints.
func (s *Service) reread(ctx context.Context) error {
	s.interest.reading.Lock()
	defer s.interest.reading.Unlock()
	type owner struct {
		account   string
		endpoints int
	}
	list, err := db.All(ctx, s.db.SQL, func(o *owner) []any { return []any{&o.account, &o.endpoints} },
		`SELECT account_id, count(*) FROM webhooks WHERE enabled GROUP BY 1`)
	if err != nil {
		return fmt.Errorf("read endpoints: %w", err)
	}
	accounts := make(map[string]int, len(list))
	for _, o := range list {
		accounts[o.account] = o.endpoints
	}
	s.interest.set(accounts)
	return nil
}
