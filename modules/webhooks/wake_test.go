package webhooks

import (
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/work/event"
)

// The commit that queues a delivery wakes the worker. The test uses a poll interval of one hour.
func TestCommitWakesDelivery(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *Config) { c.Poll = time.Hour }).run(t)
	r := newReceiver(t)
	w.addEndpoint(t, ada, r.URL, string(event.EmailDelivered))
	for n := range 10 {
		w.publishSample(t, ada, event.EmailDelivered)
		expect.EventuallyWithin(t, 10*time.Second, "the event to be delivered",
			func() bool { return len(r.received()) == n+1 })
	}
}
