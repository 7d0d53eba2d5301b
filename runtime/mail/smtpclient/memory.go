package smtpclient

import (
	"errors"
	"net/netip"
	"sync"
	"syscall"
	"time"

	"github.com/postrider/postrider/runtime/mail/lane"
)

const (
	noRouteFor    = 5 * time.Minute // a family without a route is not dialled
	goneLocalFor  = 5 * time.Second // a source address that this machine lacks is not retried
	maxRemembered = 10_000
)

// expiringSet holds keys for a limited time. Its size is limited: if all entries are still valid, the oldest are
// dropped.
type expiringSet[K comparable] struct {
	keep time.Duration

	mu   sync.Mutex
	ends map[K]time.Time
}

func newMemory[K comparable](keep time.Duration) *expiringSet[K] {
	return &expiringSet[K]{keep: keep, ends: map[K]time.Time{}}
}

func (m *expiringSet[K]) isRemembered(k K) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return time.Now().Before(m.ends[k])
}

func (m *expiringSet[K]) remember(k K) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	if len(m.ends) >= maxRemembered {
		m.removeOldest(now)
	}
	m.ends[k] = now.Add(m.keep)
}

// removeOldest removes expired entries, or the older half if there are none.
func (m *expiringSet[K]) removeOldest(now time.Time) {
	limit := now
	for range 2 {
		for k, end := range m.ends {
			if end.Before(limit) {
				delete(m.ends, k)
			}
		}
		if len(m.ends) < maxRemembered {
			return
		}
		limit = now.Add(m.keep / 2)
	}
	clear(m.ends)
}

// familyKey is an address family from a local address.
type familyKey struct {
	ipv6  bool
	local netip.Addr
}

var errNoLocal = errors.New("the source has no address of that family")

var errNoRoute = errors.New("this machine has no route to addresses of that family")

// familyKeyOf returns the key by which a missing route is remembered; ok is false for targets on this machine
// and in private networks, whose routes differ from the general ones.
func familyKeyOf(target, local netip.Addr) (k familyKey, ok bool) {
	if !target.IsGlobalUnicast() || target.IsPrivate() {
		return k, false
	}
	return familyKey{ipv6: target.Is6(), local: local}, true
}

// noRoute reports whether an error would affect every target of the family immediately.
func noRoute(err error) bool {
	return errors.Is(err, syscall.ENETUNREACH) || errors.Is(err, syscall.EAFNOSUPPORT) ||
		errors.Is(err, syscall.EADDRNOTAVAIL)
}

// laneKey names a lane in the pool.
type laneKey struct{ way, set string }

func keyOfLane(way Way, set lane.Set) laneKey { return laneKey{way.Label, set.Name} }
