package sending

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/sending/linkcheck"
	"github.com/postrider/postrider/modules/templates"
	"github.com/postrider/postrider/runtime/mail/lint"
	"github.com/postrider/postrider/runtime/mail/rspamd"
	"github.com/postrider/postrider/runtime/web/egress"
)

// codesOf returns the severities and codes of findings.
func codesOf(list []lint.Finding) (codes []string) {
	for _, f := range list {
		codes = append(codes, string(f.Severity)+" "+f.Code)
	}
	return codes
}

// A check inspects the message that a send would compose, and requests links only if the caller asks for it.
func TestCheckInspectsTheComposedMessage(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.Near.Left = 10
	m := simpleMessage("bob@example.net")
	m.Headers = []shape.Header{{Name: "List-Unsubscribe", Value: "<https://example.com/u>"}}
	m.HTML = `<html lang="en"><a href="https://127.0.0.1/x">Offer</a><a href="https://bit.ly/a">More</a>`
	f.inspector.links = linkcheck.New(linkcheck.Config{Client: egress.NewClient(egress.ClientConfig{
		Guard: egress.NewGuard(nil)}), AnyPort: false})
	want := []string{"error link_private", "warning link_shortener", "warning unsubscribe_not_one_click",
		"warning unsubscribe_link_missing"}
	for _, resolve := range []bool{false, true} {
		if resolve {
			m.HTML = strings.Replace(m.HTML, "https://bit.ly/a", "http://bit.ly/a", 1) // not requested
			want = []string{"error link_private", "error link_unreachable", "warning link_unencrypted",
				"warning link_shortener", "warning unsubscribe_not_one_click", "warning unsubscribe_link_missing",
				"info links_not_checked"}
		}
		checked, err := f.Check(t.Context(), f.Caller(), m, CheckOptions{ResolveLinks: resolve})
		if got := codesOf(checked.Findings); err != nil || !slices.Equal(got, want) {
			t.Errorf("resolving links %t: Check returned %q, %v, want %q", resolve, got, err, want)
		}
	}
}

// The spam filter gets the message with its unsubscribe link, and its verdict becomes a finding.
func TestCheckReportsTheSpamScore(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.Near.Left = 10
	answer, status := `{"score":15.2,"action":"reject","symbols":{"BAD":{"score":9,"description":"Bad\nword"}}}`, http.StatusOK
	var received string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		received = string(body)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(server.Close)
	filter, err := rspamd.New(rspamd.Config{URL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	f.inspector.spam = filter
	m := simpleMessage("bob@example.net")
	on := true
	m.Unsubscribe, m.Text = &on, "Leave: {{unsubscribe_url}}"
	for _, c := range []struct {
		answer string
		status int
		want   string
		place  string
	}{
		{answer, http.StatusOK, "error spam_score", "BAD (9.0): Bad word"},
		{`{"score":1,"action":"no action"}`, http.StatusOK, "info spam_score", ""},
		{"", http.StatusServiceUnavailable, "info spam_score_unknown", ""},
	} {
		answer, status = c.answer, c.status
		checked, err := f.Check(t.Context(), f.Caller(), m, CheckOptions{})
		if got := codesOf(checked.Findings); err != nil || !slices.Equal(got, []string{c.want}) {
			t.Fatalf("Check returned %q, %v, want %q", got, err, c.want)
		}
		if places := checked.Findings[0].Places; c.place != "" && (len(places) != 1 || places[0].Element != c.place) {
			t.Errorf("the places are %+v, want %q", places, c.place)
		}
	}
	if strings.Contains(received, "{{") || !strings.Contains(received, "List-Unsubscribe:") ||
		!strings.Contains(received, "Leave: http") {
		t.Errorf("rspamd received a message without the unsubscribe link:\n%s", received)
	}
}

func TestCheckReportsFindingsOfTheTemplate(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.Near.Left = 10
	f.Near.Rendered = templates.Rendered{Subject: "s", Text: "t", From: "a@example.com", Findings: []lint.Finding{
		{Code: "raw_output", Severity: lint.Warning, Part: lint.HTML, Count: 1}}}
	checked, err := f.Check(t.Context(), f.Caller(), Message{To: []Mailbox{{Text: "bob@example.net"}},
		Template: &TemplateRef{Alias: "receipt"}}, CheckOptions{})
	if err != nil || !slices.ContainsFunc(checked.Findings, func(f lint.Finding) bool { return f.Code == "raw_output" }) {
		t.Errorf("the findings are %+v (%v), want raw_output", checked.Findings, err)
	}
}
