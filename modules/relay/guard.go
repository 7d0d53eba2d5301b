package relay

import (
	"net/netip"
	"sync"
	"time"

	"github.com/postrider/postrider/runtime/base/intake"
)

// guard counts wrong passwords by client address, in this process. It remembers a limited number of addresses
// and drops the oldest failure first.
type guard struct {
	most int
	time time.Duration

	mu     sync.Mutex
	counts map[netip.Prefix]failures
}

type failures struct {
	n     int
	since time.Time
}

const maxAddresses = 10_000

func newGuard(most int, within time.Duration) *guard {
	return &guard{most: most, time: within, counts: map[netip.Prefix]failures{}}
}

// isAllowed reports whether the address may try a password.
func (g *guard) isAllowed(addr netip.Addr) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	f, found := g.counts[intake.ContainingPrefixes(addr)[0]]
	return !found || f.n < g.most || time.Since(f.since) >= g.time
}

// recordFailure counts a wrong password.
func (g *guard) recordFailure(addr netip.Addr) {
	g.mu.Lock()
	defer g.mu.Unlock()
	key := intake.ContainingPrefixes(addr)[0]
	f, found := g.counts[key]
	if !found || time.Since(f.since) >= g.time {
		f = failures{since: time.Now()}
	}
	if f.n++; !found && len(g.counts) >= maxAddresses {
		g.forgetOne()
	}
	g.counts[key] = f
}

func (g *guard) forgetOne() {
	var oldest netip.Prefix
	var since time.Time
	for key, f := range g.counts {
		if since.IsZero() || f.since.Before(since) {
			oldest, since = key, f.since
		}
	}
	delete(g.counts, oldest)
}
