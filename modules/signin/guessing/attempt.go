package guessing

import (
	"net/netip"
	"slices"
	"time"
)

// How many failed sign-ins are taken, and in what time.
const (
	failuresOfPair    = 5 // one email from one network
	failuresOfNetwork = 30
	failuresOfEmail   = 50
)

// How many mails are sent that anybody may ask for.
const (
	mailsOfPair    = 5
	mailsOfNetwork = 30
	mailsOfEmail   = 10 // to one mailbox
)

const (
	short = 15 * time.Minute
	day   = 24 * time.Hour
)

// bound is one name that an attempt counts for. The name tells neither the email nor the network.
type bound struct {
	name   string
	most   int
	window time.Duration
	ofOne  bool // it is about one email, not about a whole network
}

// Attempt is what is counted, each with its limit: first the pair of email and network.
type Attempt struct{ bounds [3]bound }

// SignIn is an attempt to show that one is the person with the email, in its stored form.
func (g *Guard) SignIn(email string, from netip.Addr) Attempt {
	return g.attempt("", email, from, failuresOfPair, failuresOfNetwork, failuresOfEmail)
}

// Mail is a wish for a mail to a mailbox, known or not.
func (g *Guard) Mail(email string, from netip.Addr) Attempt {
	return g.attempt("mail ", email, from, mailsOfPair, mailsOfNetwork, mailsOfEmail)
}

func (g *Guard) attempt(kind, email string, from netip.Addr, ofPair, ofNetwork, ofEmail int) Attempt {
	network := networkOf(from)
	return Attempt{[3]bound{
		{g.hash(kind+"pair", email+"\x00"+network), ofPair, short, true},
		{g.hash(kind+"network", network), ofNetwork, short, false},
		{g.hash(kind+"email", email), ofEmail, day, true},
	}}
}

func (a Attempt) names() (list []string) {
	for _, b := range a.bounds {
		list = append(list, b.name)
	}
	return list
}

// locks are the names that an attempt is judged under; that of the pair says nothing more.
func (a Attempt) locks() []string { return slices.Sorted(slices.Values(a.names()[1:])) }

func (a Attempt) windows() (seconds []float64) {
	for _, b := range a.bounds {
		seconds = append(seconds, b.window.Seconds())
	}
	return seconds
}

func (a Attempt) bound(name string) bound {
	return a.bounds[slices.IndexFunc(a.bounds[:], func(b bound) bool { return b.name == name })]
}
