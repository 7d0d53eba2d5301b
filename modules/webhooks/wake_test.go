package webhooks

import (
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/work/event"
)

// What the bus has queued is delivered because it was woken, when others can see it:
// here the poll comes once an hour.
func TestAFactIsDeliveredWithoutThePoll(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *Config) { c.Poll = time.Hour }).run(t)
	r := newReceiver(t)
	w.endpoint(t, ada, r.URL, string(event.EmailDelivered))
	for n := range 10 {
		w.happens(t, ada, event.EmailDelivered)
		expect.Within(t, 10*time.Second, "it is delivered", func() bool { return len(r.heard()) == n+1 })
	}
}
