package journeys_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime/mail/message"
	"github.com/postrider/postrider/runtime/mail/smtpclient/smtptest"
	"github.com/postrider/postrider/runtime/test/harness"
)

// A batch over the wire: stored emails are delivered once, whatever is repeated.
func TestBatchIsDeliveredOnceAndReplayedExactly(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	app.MailDomain(t, "example.net")
	var items []string
	for i := range 20 {
		items = append(items, fmt.Sprintf(`{"from":"ada@dev.test","to":"n%d@example.net","subject":"s","text":"t"}`, i))
	}
	items = append(items, `{"from":"ada@elsewhere.test","to":"x@example.net","subject":"s","text":"t"}`)
	body := `{"emails":[` + strings.Join(items, ",") + `]}`
	first := app.Do(t, http.MethodPost, "/api/emails/batch", body, "Idempotency-Key", "batch")
	again := app.Do(t, http.MethodPost, "/api/emails/batch", body, "Idempotency-Key", "batch")
	if first.Status != http.StatusOK || !bytes.Equal(first.Body, again.Body) ||
		first.Header.Get("Idempotent-Replayed") != "" || again.Header.Get("Idempotent-Replayed") != "true" {
		t.Fatalf("the batch got %d %s, and then %d %s, want 200 and the same response replayed", first.Status,
			first.Body, again.Status, again.Body)
	}
	var got struct {
		Data []struct {
			Index  int
			ID     *string
			Status string
			Error  *struct{ Code string }
		}
	}
	first.JSON(t, &got)
	if len(got.Data) != 21 || got.Data[20].ID != nil || got.Data[20].Status != "failed" ||
		got.Data[20].Error.Code != "domain_not_verified" {
		t.Fatalf("the batch got %s, want 21 items and the last failed with domain_not_verified", first.Body)
	}
	for i, item := range got.Data[:20] {
		if item.Index != i || item.ID == nil || item.Status != "sent" {
			t.Errorf("item %d: %+v", i, item)
		}
	}
	for _, item := range got.Data[:20] {
		waitForStatus(t, app, *item.ID, "delivered")
	}
	if stats := app.MX.Stats(); stats.Accepted != 20 {
		t.Errorf("%d messages arrived", stats.Accepted)
	}
}

// A recipient unsubscribes with the button of the mail program: the next message of that category is not
// sent to that recipient, others still are.
func TestOneClickUnsubscribeStopsCategory(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	app.MailDomain(t, "example.net")
	body := func(category string) map[string]any {
		return map[string]any{"from": "ada@dev.test", "to": "bob@example.net", "subject": "s", "category": category,
			"unsubscribe": true,
			"text":        "Stop: {{unsubscribe_url}}", "html": `<a href="{{ unsubscribe_url }}">stop</a>`}
	}
	encoded, err := json.Marshal(body("Product news"))
	if err != nil {
		t.Fatal(err)
	}
	send(t, app, string(encoded))
	app.MX.Wait(t, "the message", func(s smtptest.Stats) bool { return s.Accepted == 1 })
	raw := app.MX.Messages()[0].Data
	checkSignature(t, app, raw)
	signature, _, _ := bytes.Cut(raw, []byte("\r\nFrom:"))
	if signed := strings.Join(strings.Fields(string(signature)), ""); !strings.Contains(signed, ":List-Unsubscribe:") ||
		!strings.Contains(signed, ":List-Unsubscribe-Post") {
		t.Errorf("RFC 8058 section 3.1 wants both fields signed: %s", signature)
	}
	got, err := message.ReadFull(bytes.NewReader(raw), message.Bounds{})
	if err != nil {
		t.Fatal(err)
	}
	link := strings.Trim(got.Get("List-Unsubscribe"), "<>")
	if !strings.HasPrefix(link, app.BaseURL+"/u/") ||
		got.Get("List-Unsubscribe-Post") != "List-Unsubscribe=One-Click" ||
		strings.TrimSpace(got.Text) != "Stop: "+link || strings.TrimSpace(got.HTML) != `<a href="`+link+`">stop</a>` {
		t.Fatalf("link %q, text %q, html %q", link, got.Text, got.HTML)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, link,
		strings.NewReader("List-Unsubscribe=One-Click"))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	if err := response.Body.Close(); err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("the click returned %d, %v", response.StatusCode, err)
	}
	for category, want := range map[string]string{"product_news": "failed", "Receipts": "sent"} {
		var receipt struct{ Status string }
		app.Do(t, http.MethodPost, "/api/emails", body(category)).JSON(t, &receipt)
		if receipt.Status != want {
			t.Errorf("%s after the click: %s, want %s", category, receipt.Status, want)
		}
	}
}
