package mtasts_test

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/mail/dnsx/dnsxtest"
	"github.com/postrider/postrider/runtime/mail/mtasts"
)

func TestNewIDFetchesTheNewPolicy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.announce(t, "1")
	w.serve(enforce)
	w.find(t, "enforce", "")
	w.serve(servePolicy("mode: testing", "mx: mx1.example.com", "max_age: 604800"))
	w.find(t, "enforce", "")
	w.announce(t, "2")
	w.find(t, "testing", "")
	w.expectFetches(t, 2)
}

// An attacker could remove the record, or break DNS or the web server, so the policy remains valid until it
// expires.
func TestPolicyStaysValidWithoutItsSource(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.announce(t, "1")
	w.serve(enforce)
	w.find(t, "enforce", "")

	w.dns.Remove("_mta-sts." + domain)
	w.find(t, "enforce", "")
	w.dns.Fault("_mta-sts."+domain, dnsxtest.ServFail)
	w.find(t, "enforce", "")
	w.dns.Fault("_mta-sts."+domain, 0)
	w.serve(respondUnavailable)
	w.announce(t, "2")
	w.find(t, "enforce", mtasts.FetchError)
	w.find(t, "enforce", mtasts.FetchError)
	w.expectFetches(t, 2)

	w.pass(7 * 24 * time.Hour) // max_age
	w.find(t, "none", mtasts.FetchError)
}

func TestFailedFetchIsRetriedLaterOrForANewID(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.announce(t, "1")
	w.serve(respondUnavailable)
	w.find(t, "none", mtasts.FetchError)
	w.pass(5*time.Minute - time.Second)
	w.find(t, "none", mtasts.FetchError)
	w.expectFetches(t, 1)
	w.pass(time.Second)
	w.find(t, "none", mtasts.FetchError)
	w.expectFetches(t, 2)
	w.serve(enforce)
	w.announce(t, "2")
	w.find(t, "enforce", "")
	w.expectFetches(t, 3)
}

func TestPolicyIsFetchedDailyAndAtExpiry(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.announce(t, "1")
	w.serve(enforce)
	w.find(t, "enforce", "")
	w.pass(24*time.Hour - time.Second)
	w.find(t, "enforce", "")
	w.expectFetches(t, 1)
	w.pass(time.Second)
	w.find(t, "enforce", "")
	w.expectFetches(t, 2)
	w.serve(respondUnavailable)
	w.pass(24 * time.Hour)
	w.find(t, "enforce", mtasts.FetchError) // still valid
	w.pass(6 * 24 * time.Hour)
	w.find(t, "none", mtasts.FetchError)
}

func TestPolicyWithZeroMaxAgeIsUsedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.announce(t, "1")
	w.serve(servePolicy("mode: enforce", "mx: mx1.example.com", "max_age: 0"))
	w.find(t, "enforce", "")
	w.serve(respondUnavailable)
	w.find(t, "none", mtasts.FetchError)
}

func TestConcurrentLookupsFetchOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.announce(t, "1")
	arrived, answer := make(chan struct{}), make(chan struct{})
	w.serve(func(rw http.ResponseWriter, r *http.Request) {
		close(arrived)
		<-answer
		enforce(rw, r)
	})
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() { w.find(t, "enforce", "") })
	}
	<-arrived
	close(answer)
	all.Wait()
	w.expectFetches(t, 1)
}

func TestNewRequiresResolverAndClient(t *testing.T) {
	t.Parallel()
	if _, err := mtasts.New(mtasts.Config{}); err == nil {
		t.Error("New accepted an empty Config")
	}
}
