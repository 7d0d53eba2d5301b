package guessing

import (
	"net/netip"
	"slices"
	"time"

	"github.com/postrider/postrider/runtime/base/intake"
	"github.com/postrider/postrider/runtime/base/limit"
)

// Failed attempts allowed per counter. A locked counter allows a new attempt at the latest after the duration
// in short.
const (
	failuresOfPair       = 5  // one email from one network
	failuresOfWidePair   = 15 // one email from the wider network around it
	failuresOfNetwork    = 30 // all emails from one network
	failuresOfWide       = 90
	failuresOfEmail      = 60 // one email from all unknown browsers; then one attempt per minute
	failuresOfDevice     = 10 // one email in a browser that has signed in with it before
	failuresOfCode       = 5  // codes after a correct password; then one every 15 minutes
	failuresOfConfirming = 5  // confirmations of one session; then one every 15 minutes
)

// Mail requests allowed per counter.
const (
	mailsOfPair    = 5
	mailsOfDevice  = 5
	mailsOfNetwork = 30
	mailsOfWide    = 90
)

const (
	short   = 15 * time.Minute
	day     = 24 * time.Hour
	slowest = time.Minute // interval between attempts at an email that many networks guess
)

// bound is one counter of an attempt, with its limit. The name reveals neither the email nor the network.
type bound struct {
	name   string
	most   int
	window time.Duration
	then   time.Duration // interval of attempts over the limit; 0 allows none until the window ends
	ofOne  bool          // the counter is about one email, not about a whole network
}

// Attempt is the set of counters that an attempt uses.
type Attempt struct {
	bounds []bound
	owner  limit.Owner // whose turn in the queue the attempt uses
}

// Visitor is the origin of an attempt.
type Visitor struct {
	Addr   netip.Addr
	Device string // id of a browser in which this user has signed in before; empty if unknown
}

// Owner returns the owner for fair queues: the known browser, or else the network.
func (v Visitor) Owner() limit.Owner {
	if v.Device != "" {
		return limit.Owner{Name: "device " + v.Device, Known: true}
	}
	narrow, _ := networksOf(v.Addr)
	return limit.Owner{Name: narrow}
}

// SignIn returns the attempt to authenticate as the user with the email, in its stored form. A known browser
// has its own counter, which strangers cannot use up.
func (g *Guard) SignIn(email string, v Visitor) Attempt {
	if v.Device != "" {
		return Attempt{[]bound{{name: g.hash("device", email+"\x00"+v.Device), most: failuresOfDevice, window: short,
			ofOne: true}}, v.Owner()}
	}
	narrow, wide := networksOf(v.Addr)
	return Attempt{[]bound{
		{name: g.hash("pair", email+"\x00"+narrow), most: failuresOfPair, window: short, ofOne: true},
		{name: g.hash("wide pair", email+"\x00"+wide), most: failuresOfWidePair, window: short, ofOne: true},
		{name: g.hash("network", narrow), most: failuresOfNetwork, window: short},
		{name: g.hash("wide network", wide), most: failuresOfWide, window: short},
		{name: g.hash("email", email), most: failuresOfEmail, window: day, then: slowest, ofOne: true},
	}, v.Owner()}
}

// Code returns the attempt to enter a code after a correct password.
func (g *Guard) Code(userID string, v Visitor) Attempt {
	return Attempt{[]bound{{name: g.hash("code", userID+"\x00"+v.Device), most: failuresOfCode, window: day,
		then: short, ofOne: true}}, v.Owner()}
}

// Confirm returns the attempt to confirm a session.
func (g *Guard) Confirm(sessionID string) Attempt {
	return Attempt{[]bound{{name: g.hash("session", sessionID), most: failuresOfConfirming, window: day, then: short,
		ofOne: true}}, limit.Owner{Name: "session " + sessionID, Known: true}}
}

// Mail returns the attempt to request mail to a mailbox, known or not. The limit per mailbox applies when
// mail is sent, so that strangers cannot use up a user's requests.
func (g *Guard) Mail(email string, v Visitor) Attempt {
	if v.Device != "" {
		return Attempt{[]bound{{name: g.hash("mail device", email+"\x00"+v.Device), most: mailsOfDevice,
			window: short}}, v.Owner()}
	}
	narrow, wide := networksOf(v.Addr)
	return Attempt{[]bound{
		{name: g.hash("mail pair", email+"\x00"+narrow), most: mailsOfPair, window: short},
		{name: g.hash("mail network", narrow), most: mailsOfNetwork, window: short},
		{name: g.hash("mail wide network", wide), most: mailsOfWide, window: short},
	}, v.Owner()}
}

// LimitRate returns an attempt that is allowed most times per window. Its counter is identified by kind and
// of.
func (g *Guard) LimitRate(kind, of string, most int, window time.Duration) Attempt {
	return Attempt{bounds: []bound{{name: g.hash(kind, of), most: most, window: window}}}
}

// networksOf returns the networks that an address counts toward: one that a single user may have (/24, /56),
// and the wider one of a site or provider (/16, /48).
func networksOf(addr netip.Addr) (narrow, wide string) {
	levels := intake.ContainingPrefixes(addr)
	return levels[1].String(), levels[2].String()
}

// counterNames returns the counters' names, sorted, so that all attempts lock them in the same order.
func (a Attempt) counterNames() (list []string) {
	for _, b := range a.bounds {
		list = append(list, b.name)
	}
	slices.Sort(list)
	return list
}

// windowSeconds returns window and then for each name.
func (a Attempt) windowSeconds(names []string) (windows, thens []float64) {
	for _, name := range names {
		b := a.findBound(name)
		windows, thens = append(windows, b.window.Seconds()), append(thens, b.then.Seconds())
	}
	return windows, thens
}

func (a Attempt) findBound(name string) bound {
	return a.bounds[slices.IndexFunc(a.bounds, func(b bound) bool { return b.name == name })]
}

// splitCounters returns the counters that a success clears, because they belong to one user alone, and those
// that it only decrements, because strangers count toward them too.
func (a Attempt) splitCounters() (own, shared []string) {
	for _, b := range a.bounds {
		if b.ofOne && (b.then == 0 || len(a.bounds) == 1) {
			own = append(own, b.name)
		} else {
			shared = append(shared, b.name)
		}
	}
	return own, shared
}
