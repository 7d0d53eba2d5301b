package tracking

import (
	"net/http"
	"net/netip"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Visit is a request for a pixel or a tracked link.
type Visit struct {
	Mark      LinkToken
	IP        netip.Addr
	UserAgent string
	Header    http.Header // header of the request; inspected but not stored
}

// hit is a visit to record.
type hit struct {
	mark      LinkToken
	ip, agent string
	machine   string // why it counts as a program's
	at        time.Time
}

// maxAgent is the maximum length of a stored User-Agent, in bytes.
const maxAgent = 512

// newHit classifies a visit and returns the data to store.
func (m classifier) newHit(v Visit, at time.Time) hit {
	v.UserAgent = cleanAgent(v.UserAgent)
	h := hit{mark: v.Mark, agent: v.UserAgent, machine: m.classify(v), at: at}
	if v.IP.IsValid() {
		h.ip = v.IP.Unmap().WithZone("").String()
	}
	return h
}

// cleanAgent returns the part of a User-Agent that can be stored and shown. The input is untrusted.
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
