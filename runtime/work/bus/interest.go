package bus

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/postrider/postrider/runtime/base/worker"
)

// rereadEvery is the maximum age of the data of an Interest.
const rereadEvery = 5 * time.Second

// Interest caches which accounts a consumer wants facts of. Most accounts do not use the consumer, and their
// facts do not go over the bus. The data may be some seconds old: the catch-up, which reloads it first, finds
// facts published in the meantime. It is safe for concurrent use.
type Interest struct {
	name    string
	channel string
	signals Signals
	read    func(ctx context.Context) (map[string]int, error)

	reading  sync.Mutex // one read at a time, so that the newest result is stored last
	mutex    sync.RWMutex
	accounts map[string]int // nil: not known yet, so the facts of all accounts are wanted
}

// NewInterest returns a new Interest. read returns the accounts, with the number of resources in each that
// want its facts. name describes these resources. The channel is notified when an account gets one.
func NewInterest(name, channel string, signals Signals,
	read func(ctx context.Context) (map[string]int, error)) *Interest {
	return &Interest{name: name, channel: channel, signals: signals, read: read}
}

// Wants reports whether facts of an account are wanted (Consumer.Wants).
func (i *Interest) Wants(accountID string) bool {
	i.mutex.RLock()
	defer i.mutex.RUnlock()
	return i.accounts == nil || i.accounts[accountID] > 0
}

// MarkWanted must be called after the commit that makes an account want its facts.
func (i *Interest) MarkWanted(accountID string) {
	i.mutex.Lock()
	if i.accounts != nil {
		i.accounts[accountID]++
	}
	i.mutex.Unlock()
	i.signals.Wake(i.channel)
}

// Task returns the task that refreshes the data. It subscribes immediately.
func (i *Interest) Task() worker.Task {
	woken, unsubscribe := i.signals.Subscribe(i.channel)
	return worker.Task{Name: "refresh of accounts with " + i.name, Woken: woken, After: unsubscribe,
		Step: func(ctx context.Context) (time.Duration, error) { return rereadEvery, i.Refresh(ctx) }}
}

// Refresh reloads which accounts are wanted (Consumer.Refresh).
func (i *Interest) Refresh(ctx context.Context) error {
	i.reading.Lock()
	defer i.reading.Unlock()
	accounts, err := i.read(ctx)
	if err != nil {
		return fmt.Errorf("read accounts with %s: %w", i.name, err)
	}
	i.mutex.Lock()
	defer i.mutex.Unlock()
	i.accounts = accounts
	return nil
}
