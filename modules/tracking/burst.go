package tracking

import "time"

// Nobody uses so many different links of a message within so short a time: who
// does is a scanner.
const (
	burstWindow = time.Second
	burstLinks  = 3
	reasonBurst = "scanner"
	// burstKept bounds what is remembered of one visitor.
	burstKept = 64
)

// visitor is who may be scanning which message.
type visitor struct{ emailID, ip string }

// bursts remembers the clicks of the last moments.
type bursts struct {
	byVisitor map[visitor][]hit
	order     []hit
}

func visitorOf(h hit) visitor { return visitor{h.mark.EmailID, h.ip} }

func (b *bursts) add(h hit) {
	who := visitorOf(h)
	if len(b.byVisitor[who]) < burstKept {
		b.byVisitor[who] = append(b.byVisitor[who], h)
		b.order = append(b.order, h)
	}
}

// scan tells whether a click stands among so many others, before and after it.
func (b *bursts) scan(h hit) bool {
	links := map[string]bool{}
	for _, other := range b.byVisitor[visitorOf(h)] {
		if distance := other.at.Sub(h.at); -burstWindow < distance && distance < burstWindow {
			links[other.mark.Target] = true
		}
	}
	return len(links) >= burstLinks
}

// forget drops what happened before.
func (b *bursts) forget(before time.Time) {
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
