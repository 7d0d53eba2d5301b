package received

import (
	"slices"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/schema/shape"
)

// mostListed limits the bytes of each list field of a received email in lists of emails. Senders control the length
// of these fields, and a page can have a hundred emails.
const mostListed = 8 << 10

// newReceivedItem encodes an email for a list. It keeps the last references, which are the closest in the thread.
func newReceivedItem(e *ent.ReceivedEmail) receivedItem {
	octets := func(text string) int { return len(text) }
	item := receivedItem{newReceivedHead(e), receivedFiles(fitList(e.Attachments, func(f shape.ReceivedFile) int {
		return len(f.Filename) + len(f.ContentType) + len(f.ContentID)
	}))}
	for _, list := range []*[]string{&item.To, &item.CC, &item.ReplyTo, &item.Defects} {
		*list = fitList(*list, octets)
	}
	nearest := slices.Clone(item.References)
	slices.Reverse(nearest)
	nearest = fitList(nearest, octets)
	slices.Reverse(nearest)
	item.References = nearest
	return item
}

// fitList returns the beginning of a list that has at most mostListed bytes.
func fitList[T any](list []T, octets func(T) int) []T {
	room := mostListed
	for i, item := range list {
		if room -= octets(item); room < 0 {
			return list[:i]
		}
	}
	return list
}
