package guessing

import (
	"net/netip"
	"slices"
	"time"

	"github.com/postrider/postrider/runtime/base/intake"
	"github.com/postrider/postrider/runtime/base/limit"
)

// How many failed attempts are judged freely, and in what time. Nobody waits for longer than short.
const (
	failuresOfPair       = 5  // one email from one network
	failuresOfWidePair   = 15 // one email from the wider network around it
	failuresOfNetwork    = 30 // all emails from one network
	failuresOfWide       = 90
	failuresOfEmail      = 60 // one email from all browsers that are not known; then one attempt a minute
	failuresOfDevice     = 10 // one email in a browser that has signed in with it before
	failuresOfCode       = 5  // codes after a right password; then one a quarter of an hour
	failuresOfConfirming = 5  // one session that confirms; then one a quarter of an hour
)

// How many mails may be asked for.
const (
	mailsOfPair    = 5
	mailsOfDevice  = 5
	mailsOfNetwork = 30
	mailsOfWide    = 90
)

const (
	short   = 15 * time.Minute
	day     = 24 * time.Hour
	slowest = time.Minute // between two attempts at an email that many networks guess at
)

// bound is one name that an attempt counts for. The name tells neither the email nor the network.
type bound struct {
	name   string
	most   int
	window time.Duration
	then   time.Duration // beyond most one attempt is judged in so long; 0: none before the window ends
	ofOne  bool          // it is about one email, not about a whole network
}

// Attempt is what is counted, each with its limit.
type Attempt struct {
	bounds []bound
	owner  limit.Caller // whose turn it takes
}

// Visitor is where an attempt comes from.
type Visitor struct {
	Addr   netip.Addr
	Device string // id of a browser that has signed in as this person before; empty: a stranger's
}

// Owner is whose turn it is where work is shared out: that of a browser that is known, or of a network.
func (v Visitor) Owner() limit.Caller {
	if v.Device != "" {
		return limit.Caller{Name: "device " + v.Device, Known: true}
	}
	narrow, _ := networksOf(v.Addr)
	return limit.Caller{Name: narrow}
}

// SignIn is an attempt to show that one is the person with the email, in its stored form. A browser that
// is known has a count of its own: strangers do not use it up.
func (g *Guard) SignIn(email string, v Visitor) Attempt {
	if v.Device != "" {
		return Attempt{[]bound{{name: g.hash("device", email+"\x00"+v.Device), most: failuresOfDevice, window: short, ofOne: true}}, v.Owner()}
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

// Code is an attempt to give the code of a person whose password was right.
func (g *Guard) Code(userID string, v Visitor) Attempt {
	return Attempt{[]bound{{name: g.hash("code", userID+"\x00"+v.Device), most: failuresOfCode, window: day, then: short, ofOne: true}}, v.Owner()}
}

// Confirm is an attempt, in a session, to show that one is still its person.
func (g *Guard) Confirm(sessionID string) Attempt {
	return Attempt{[]bound{{name: g.hash("session", sessionID), most: failuresOfConfirming, window: day, then: short, ofOne: true}}, limit.Caller{Name: "session " + sessionID, Known: true}}
}

// Mail is a request for a mail to a mailbox, known or not. How many are sent to one mailbox is bounded
// where they are sent, so that strangers do not use up what a person may ask for.
func (g *Guard) Mail(email string, v Visitor) Attempt {
	if v.Device != "" {
		return Attempt{[]bound{{name: g.hash("mail device", email+"\x00"+v.Device), most: mailsOfDevice, window: short}}, v.Owner()}
	}
	narrow, wide := networksOf(v.Addr)
	return Attempt{[]bound{
		{name: g.hash("mail pair", email+"\x00"+narrow), most: mailsOfPair, window: short},
		{name: g.hash("mail network", narrow), most: mailsOfNetwork, window: short},
		{name: g.hash("mail wide network", wide), most: mailsOfWide, window: short},
	}, v.Owner()}
}

// Times is something that may happen so often in a window, counted under a name of one kind.
func (g *Guard) Times(kind, of string, most int, window time.Duration) Attempt {
	return Attempt{bounds: []bound{{name: g.hash(kind, of), most: most, window: window}}}
}

// networksOf are what an address is counted by: the network that one person may have (/24, /56), and the
// wider one around it that a site or a provider has (/16, /48).
func networksOf(addr netip.Addr) (narrow, wide string) {
	levels := intake.ContainingPrefixes(addr)
	return levels[1].String(), levels[2].String()
}

// names are sorted, so that attempts lock them in one order.
func (a Attempt) names() (list []string) {
	for _, b := range a.bounds {
		list = append(list, b.name)
	}
	slices.Sort(list)
	return list
}

// seconds are window and then of each name.
func (a Attempt) seconds(names []string) (windows, thens []float64) {
	for _, name := range names {
		b := a.bound(name)
		windows, thens = append(windows, b.window.Seconds()), append(thens, b.then.Seconds())
	}
	return windows, thens
}

func (a Attempt) bound(name string) bound {
	return a.bounds[slices.IndexFunc(a.bounds, func(b bound) bool { return b.name == name })]
}

// split are the names that a success clears, because they are about its person alone, and those that it
// only leaves as they were: strangers count for them, too.
func (a Attempt) split() (own, shared []string) {
	for _, b := range a.bounds {
		if b.ofOne && (b.then == 0 || len(a.bounds) == 1) {
			own = append(own, b.name)
		} else {
			shared = append(shared, b.name)
		}
	}
	return own, shared
}
