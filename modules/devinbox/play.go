package devinbox

import (
	"slices"
	"strings"
	"sync"
	"time"
)

// Config configures the module.
type Config struct {
	// Domains are the domains where the sink simulates failing receivers; if empty, it accepts all mail.
	Domains []string
}

// scenario is the behavior that the sink simulates for a recipient.
type scenario string

// The parts. Each is the local part of an address, alone or with +anything behind it: who
// has bounced or complained is suppressed, so each test needs an address of its own.
const (
	scenarioAccept     scenario = ""
	scenarioBounce     scenario = "bounce"      // refused permanently
	scenarioSoftBounce scenario = "soft-bounce" // taken, then sent back as a report: the mailbox was full too long
	scenarioDelay      scenario = "delay"       // refused for now, and taken at the next attempt
	scenarioComplain   scenario = "complain"    // taken, then reported as spam through the feedback loop
	scenarioSlow       scenario = "slow"        // taken, after slowness
)

// Suppressed is the local part whose addresses are on the suppression list. The sink has
// nothing to play for it: no mail to them is sent.
const Suppressed = "suppress"

// slowness is long enough to notice, and short enough for a test to wait for.
const slowness = 10 * time.Second

// ScenarioAddresses are the local parts of the addresses that something goes wrong with, for people.
func ScenarioAddresses() []string {
	return []string{string(scenarioBounce), string(scenarioSoftBounce), string(scenarioDelay), string(scenarioComplain),
		Suppressed, string(scenarioSlow)}
}

// scenarioOf is pure: the part of a recipient, as RCPT names it.
func (c Config) scenarioOf(recipient string) scenario {
	at := strings.LastIndexByte(recipient, '@')
	if at < 0 || !slices.ContainsFunc(c.Domains,
		func(d string) bool { return strings.EqualFold(d, recipient[at+1:]) }) {
		return scenarioAccept
	}
	local, _, _ := strings.Cut(recipient[:at], "+")
	switch p := scenario(strings.ToLower(local)); p {
	case scenarioBounce, scenarioSoftBounce, scenarioDelay, scenarioComplain, scenarioSlow:
		return p
	}
	return scenarioAccept
}

// SuppressedAddresses are those that stand for all that are on the list.
func (c Config) SuppressedAddresses() []string {
	all := make([]string, 0, len(c.Domains))
	for _, domain := range c.Domains {
		all = append(all, Suppressed+"@"+domain)
	}
	return all
}

// simulator is what failures are played with.
type simulator struct {
	Config

	greylist greylist
	slowness time.Duration // of slow
	later    time.Duration // until a report
	stopped  sync.Once
	stopping chan struct{} // is closed at the stop
}

func newStage(c Config) simulator {
	return simulator{Config: c, slowness: slowness, later: reportAfter, stopping: make(chan struct{})}
}

func (s *simulator) stop() { s.stopped.Do(func() { close(s.stopping) }) }

// maxGreylisted bounds what greylist remembers.
const maxGreylisted = 10_000

// greylist defers unknown envelopes once. It is in memory: a restart defers them again, as may a restarted
// greylisting server.
type greylist struct {
	mu    sync.Mutex
	seen  map[string]bool
	order []string // oldest first; those that came back are still in it
}

// admit reports whether an envelope was seen before, and then forgets it.
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
