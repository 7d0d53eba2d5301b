package journeys_test

import (
	"bytes"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/runtime/test/harness"
)

// Senders can write Authentication-Results with the name of this server into a message. The header returned
// by REST and GraphQL, and forwarded mail, do not contain them. The raw message keeps them, and signatures
// that cover them remain valid.
func TestForgedAuthenticationResultsAreNotReturned(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	app.MailDomain(t, "example.net")
	forged := []string{
		"Authentication-Results: postrider.test; dkim=pass; dmarc=pass",
		"AUTHENTICATION-results: PostRider.Test 1; dmarc=pass",
		"Authentication-Results: (a (nested) comment)\r\n\t\"postrider.test\" 99; dmarc=pass",
		"Authentication-Results : postrider.test.; dmarc=pass",
		"Authentication-Results: =?utf-8?q?postrider.test?=; dmarc=pass",
	}
	const other = "mx.google.com; dkim=pass header.d=postrider.test"
	raw := strings.Join(forged, "\r\n") + "\r\nAuthentication-Results: " + other +
		"\r\nFrom: eve@example.net\r\nSubject: Trust me\r\n\r\nHello.\r\n"
	receive(t, app, "support@dev.test", raw)
	id := lastReceived(t, app)

	type field struct{ Name, Value string }
	want := []field{{"Authentication-Results", other}, {"From", "eve@example.net"}, {"Subject", "Trust me"}}
	var rest struct {
		ReceivedEmail struct{ Headers []field } `json:"received_email"`
	}
	app.Do(t, http.MethodGet, "/api/received-emails/"+id, nil).JSON(t, &rest)
	if diff := cmp.Diff(want, rest.ReceivedEmail.Headers); diff != "" {
		t.Errorf("REST returns another header (-want +got):\n%s", diff)
	}
	var graph struct {
		ReceivedEmail struct{ Content struct{ Headers []field } }
	}
	app.Query(t, fmt.Sprintf(`{ receivedEmail(id: %q) { content { headers { name value } } } }`, id), &graph)
	if diff := cmp.Diff(want, graph.ReceivedEmail.Content.Headers); diff != "" {
		t.Errorf("GraphQL returns another header (-want +got):\n%s", diff)
	}
	if got := string(app.Do(t, http.MethodGet, "/api/received-emails/"+id+"/raw", nil).Body); got != raw {
		t.Errorf("the raw message is %q, want it as it arrived: %q", got, raw)
	}

	if got := app.Do(t, http.MethodPost, "/api/received-emails/"+id+"/forward",
		`{"to":"dave@example.net"}`); got.Status != http.StatusOK {
		t.Fatalf("forward: %d %s", got.Status, got.Body)
	}
	harness.Eventually(t, "the message is forwarded", func() bool { return len(app.MX.Messages()) == 1 })
	if forwarded := string(app.MX.Messages()[0].Data); strings.Contains(strings.ToLower(forwarded),
		"authentication-results") {
		t.Errorf("the forwarded message has Authentication-Results:\n%s", forwarded)
	}
}

// HTML that is nested deeper than parsers build trees (512 elements) is returned and previewed whole, and
// its words are in the text part when it is forwarded.
func TestDeeplyNestedHTMLIsShown(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	app.MailDomain(t, "example.net")
	html := strings.Repeat("<div>", 600) + "Where is my order?" + strings.Repeat("</div>", 600)
	var lines strings.Builder // lines of at most 998 bytes
	for rest := html; rest != ""; {
		n := min(len(rest), 900)
		lines.WriteString(rest[:n] + "=\r\n") // a soft line break
		rest = rest[n:]
	}
	receive(t, app, "support@dev.test",
		"From: eve@example.net\r\nSubject: Deep\r\nMIME-Version: 1.0\r\nContent-Type: text/html\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n"+lines.String())
	id := lastReceived(t, app)
	var got struct {
		ReceivedEmail struct{ HTML string } `json:"received_email"`
	}
	app.Do(t, http.MethodGet, "/api/received-emails/"+id, nil).JSON(t, &got)
	if strings.TrimSpace(got.ReceivedEmail.HTML) != html {
		t.Errorf("the received email has %d bytes of HTML, want the %d sent", len(got.ReceivedEmail.HTML), len(html))
	}

	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	if err := form.WriteField("html", got.ReceivedEmail.HTML); err != nil {
		t.Fatal(err)
	}
	if err := form.Close(); err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, app.BaseURL+"/preview", &body)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", form.FormDataContentType())
	request.Header.Set("Origin", app.BaseURL)
	for _, cookie := range signInOwner(t, app).Cookies(t) {
		request.AddCookie(cookie)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	shown, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	if answer.StatusCode != http.StatusOK || strings.TrimSpace(string(shown)) != html {
		t.Errorf("the preview is %d with %d bytes, want 200 with the %d of the HTML: %.200s", answer.StatusCode,
			len(shown), len(html), shown)
	}

	if got := app.Do(t, http.MethodPost, "/api/received-emails/"+id+"/forward", `{"to":"dave@example.net"}`); got.Status != http.StatusOK {
		t.Fatalf("forward: %d %s", got.Status, got.Body)
	}
	harness.Eventually(t, "the message is forwarded", func() bool { return len(app.MX.Messages()) == 1 })
	forwarded := string(app.MX.Messages()[0].Data)
	text, _, _ := strings.Cut(forwarded, "text/html")
	if !strings.Contains(text, "Where is my order?") {
		t.Errorf("the text part of the forwarded message does not have the words of its HTML:\n%.2000s", forwarded)
	}
}

// The postmaster exists without a domain (RFC 5321 section 4.5.1), on every installation that receives mail.
func TestPostmasterReceivesMail(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	c := dialInbound(t, app)
	for i, to := range []string{"postmaster", "Postmaster", "postmaster@dev.test"} {
		subject := fmt.Sprintf("to the postmaster, %d", i)
		for _, step := range []string{"MAIL FROM:<bob@example.net>\r\n", "RCPT TO:<" + to + ">\r\n", "DATA\r\n",
			"From: bob@example.net\r\nSubject: " + subject + "\r\n\r\nHello\r\n.\r\n"} {
			if got := c.say(t, step); got[0] != '2' && got[0] != '3' {
				t.Fatalf("to %s: after %.30q got %q", to, step, got)
			}
		}
		answer := app.Do(t, http.MethodGet, "/api/received-emails/"+lastReceived(t, app), nil)
		if !strings.Contains(string(answer.Body), subject) || !strings.Contains(strings.ToLower(string(answer.Body)), `"postmaster@`) {
			t.Errorf("mail to %s is received as %s", to, answer.Body)
		}
	}
}
