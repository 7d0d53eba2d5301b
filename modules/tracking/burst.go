package tracking

import "time"

// A visitor that follows this many different links of one message within the window is a scanner.
const (
	burstWindow = time.Second
	burstLinks  = 3
	reasonBurst = "scanner"
	// burstKept is the maximum number of remembered clicks per visitor.
	burstKept = 64
)

// visitor identifies a client IP and the message whose links it follows.
type visitor struct{ emailID, ip string }

// bursts remembers the latest clicks of visitors.
type bursts struct {
	byVisitor map[visitor][]hit
	order     []hit
}

func visitorOf(h hit) visitor { return visitor{h.mark.EmailID, h.ip} }

func (b *bursts) addClick(h hit) {
	who := visitorOf(h)
	if len(b.byVisitor[who]) < burstKept {
		b.byVisitor[who] = append(b.byVisitor[who], h)
		b.order = append(b.order, h)
	}
}

// isBurst reports whether a click is part of a burst, counting clicks before and after it.
func (b *bursts) isBurst(h hit) bool {
	links := map[string]bool{}
	for _, other := range b.byVisitor[visitorOf(h)] {
		if distance := other.at.Sub(h.at); -burstWindow < distance && distance < burstWindow {
			links[other.mark.Target] = true
		}
	}
	return len(links) >= burstLinks
}

// dropBefore drops the clicks before a time.
func (b *bursts) dropBefore(before time.Time) {
	count := 0
	for count < len(b.order) && b.order[count].at.Before(before) {
		who := visitorOf(b.order[count])
		if b.byVisitor[who] = b.byVisitor[who][1:]; len(b.byVisitor[who]) == 0 {
			delete(b.byVisitor, who)
		}
		count++
	}
	b.order = append(b.order[:0], b.order[count:]...)
}
