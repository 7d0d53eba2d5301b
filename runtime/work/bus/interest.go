package bus

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/postrider/postrider/runtime/base/worker"
)

// rereadEvery is how old what an Interest knows may be.
const rereadEvery = 5 * time.Second

// Interest knows from memory which accounts a consumer wants facts of. Most accounts need
// nothing of it, and their facts do not go over the bus. What is known may be some seconds
// old: the facts that went by meanwhile are found by the catch-up, which reads anew first.
// Safe for concurrent use.
type Interest struct {
	name    string
	channel string
	signals Signals
	read    func(ctx context.Context) (map[string]int, error)

	reading  sync.Mutex // by one at a time, so that the newer reading is stored last
	mutex    sync.RWMutex
	accounts map[string]int // nil: not known yet, so everybody's facts are wanted
}

// NewInterest makes one. read gives the accounts, and for each how much there is that wants
// its facts; name says what they have, and the channel is woken when one gets it.
func NewInterest(name, channel string, signals Signals, read func(ctx context.Context) (map[string]int, error)) *Interest {
	return &Interest{name: name, channel: channel, signals: signals, read: read}
}

// Wants tells whether facts of an account are wanted (Consumer.Wants).
func (i *Interest) Wants(accountID string) bool {
	i.mutex.RLock()
	defer i.mutex.RUnlock()
	return i.accounts == nil || i.accounts[accountID] > 0
}

// Appeared is called after the commit with which an account came to want its facts.
func (i *Interest) Appeared(accountID string) {
	i.mutex.Lock()
	if i.accounts != nil {
		i.accounts[accountID]++
	}
	i.mutex.Unlock()
	i.signals.Wake(i.channel)
}

// Task keeps what is known fresh. It is subscribed at once.
func (i *Interest) Task() worker.Task {
	woken, unsubscribe := i.signals.Subscribe(i.channel)
	return worker.Task{Name: "reading of which accounts have " + i.name, Woken: woken, After: unsubscribe,
		Step: func(ctx context.Context) (time.Duration, error) { return rereadEvery, i.Refresh(ctx) }}
}

// Refresh reads anew which accounts are wanted (Consumer.Refresh).
func (i *Interest) Refresh(ctx context.Context) error {
	i.reading.Lock()
	defer i.reading.Unlock()
	accounts, err := i.read(ctx)
	if err != nil {
		return fmt.Errorf("read which accounts have %s: %w", i.name, err)
	}
	i.mutex.Lock()
	defer i.mutex.Unlock()
	i.accounts = accounts
	return nil
}
