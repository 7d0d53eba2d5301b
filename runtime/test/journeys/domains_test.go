package journeys_test

import (
	"bytes"
	"fmt"
	"net/http"
	"sync"
	"testing"

	"github.com/postrider/postrider/runtime/test/harness"
)

// A change of a domain and the response stored under its key are committed together: a repeated request,
// concurrent or later, gets the same bytes and makes no second change.
func TestConcurrentDomainChangesWithOneKeyChangeOnce(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	for i, c := range []struct {
		path     string
		body     any
		repeated int // its status without the key
	}{
		{"/api/domains", `{"name":"once.example"}`, http.StatusConflict},
		{"/api/domains/" + domainOf(t, app, "waits.example") + "/dkim/rotate", nil, http.StatusConflict},
	} {
		const requests = 12
		key := fmt.Sprintf("key %d", i)
		answers := make([]harness.Answer, requests)
		var all sync.WaitGroup
		for i := range requests {
			all.Go(func() { answers[i] = app.Do(t, http.MethodPost, c.path, c.body, "Idempotency-Key", key) })
		}
		all.Wait()
		again := app.Do(t, http.MethodPost, c.path, c.body, "Idempotency-Key", key)
		if again.Status != http.StatusOK || again.Header.Get("Idempotent-Replayed") != "true" {
			t.Errorf("%s: the replay returned %d %s", c.path, again.Status, again.Body)
		}
		for _, a := range answers {
			if a.Status != http.StatusOK || !bytes.Equal(a.Body, again.Body) {
				t.Errorf("%s: one of the requests returned %d %s", c.path, a.Status, a.Body)
			}
		}
		if other := app.Do(t, http.MethodPost, c.path, c.body); other.Status != c.repeated {
			t.Errorf("%s without the key: %d %s", c.path, other.Status, other.Body)
		}
	}
}

func domainOf(t *testing.T, app *harness.App, name string) string {
	t.Helper()
	var made struct{ Domain struct{ ID string } }
	app.Do(t, http.MethodPost, "/api/domains", `{"name":"`+name+`"}`).JSON(t, &made)
	return made.Domain.ID
}
