package bodies_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/postrider/postrider/modules/sending/sendingtest/rooms"
	"github.com/postrider/postrider/runtime/base/expect"
)

// randomWords returns random text that compresses hardly better than its letters' entropy allows.
func randomWords(r *rand.Rand, octets int) string {
	out := make([]byte, octets)
	for i := range out {
		if out[i] = byte('a' + r.IntN(26)*r.IntN(26)/26); i%7 == 6 {
			out[i] = ' '
		}
	}
	return string(out)
}

// Moving the bodies of messages with 1 KB of text and 2 KB of html frees more than half of their space in the
// table. With -v, the test prints the sizes.
func TestMovedBodiesFreeTableSpace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const n = 300
	r := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		m := rooms.SimpleMessage(fmt.Sprintf("user%d@example.net", i))
		m.Subject, m.Text = randomWords(r, 40), randomWords(r, 1000)
		m.HTML = `<html><body style="font-family: sans-serif"><table width="100%">` + "<tr><td><p>" +
			randomWords(r, 600) +
			"</p></td></tr>" +
			"<tr><td><p>" + randomWords(r, 600) + `</p></td></tr><tr><td><a href="https://example.com/` +
			randomWords(r, 30) +
			`">` + randomWords(r, 600) + "</a></td></tr></table></body></html>"
		w.Send(t, m)
	}
	if err := w.Delivery.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	expect.EventuallyWithin(t, time.Minute, "all emails are delivered", func() bool { return w.Count(t, `emails WHERE status = 'delivered'`) == n })
	size := func() (octets int) {
		w.Exec(t, `VACUUM FULL emails`)
		if err := w.DB.SQL.QueryRowContext(t.Context(), `SELECT pg_total_relation_size('emails')`).Scan(&octets); err != nil {
			t.Fatal(err)
		}
		return octets / n
	}
	before := size()
	for w.countMoved(t) < n {
		w.runMoves(t)
	}
	var after int
	expect.EventuallyWithin(t, time.Minute, "less than half is left once no open transaction needs the old rows",
		func() bool {
			after = size()
			return after <= before/2
		})
	t.Logf("%d bytes per message in the emails table with its indexes, %d after the bodies have moved", before, after)
}
