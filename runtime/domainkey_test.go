package runtime_test

import (
	"bytes"
	"net/http"
	"sync"
	"testing"

	"github.com/postrider/postrider/runtime/runtimetest"
)

// The domain and the answer under its key are one commit: whoever repeats the
// request, at once or later, gets the same octets and no second domain.
func TestOneKeyOneDomainUnderConcurrency(t *testing.T) {
	t.Parallel()
	app := runtimetest.Start(t, nil)
	const requests = 12
	answers := make([]runtimetest.Answer, requests)
	var all sync.WaitGroup
	for i := range requests {
		all.Go(func() {
			answers[i] = app.Do(t, http.MethodPost, "/api/domains", `{"name":"once.example"}`, "Idempotency-Key", "the-key")
		})
	}
	all.Wait()
	again := app.Do(t, http.MethodPost, "/api/domains", `{"name":"once.example"}`, "Idempotency-Key", "the-key")
	if again.Status != http.StatusOK || again.Header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("the replay answered %d %s", again.Status, again.Body)
	}
	for _, a := range answers {
		if a.Status != http.StatusOK || !bytes.Equal(a.Body, again.Body) {
			t.Errorf("one of the requests answered %d %s", a.Status, a.Body)
		}
	}
	if other := app.Do(t, http.MethodPost, "/api/domains", `{"name":"once.example"}`); other.Status != http.StatusConflict {
		t.Errorf("without the key: %d %s", other.Status, other.Body)
	}
}
