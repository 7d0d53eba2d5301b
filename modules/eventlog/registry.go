package eventlog

import (
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/postrider/postrider/runtime/base/fault"
)

// registry holds the open streams of the process.
type registry struct {
	opened chan struct{} // receives a wake when a stream is opened
	ending chan struct{} // closed when the service drains

	mutex sync.Mutex
	open  map[string][]*Stream // by account
	all   int
	ended bool
}

func newRegistry() *registry {
	return &registry{opened: make(chan struct{}, 1), ending: make(chan struct{}), open: map[string][]*Stream{}}
}

var errDraining = errors.New("the service is stopping")

// enter registers a stream, unless the service is stopping or too many are open.
func (r *registry) enter(stream *Stream) error {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	switch {
	case r.ended:
		return fault.DatabaseUnavailable(errDraining)
	case len(r.open[stream.accountID]) >= maxAccountStreams:
		return tooMany("The account has %d event streams open, which is the maximum; close one", maxAccountStreams)
	case r.all >= maxStreams:
		return tooMany("This server has %d event streams open, which is the maximum; retry later", maxStreams)
	}
	r.open[stream.accountID] = append(r.open[stream.accountID], stream)
	r.all++
	select {
	case r.opened <- struct{}{}:
	default:
	}
	return nil
}

func tooMany(format string, args ...any) error {
	refusal := fault.Invalidf(format, args...)
	refusal.Kind, refusal.Code, refusal.RetryAfter = fault.Limit, fault.CodeRateLimit, 5*time.Second
	return refusal
}

// exit removes a stream.
func (r *registry) exit(stream *Stream) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.all--
	left := slices.DeleteFunc(r.open[stream.accountID], func(other *Stream) bool { return other == stream })
	if r.open[stream.accountID] = left; len(left) == 0 {
		delete(r.open, stream.accountID)
	}
}

// accounts returns the accounts that have open streams.
func (r *registry) accounts() []string {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return slices.Collect(maps.Keys(r.open))
}

// wake wakes the streams of the active accounts, and those of accounts missing from asked.
func (r *registry) wake(active, asked []string) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for account, streams := range r.open {
		if slices.Contains(active, account) || !slices.Contains(asked, account) {
			for _, stream := range streams {
				stream.wake()
			}
		}
	}
}

// Drain ends all streams and rejects new ones. It is safe to call more than once.
func (s *Service) Drain() {
	r := s.streams
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if !r.ended {
		r.ended = true
		close(r.ending)
	}
}
