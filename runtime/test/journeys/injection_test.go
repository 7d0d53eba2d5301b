package journeys_test

import (
	"bytes"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime/mail/smtpclient/smtptest"
	"github.com/postrider/postrider/runtime/test/harness"
)

// headerNames are the fields that a message of the test below may have.
var headerNames = []string{"dkim-signature", "from", "to", "cc", "reply-to", "subject", "date", "message-id",
	"mime-version", "content-type",
	"content-transfer-encoding", "feedback-id", "x-order"}

// No accepted text, in whatever field, adds a line to the header on the wire, and a text with a line break
// is rejected.
func TestHostileTextAddsNoHeaderLine(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	app.MailDomain(t, "example.net")
	whole := map[string]any{"from": map[string]any{"email": "ada@dev.test", "name": "Ada"},
		"to": []any{map[string]any{"email": "bob@example.net", "name": "Bob"}},
		"cc": []any{"Carol <carol@example.net>"}, "reply_to": []any{"Help <help@dev.test>"}, "subject": "s",
		"text": "t", "headers": map[string]any{"X-Order": "1"},
		"attachments": []any{map[string]any{"name": "a.png", "content_type": "image/png", "content_id": "a", "data": "aGVsbG8="}}}
	accepted := 0
	for place, body := range changed(whole) {
		if strings.HasPrefix(place, "body: ") || strings.HasPrefix(place, "body.headers: name") {
			continue // not an email, or names that may be header names
		}
		if app.Do(t, http.MethodPost, "/api/emails", body).Status != http.StatusOK {
			continue
		}
		accepted++
		if text := textOf(place); strings.ContainsAny(text, "\r\n\x00") && !strings.HasPrefix(place, "body.text:") &&
			!strings.Contains(place, "].data:") {
			t.Errorf("%q was accepted as %s", text, place)
		}
	}
	if accepted < 20 {
		t.Fatalf("only %d requests were accepted", accepted)
	}
	app.MX.Wait(t, "the accepted messages", func(s smtptest.Stats) bool { return s.Accepted >= accepted })
	for _, m := range app.MX.Messages() {
		checkHeader(t, m.Data)
	}
}

// textOf returns the hostile text in the name of a change, or "".
func textOf(place string) string {
	for i, text := range hostileTexts {
		if strings.HasSuffix(place, ": text "+strconv.Itoa(i)) {
			return text
		}
	}
	return ""
}

func checkHeader(t *testing.T, message []byte) {
	t.Helper()
	header, _, _ := bytes.Cut(message, []byte("\r\n\r\n"))
	var seen []string
	for line := range strings.SplitSeq(string(header), "\r\n") {
		if strings.ContainsAny(line, "\r\n\x00") {
			t.Errorf("a bare control character in %q", line)
		}
		if line != "" && (line[0] == ' ' || line[0] == '\t') {
			continue // folded
		}
		name, _, _ := strings.Cut(line, ":")
		name = strings.ToLower(name)
		if !slices.Contains(headerNames, name) || slices.Contains(seen, name) {
			t.Errorf("unexpected header line %q in\n%s", line, header)
		}
		seen = append(seen, name)
	}
}
