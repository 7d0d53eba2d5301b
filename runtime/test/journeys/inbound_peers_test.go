package journeys_test

import (
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/storage/blob/blobtest"
	"github.com/postrider/postrider/runtime/test/harness"
)

// With POSTRIDER_BLOBS a received message moves to the object store over HTTP, is read back byte for byte,
// and is removed there when it is deleted.
func TestReceivedMailMovesToObjectStore(t *testing.T) {
	t.Parallel()
	store := blobtest.New(t)
	s := scenarioOf(t, harness.Start(t,
		func(settings setting.RawValues) { settings["POSTRIDER_BLOBS"] = store.Setting() }))
	receive(t, s.App, "support@dev.test", questionMessage)
	id := lastReceived(t, s.App)
	count := func(where string) (n int) {
		if err := s.db.QueryRowContext(t.Context(), `SELECT count(*) FROM received_contents WHERE `+where).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	harness.Eventually(t, "the content is only in the store",
		func() bool { return count("data IS NULL AND object_key IS NOT NULL AND due_at IS NULL") == 1 })
	objects := store.Objects(t)
	if len(objects) != 1 {
		t.Errorf("%d objects", len(objects))
	}
	for key, data := range objects {
		if !strings.HasPrefix(key, "received/eu/"+s.AccountID+"/") || string(data) != questionMessage {
			t.Errorf("object %s has %d bytes", key, len(data))
		}
	}

	path := "/api/received-emails/" + id
	if raw := s.Do(t, http.MethodGet, path+"/raw", nil); string(raw.Body) != questionMessage {
		t.Errorf("raw is %d %.200s", raw.Status, raw.Body)
	}
	var got struct {
		ReceivedEmail struct {
			Text        string
			Attachments []struct{ Data string }
		} `json:"received_email"`
	}
	s.Do(t, http.MethodGet, path, nil).JSON(t, &got)
	if e := got.ReceivedEmail; !strings.Contains(e.Text, "Where is my order?") || len(e.Attachments) != 1 ||
		e.Attachments[0].Data != base64.StdEncoding.EncodeToString([]byte("%PDF-1.7\n%%EOF")) {
		t.Errorf("the received email reads as %+v, want its text and its attachment unchanged", e)
	}

	if got := s.Do(t, http.MethodDelete, path, nil); got.Status != http.StatusOK {
		t.Fatalf("delete: %d %s", got.Status, got.Body)
	}
	harness.Eventually(t, "the object and its row are gone", func() bool {
		// It waits a minute, for a lease that may be active.
		if _, err := s.db.ExecContext(t.Context(), `UPDATE received_contents SET due_at = now() WHERE due_at > now() AND attempts = 0`); err != nil {
			t.Fatal(err)
		}
		return len(store.Objects(t)) == 0 && count("true") == 0
	})
}

// With POSTRIDER_RSPAMD_URL each message is checked, and the result is stored and reported. If rspamd does
// not respond, mail is still received.
func TestRspamdChecksReceivedMail(t *testing.T) {
	t.Parallel()
	type question struct {
		path, rcpt, from, body string
	}
	asked := make(chan question, 10)
	filter := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		asked <- question{r.URL.Path, r.Header.Get("Rcpt"), r.Header.Get("From"), string(body)}
		if _, err := io.WriteString(w,
			`{"is_skipped":false,"score":7.5,"required_score":15.0,"action":"add header","symbols":{}}`); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(filter.Close)
	app := harness.Start(t, func(s setting.RawValues) { s["POSTRIDER_RSPAMD_URL"] = filter.URL })
	url, heard := newListener(t)
	app.Do(t, http.MethodPost, "/api/webhooks", map[string]any{"url": url, "events": []string{"email.received"}})
	check := func(status string, score *float64) {
		t.Helper()
		receive(t, app, "support@dev.test", questionMessage)
		var told struct {
			Data struct {
				EmailID    string `json:"email_id"`
				SpamStatus string `json:"spam_status"`
			}
		}
		if err := json.Unmarshal([]byte((<-heard).body), &told); err != nil {
			t.Fatal(err)
		}
		var got struct {
			ReceivedEmail struct {
				SpamStatus string   `json:"spam_status"`
				SpamScore  *float64 `json:"spam_score"`
			} `json:"received_email"`
		}
		app.Do(t, http.MethodGet, "/api/received-emails/"+told.Data.EmailID, nil).JSON(t, &got)
		e := got.ReceivedEmail
		if told.Data.SpamStatus != status || e.SpamStatus != status || (e.SpamScore == nil) != (score == nil) ||
			score != nil && *e.SpamScore != *score {
			t.Errorf("reported %s, stored %+v; want %s", told.Data.SpamStatus, e, status)
		}
	}
	score := 7.5
	check("spam", &score)
	if q := <-asked; q != (question{"/checkv2", "support@dev.test", "juergen@example.net", questionMessage}) {
		t.Errorf("rspamd received %+v", q)
	}
	filter.Close()
	check("unknown", nil)
	if !strings.Contains(app.Log.String(), "spam filter unavailable") {
		t.Error("the log does not report the unavailable filter")
	}
}

// A development server prints where it receives mail.
func TestBannerShowsInboundAddress(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	line := "receives   " + *app.InboundAddr + " "
	harness.Eventually(t, line, func() bool { return strings.Contains(app.Out.String(), line) })
}
