package dnscheck

import (
	"fmt"
	"net"
	"slices"

	"github.com/postrider/postrider/runtime/mail/dnsx"
)

// compareMX compares the MX records with ours. Senders try the lowest preference first (RFC 5321 section
// 5.1), so another host with the same or a lower preference receives mail instead of us. This is advice;
// verification does not depend on it.
func compareMX(e Set, found []*net.MX) Observation {
	o := Observation{Purpose: InboundMX, Status: Mismatch, Found: make([]string, 0, len(found))}
	ours, theirs, rival := -1, -1, ""
	for _, mx := range slices.SortedStableFunc(slices.Values(found),
		func(a, b *net.MX) int { return int(a.Pref) - int(b.Pref) }) {
		host := dnsx.CanonicalName(mx.Host)
		o.Found = append(o.Found, fmt.Sprintf("%d %s", mx.Pref, host))
		switch {
		case host == e.inboundHost && ours < 0:
			ours = int(mx.Pref)
		case host != e.inboundHost && theirs < 0:
			theirs, rival = int(mx.Pref), host
		}
	}
	switch {
	case len(found) == 0:
		o.Status = Missing
		o.Advice = fmt.Sprintf("Publish an MX record at %s with preference %d that points to %s, to receive mail here.",
			e.name, inboundPreference, e.inboundHost)
	case ours < 0 && rival == "": // RFC 7505: one MX record that is the root
		o.Advice = fmt.Sprintf("Replace the null MX record at %s, which rejects all mail, with one that points to %s.",
			e.name, e.inboundHost)
	case ours < 0:
		o.Advice = fmt.Sprintf("Point the MX record at %s to %s to receive mail here; it points to %s now.", e.name,
			e.inboundHost, clipText(rival))
	case theirs >= 0 && theirs <= ours:
		o.Advice = fmt.Sprintf("Give the MX record of %s the lowest preference at %s: %s has %d and receives mail "+
			"first.", e.inboundHost, e.name, clipText(rival), theirs)
	case theirs >= 0 && e.enforcesTLS():
		o.Advice = fmt.Sprintf("Remove the MX record at %s that points to %s, or set mta_sts to testing: the MTA-STS policy "+
			"forbids senders to deliver there.", e.name, clipText(rival))
	default:
		o.Status = Verified
	}
	return o
}
