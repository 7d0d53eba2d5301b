package tracking

import (
	"net/http"
	"net/netip"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Visit is somebody who loaded a pixel or used a link.
type Visit struct {
	Mark      Mark
	IP        netip.Addr
	UserAgent string
	Header    http.Header // of the request; looked at, not kept
}

// hit is a visit that waits to be recorded.
type hit struct {
	mark      Mark
	ip, agent string
	machine   string // why it is a program's
	at        time.Time
}

// What is kept of a request, in octets.
const maxAgent = 512

// hitOf judges a visit and takes what is kept of it.
func (m machines) hitOf(v Visit, at time.Time) hit {
	v.UserAgent = cleanAgent(v.UserAgent)
	h := hit{mark: v.Mark, agent: v.UserAgent, machine: m.reason(v), at: at}
	if v.IP.IsValid() {
		h.ip = v.IP.Unmap().WithZone("").String()
	}
	return h
}

// cleanAgent leaves what can be stored and shown: strangers write this.
func cleanAgent(text string) string {
	text = strings.Map(func(r rune) rune {
		if r == utf8.RuneError || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, text[:min(len(text), 4*maxAgent)])
	if len(text) <= maxAgent {
		return text
	}
	cut := maxAgent
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut]
}
