package journeys_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/modules/eventexport/jetstream/jetstreamtest"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/test/harness"
)

// The export of a running Postrider matches its event log, and /readyz reports its state.
func TestEventStreamMatchesEventLog(t *testing.T) {
	t.Parallel()
	server := jetstreamtest.Start(t, nil)
	app := harness.Start(t, func(s setting.RawValues) {
		s["POSTRIDER_EVENTS_TO"], s["POSTRIDER_EVENTS_REPLICAS"], s["POSTRIDER_EVENTS_STREAM"] = server.URL(),
			"1", "mine"
	})
	app.MailDomain(t, "example.net")
	email := app.Send(t, `{"from":"Ada <ada@dev.test>","to":"bob@example.net","subject":"s","text":"t"}`)
	js := server.JetStream()
	told := map[string]any{}
	expect.Eventually(t, "the delivery is in the stream", func() bool {
		if _, err := js.StreamInfo("mine"); err != nil {
			return false
		}
		for _, m := range jetstreamtest.Messages(t, js, "mine") {
			var content any
			if err := json.Unmarshal(m.Data, &content); err != nil {
				t.Fatalf("message %s is not JSON: %v", m.ID, err)
			}
			told[m.ID] = content
			if strings.HasSuffix(m.Subject, "."+m.Account+".email.delivered") &&
				strings.Contains(string(m.Data), email) {
				return true
			}
		}
		return false
	})
	var log struct{ Events []map[string]any }
	app.Do(t, http.MethodGet, "/api/event-log?limit=100", nil).JSON(t, &log)
	if len(log.Events) < 2 {
		t.Fatalf("the event log has %d events, want those of a sent and delivered email", len(log.Events))
	}
	for _, e := range log.Events {
		if diff := cmp.Diff(any(e), told[e["id"].(string)]); diff != "" {
			t.Errorf("an event in the log and in the stream (-log +stream):\n%s", diff)
		}
	}
	ready := app.Do(t, http.MethodGet, "/readyz", nil)
	if body := string(ready.Body); !strings.Contains(body, `"event_export":"ok"`) ||
		!strings.Contains(body, `"event_export_behind_seconds":`) {
		t.Errorf("GET /readyz returned %s, want the state of the export", body)
	}
}
