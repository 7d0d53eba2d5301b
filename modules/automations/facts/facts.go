package facts

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/postrider/postrider/modules/automations/definition"
	"github.com/postrider/postrider/modules/automations/ingest"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/work/bus"
	"github.com/postrider/postrider/runtime/work/event"
)

const (
	// storedChannel is woken when events have been stored.
	storedChannel = "automation_facts"
	// listenersChannel is woken when an account begins to listen to mail events.
	listenersChannel = "automation_fact_listeners"

	poll = 5 * time.Second // maximum interval between searches for stored events
)

// EventApplier applies stored events.
type EventApplier interface {
	ApplyBuiltInEvents(ctx context.Context) error
}

// Service turns facts into events. It is safe for concurrent use.
type Service struct {
	interest *bus.Interest
	signals  bus.Signals
	taker    EventApplier
	stored   atomic.Bool // the bus has not yet committed some stored events
}

// New creates the service.
func New(d *db.DB, signals bus.Signals, taker EventApplier) *Service {
	s := &Service{signals: signals, taker: taker}
	s.interest = bus.NewInterest("automations that listen to mail", listenersChannel, signals,
		func(ctx context.Context) (map[string]int, error) { return loadListeners(ctx, d) })
	return s
}

// listenersSQL returns the accounts that have an automation listening to built-in events.
const listenersSQL = `
SELECT l.account_id, count(*) FROM automation_listens l JOIN automations a ON a.id = l.automation_id
WHERE l.event LIKE '$%' AND a.status <> 'archived' GROUP BY 1`

func loadListeners(ctx context.Context, d *db.DB) (map[string]int, error) {
	type listener struct {
		accountID string
		n         int
	}
	rows, err := db.All(ctx, d.SQL, func(l *listener) []any { return []any{&l.accountID, &l.n} }, listenersSQL)
	accounts := make(map[string]int, len(rows))
	for _, l := range rows {
		accounts[l.accountID], accounts[id.TestTenantOf(l.accountID)] = l.n, l.n
	}
	return accounts, err
}

// MarkListening must be called after the commit that makes an account begin to listen to such events.
func (s *Service) MarkListening(accountID string) {
	s.interest.MarkWanted(accountID)
	s.interest.MarkWanted(id.TestTenantOf(accountID))
}

// Consumer returns the consumer of facts.
func (s *Service) Consumer() bus.Consumer {
	types := make([]event.Type, len(definition.BuiltInEvents))
	for i, name := range definition.BuiltInEvents {
		types[i] = event.Type(strings.TrimPrefix(name, "$"))
	}
	return bus.Consumer{Group: "automations", Types: types, Handle: s.handle, Wants: s.interest.Wants,
		Refresh: s.interest.Refresh, Committed: s.wakeAfterCommit}
}

// Tasks refresh the set of listening accounts and apply stored events.
func (s *Service) Tasks() []worker.Task {
	woken, unsubscribe := s.signals.Subscribe(storedChannel)
	return []worker.Task{s.interest.Task(), {Name: "mail events of automations", Woken: woken, After: unsubscribe,
		Step: func(ctx context.Context) (time.Duration, error) { return poll, s.taker.ApplyBuiltInEvents(ctx) }}}
}

// handle stores the event for a fact.
func (s *Service) handle(ctx context.Context, tx db.Execer, fact event.Fact) error {
	own, err := ownOf(fact)
	if err != nil {
		return err
	}
	stored, err := ingest.StoreBuiltIn(ctx, tx, own)
	if stored {
		s.stored.Store(true)
	}
	return err
}

// wakeAfterCommit wakes the task once the events are visible.
func (s *Service) wakeAfterCommit() {
	if s.stored.Swap(false) {
		s.signals.Wake(storedChannel)
	}
}

// ownOf returns the person that a fact is about and the email that caused it.
func ownOf(fact event.Fact) (ingest.BuiltInEvent, error) {
	own := ingest.BuiltInEvent{Fact: fact}
	var data struct {
		EmailID   string `json:"email_id"`
		Recipient string `json:"recipient"`
		Email     string `json:"email"`
		From      string `json:"from"`
		InReplyTo string `json:"in_reply_to"`
	}
	if err := json.Unmarshal(fact.Data, &data); err != nil {
		return own, fmt.Errorf("read the fact %s: %w", fact.ID, err)
	}
	switch fact.Type {
	case event.EmailReceived:
		if from, err := address.Parse(data.From); err == nil {
			own.Email = from.AddrSpec()
		}
		if answered, _, _ := strings.Cut(data.InReplyTo, "@"); id.Is(id.Email, answered) {
			own.AboutID = answered // Message-IDs of this service start with the id of the email
		}
	case event.ContactUnsubscribed:
		own.Email, own.AboutID = data.Email, data.EmailID
	default:
		own.Email, own.AboutID = data.Recipient, data.EmailID
	}
	return own, nil
}
