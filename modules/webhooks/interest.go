package webhooks

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/lib/pq"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/runtime/event"
	"github.com/postrider/postrider/runtime/id"
	"github.com/postrider/postrider/runtime/telemetry"
)

// Most accounts have no endpoint, and a fact that nobody is told of need not go over
// the bus. Each process knows which accounts have one. What it knows may be some
// seconds old: what was published in between by a process that had not heard yet of an
// endpoint is found among the facts and delivered then (catchUp).

// endpointsChannel is woken when an account got an endpoint, or had one switched on.
const endpointsChannel = "webhook_endpoints"

const (
	rereadEvery = 5 * time.Second
	// catchUpFor is how long after its last change an endpoint's facts are looked
	// through: several times as long as a process may not have heard of it.
	catchUpFor = time.Minute
	catchUpMax = 1000 // facts at a time
)

// interest is the accounts that have an endpoint.
type interest struct {
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

// follow keeps what is known fresh until the returned function is called.
func (s *Service) follow(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	woken, unsubscribe := s.signals.Subscribe(endpointsChannel)
	var done sync.WaitGroup
	done.Go(func() {
		tick := time.NewTicker(rereadEvery)
		defer tick.Stop()
		for {
			if err := s.reread(ctx); err != nil && ctx.Err() == nil {
				s.log.WarnContext(ctx, "webhooks: which accounts have endpoints could not be read", telemetry.KeyError, err)
			}
			select {
			case <-ctx.Done():
				return
			case <-woken:
			case <-tick.C:
			}
		}
	})
	return func() { cancel(); unsubscribe(); done.Wait() }
}

// reread learns which accounts have endpoints, and then delivers what was published
// by those who did not know.
func (s *Service) reread(ctx context.Context) error {
	rows, err := s.db.SQL.QueryContext(ctx, `SELECT account_id, count(*) FROM webhooks WHERE enabled GROUP BY 1`)
	if err != nil {
		return fmt.Errorf("read endpoints: %w", err)
	}
	type owner struct {
		account   string
		endpoints int
	}
	list, err := scanAll(rows, func(o *owner) []any { return []any{&o.account, &o.endpoints} })
	if err != nil {
		return fmt.Errorf("read endpoints: %w", err)
	}
	accounts := make(map[string]int, len(list))
	for _, o := range list {
		accounts[o.account] = o.endpoints
	}
	s.interest.set(accounts)
	return s.catchUp(ctx)
}

// overlookedSQL finds facts since an endpoint's last change that it wants and has no
// delivery of. Ids are in the order of time.
const overlookedSQL = `
SELECT f.id, f.account_id, f.type, f.subject_id, f.created_at FROM webhooks w JOIN facts f ON f.account_id = w.account_id
WHERE w.enabled AND w.updated_at > now() - $1 * interval '1 microsecond' AND f.id > $2 AND f.created_at >= w.updated_at
	AND f.type = ANY($3) AND (jsonb_array_length(w.events) = 0 OR w.events ? f.type)
	AND NOT EXISTS (SELECT FROM webhook_deliveries d WHERE d.webhook_id = w.id AND d.event_id = f.id)
ORDER BY f.id LIMIT $4`

func (s *Service) catchUp(ctx context.Context) error {
	floor := id.Since(id.Fact, time.Now().Add(-2*catchUpFor))
	rows, err := s.db.SQL.QueryContext(ctx, overlookedSQL, catchUpFor.Microseconds(), floor, pq.Array(s.public), catchUpMax)
	if err != nil {
		return fmt.Errorf("find missed events: %w", err)
	}
	missed, err := scanAll(rows, func(f *event.Fact) []any { return []any{&f.ID, &f.AccountID, &f.Type, &f.SubjectID, &f.CreatedAt} })
	if err != nil {
		return fmt.Errorf("find missed events: %w", err)
	}
	for _, fact := range missed {
		err := s.db.InTx(ctx, func(tx *ent.Tx) error {
			_, err := s.fanOut(ctx, tx, fact, nil)
			return err
		})
		if err != nil {
			return fmt.Errorf("deliver missed event: %w", err)
		}
	}
	if len(missed) > 0 {
		s.signals.Wake(deliveryChannel)
	}
	return nil
}
