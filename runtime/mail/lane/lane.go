// Package lane limits the concurrent traffic of this process to each set of mail hosts, by each way that
// mail is sent.
//
// A lane is one MX set reached by one way (the machine's own address, a source address, a smarthost). It
// has
//
//   - a window of connections, which starts small, grows with deliveries up to the limit of the provider's
//     profile, is halved when the receiver throttles, and shrinks by one with each failed connection;
//   - a rate of messages per minute if the profile has one, halved and recovered like the window;
//   - a back-off: after several consecutive connections without a greeting, the destination counts as dead
//     and the lane makes no attempt for 30 s, then twice as long each time, at most 10 min. Afterwards one
//     connection probes; an answer opens the lane. Replies about single recipients never pause a lane:
//     greylisting is not a sign of trouble. A server that throttles pauses it briefly.
//
// A caller with work for a destination reserves first (Reserve), then enters the lane when its mail hosts
// are known (Enter), and leaves it with the result (Pass.Leave). Until the mail hosts of a destination are
// known it has a provisional lane; what Enter learns is remembered for an hour. There may be one and a half
// times as many reservations as the window: queued ones keep connections from idling.
//
// All lanes together have Config.Connections. Lanes without a delivery so far (or since they last counted
// as dead) may together use half of them, so that a hundred dead destinations leave room for the others. An
// operator's own server (a smarthost) is one lane for all mail; its window starts at the full number.
//
// If several processes send from one address (Config.Among), each uses its share of the provider's profile.
//
// A lane that was not used for ten minutes is forgotten. The package uses no database; all of it is safe
// for concurrent use, and only Enter blocks.
package lane

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// ErrNoRoom is the error of Enter if no attempt may start now.
var ErrNoRoom = errors.New("no room in the lane")

const (
	patience    = 2 * time.Second  // of Enter
	unusedAfter = 10 * time.Minute // a lane is forgotten
	remembered  = time.Hour        // how long the lane of a destination is remembered
	maxRoutes   = 50_000           // destinations remembered
	maxName     = 200              // maximum length of a set's name in bytes
)

// Config configures a Registry. Zero values use the defaults.
type Config struct {
	Connections int       // of all lanes together, default 256
	Profiles    *Profiles // limits by provider; nil: the built-in ones

	// Smarthost is the server for all mail whose way has no smarthost of its own; nil: mail goes to the
	// mail hosts of its destinations.
	Smarthost *Set

	// Among returns how many processes share a provider's limits for a way, because they send from one
	// address. Connections and rate of the profile are divided by it, with a minimum of one; limits of an
	// operator's own server are not divided. It is called often, must not block and must not call the
	// registry. nil: this process is alone.
	Among func(way string) int
}

// Set is an MX set. A smarthost is a set of one.
type Set struct {
	Name  string   // canonical: the same hosts have the same name in any order
	Hosts []string // for the provider's profile, in order of preference
	Own   bool     // an operator's own server, without provider limits
}

// NewSet returns the set of the given mail hosts.
func NewSet(hosts ...string) Set {
	names := make([]string, 0, len(hosts))
	for _, h := range hosts {
		names = append(names, canonicalHost(h))
	}
	slices.Sort(names)
	name := strings.Join(slices.Compact(names), ",")
	if len(name) > maxName { // the hosts are untrusted
		sum := sha256.Sum256([]byte(name))
		name = fmt.Sprintf("%s…%x", name[:maxName-20], sum[:8])
	}
	return Set{Name: name, Hosts: hosts}
}

func canonicalHost(host string) string { return strings.ToLower(strings.TrimSuffix(host, ".")) }

// smarthostPrefix starts the label of every way through a smarthost.
const smarthostPrefix = "smarthost:"

// SmarthostWay returns the label of the way through a smarthost, given as host:port.
func SmarthostWay(address string) string { return smarthostPrefix + address }

// Feedback is the result between Enter and Leave: exactly one of the four, or none if nothing is known
// about the destination (the delivery was abandoned on this side).
type Feedback struct {
	Delivered   bool
	Refused     bool   // the server rejected this recipient or message
	Throttled   bool   // the server asked for less traffic
	Unreachable bool   // there was no greeting
	Reason      string // reply or network error, for Throttled and Unreachable
}

// Snapshot is a snapshot of a lane.
type Snapshot struct {
	Way, Name, Provider                        string
	Provisional                                bool // Name is a destination whose mail hosts are unknown so far
	Window, Active, Reserved                   int
	PausedUntil                                time.Time // zero: not paused
	Reason                                     string    // of the pause
	Delivered, Refused, Throttled, Unreachable uint64
	Rate                                       float64 // current messages per minute; 0: unlimited
	Used                                       time.Time
}
