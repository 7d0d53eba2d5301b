// Package lane says how much may go where at once: to each set of mail hosts, by each
// way that mail leaves, within this process.
//
// A lane is one MX set reached by one way (the machine's own address, a source
// address, a smarthost). It has
//
//   - a window of connections, which begins small, grows with deliveries up to what the
//     provider's profile allows, is halved when the receiver throttles and loses one
//     with each connection that fails;
//   - a rate of messages per minute where the profile has one, halved and recovered
//     like the window;
//   - a back-off: after several connections in a row that never got a greeting the
//     destination is taken for dead and the lane makes no attempt for 30 s, then twice
//     as long each time, at most 10 min. When it ends one connection probes; an answer
//     opens the lane. What a server says about one recipient never pauses a lane:
//     greylisting is no sign of trouble. A server that throttles pauses it shortly.
//
// Who has work for a destination reserves first (Reserve), then enters the lane when its
// mail hosts are known (Enter) and leaves it with what happened (Pass.Leave). Until the
// mail hosts of a destination are known there is a provisional lane for the destination;
// what Enter learns is remembered for an hour. Reservations may be the window and half of
// it again: those that wait for their turn keep connections from idling.
//
// All lanes together have Config.Connections. Lanes that have had no delivery yet (or
// none since they were last taken for dead) may take half of them together, so that a
// hundred dead destinations leave room for the others. An operator's own server (a
// smarthost) is one lane whoever the mail is for; its window begins at the full number.
//
// Where several processes leave from one address (Config.Among) each takes its part of what
// the provider's profile allows.
//
// A lane that nobody used for ten minutes is forgotten. The package knows no database;
// all of it is safe for concurrent use, and nothing waits but Enter.
package lane

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// ErrNoRoom is the error of Enter when nothing may be attempted now.
var ErrNoRoom = errors.New("no room in the lane")

const (
	patience    = 2 * time.Second  // of Enter
	unusedAfter = 10 * time.Minute // a lane is forgotten
	remembered  = time.Hour        // which lane a destination leads to
	maxRoutes   = 50_000           // destinations remembered
	maxName     = 200              // octets of a set's name
)

// Config shapes a Registry. Zero values take the defaults.
type Config struct {
	Connections int       // of all lanes together, default 256
	Profiles    *Profiles // limits by provider; nil: the built-in ones

	// Smarthost is the server that takes all mail whose way names no smarthost of its
	// own; nil: mail goes to the mail hosts of its destinations.
	Smarthost *Set

	// Among says how many processes share what a provider allows a way: they leave from one
	// address. Connections and rate of the profile are divided by it, at least one is left;
	// an operator's own server is not divided. It is asked again and again, must not block
	// and must not ask the registry. nil: this process is alone.
	Among func(way string) int
}

// Set is an MX set. A smarthost is a set of one.
type Set struct {
	Name  string   // canonical: the same hosts have the same name in any order
	Hosts []string // for the provider's profile, in the order of preference
	Own   bool     // an operator's own server: no provider's limits hold
}

// NewSet names a set of mail hosts.
func NewSet(hosts ...string) Set {
	names := make([]string, 0, len(hosts))
	for _, h := range hosts {
		names = append(names, canonical(h))
	}
	slices.Sort(names)
	name := strings.Join(slices.Compact(names), ",")
	if len(name) > maxName { // strangers write it
		sum := sha256.Sum256([]byte(name))
		name = fmt.Sprintf("%s…%x", name[:maxName-20], sum[:8])
	}
	return Set{Name: name, Hosts: hosts}
}

func canonical(host string) string { return strings.ToLower(strings.TrimSuffix(host, ".")) }

// smarthostPrefix begins the label of every way that leads to a smarthost.
const smarthostPrefix = "smarthost:"

// SmarthostWay is the label of the way by a smarthost, given as host:port.
func SmarthostWay(address string) string { return smarthostPrefix + address }

// Feedback is what happened between Enter and Leave: exactly one of the four, or none
// when nothing can be said of the destination (the delivery was given up on this side).
type Feedback struct {
	Delivered   bool
	Refused     bool   // the server answered, about this recipient or message
	Throttled   bool   // the server wants less
	Unreachable bool   // no greeting was had
	Reason      string // what the server or the network said, for Throttled and Unreachable
}

// State is a lane at one moment.
type State struct {
	Way, Name, Provider                        string
	Provisional                                bool // Name is a destination whose mail hosts are not known yet
	Window, Active, Reserved                   int
	PausedUntil                                time.Time // zero: not paused
	Reason                                     string    // of the pause
	Delivered, Refused, Throttled, Unreachable uint64
	Rate                                       float64 // messages per minute now; 0: without limit
	Used                                       time.Time
}
