package devinbox

import (
	"slices"
	"strings"
	"sync"
	"time"
)

// Config configures the module.
type Config struct {
	// Open accepts mail without a test tenant, which development mode captures.
	Open bool
	// Domains are the domains where the sink simulates failing receivers for mail without a test tenant.
	Domains []string
}

// scenario is the behavior that the sink simulates for a recipient.
type scenario string

// The scenarios. Each is the local part of an address, alone or followed by +anything: an address that bounced or
// complained is suppressed, so each test needs its own address.
const (
	scenarioAccept     scenario = ""
	scenarioBounce     scenario = "bounce"      // rejected permanently
	scenarioSoftBounce scenario = "soft-bounce" // accepted, then reported as a bounce because the mailbox stayed full
	scenarioDelay      scenario = "delay"       // deferred, then accepted at the next attempt
	scenarioComplain   scenario = "complain"    // accepted, then reported as spam through the feedback loop
	scenarioSlow       scenario = "slow"        // accepted after a delay
)

// Suppressed is the local part of addresses on the suppression list. The sink does not simulate it, because
// no mail is sent to these addresses.
const Suppressed = "suppress"

// slowness is long enough to notice and short enough for tests.
const slowness = 10 * time.Second

// ScenarioAddresses returns the local parts of the addresses that simulate failures, for display.
func ScenarioAddresses() []string {
	return []string{string(scenarioBounce), string(scenarioSoftBounce), string(scenarioDelay), string(scenarioComplain),
		Suppressed, string(scenarioSlow)}
}

// scenarioOf returns the scenario of a recipient, as written in RCPT.
func (c Config) scenarioOf(recipient string) scenario {
	at := strings.LastIndexByte(recipient, '@')
	if at < 0 || !slices.ContainsFunc(c.Domains,
		func(d string) bool { return strings.EqualFold(d, recipient[at+1:]) }) {
		return scenarioAccept
	}
	return scenarioOfLocalPart(recipient)
}

// scenarioOfLocalPart returns the scenario of a recipient at any domain.
func scenarioOfLocalPart(recipient string) scenario {
	local, _, _ := strings.Cut(recipient[:max(0, strings.LastIndexByte(recipient, '@'))], "+")
	switch p := scenario(strings.ToLower(local)); p {
	case scenarioBounce, scenarioSoftBounce, scenarioDelay, scenarioComplain, scenarioSlow:
		return p
	}
	return scenarioAccept
}

// SuppressedAddresses returns the addresses whose subaddresses are all on the suppression list.
func (c Config) SuppressedAddresses() []string {
	all := make([]string, 0, len(c.Domains))
	for _, domain := range c.Domains {
		all = append(all, Suppressed+"@"+domain)
	}
	return all
}

// simulator simulates receivers.
type simulator struct {
	Config

	greylist greylist
	slowness time.Duration // delay of the slow scenario
	later    time.Duration // delay until a report is sent
	stopped  sync.Once
	stopping chan struct{} // closed at stop
}

func newStage(c Config) simulator {
	return simulator{Config: c, slowness: slowness, later: reportAfter, stopping: make(chan struct{})}
}

func (s *simulator) stop() { s.stopped.Do(func() { close(s.stopping) }) }

// maxGreylisted limits the entries of greylist.
const maxGreylisted = 10_000

// greylist defers unknown envelopes once. It is held in memory, so a restart defers them again, which real
// greylisting servers do as well.
type greylist struct {
	mu    sync.Mutex
	seen  map[string]bool
	order []string // oldest first; still contains admitted envelopes
}

// admit reports whether an envelope was seen before, and then removes it.
func (g *greylist) admit(from, to string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	envelope := from + "\n" + to
	if g.seen[envelope] {
		delete(g.seen, envelope)
		return true
	}
	if g.seen == nil {
		g.seen = map[string]bool{}
	}
	g.seen[envelope] = true
	g.order = append(g.order, envelope)
	if len(g.order) > maxGreylisted {
		delete(g.seen, g.order[0])
		g.order = g.order[1:]
	}
	return false
}
