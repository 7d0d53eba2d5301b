package journeys_test

import (
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/mail/smtpclient/smtptest"
	"github.com/postrider/postrider/runtime/test/harness"
)

// The outcomes of mail are counted, for scrapers at a separate address, and no label grows with the content
// that users send.
func TestJourneyMailOutcomesAreCounted(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, func(s setting.RawValues) { s["POSTRIDER_METRICS_ADDR"] = "127.0.0.1:0" })
	app.MailDomain(t, "example.net")
	app.MX.Always(smtptest.Rcpt, "gone@example.net", smtptest.Reply(550, "5.1.1", "No such user"))
	url, _ := newListener(t)
	app.Do(t, http.MethodPost, "/api/webhooks",
		map[string]any{"url": url, "events": []string{"email.delivered", "email.bounced"}})
	for _, to := range []string{"here@example.net", "gone@example.net"} {
		if a := app.Do(t, http.MethodPost, "/api/emails", map[string]any{"from": "Ada <ada@dev.test>", "to": to,
			"subject": "Hello", "text": "Hello"}); a.Status != http.StatusOK {
			t.Fatalf("a send to %s got status %d and %s, want 200", to, a.Status, a.Body)
		}
	}
	addr := listensAt(t, app, "serving metrics")
	var got string
	for _, line := range []string{
		`postrider_emails_accepted_total{status="sent"} 2`,
		`postrider_recipients_total{class="",result="delivered"} 1`,
		`postrider_recipients_total{class="bad_address",result="bounced"} 1`,
		`postrider_recipients_total{class="throttle",result="deferred"} 0`,
		`postrider_webhook_attempts_total{result="delivered"} 2`,
		`postrider_queue_recipients{state="queued"} 0`,
		`postrider_queue_late_seconds 0`,
		`postrider_attempts_unknown 0`,
		`postrider_webhook_queue_deliveries 0`,
		`postrider_webhook_queue_late_seconds 0`,
	} {
		harness.Eventually(t, line, func() bool {
			got = fetchPage(t, "http://"+addr+"/metrics")
			return strings.Contains(got, "\n"+line+"\n")
		})
	}
	if strings.Contains(got, "example.net") || strings.Contains(got, "dev.test") || strings.Contains(got, "acc_") {
		for line := range strings.Lines(got) {
			if !strings.HasPrefix(line, "postrider_lane_") &&
				(strings.Contains(line, "example.net") || strings.Contains(line, "dev.test") ||
					strings.Contains(line, "acc_")) {
				t.Errorf("a metric contains user data: %s", line)
			}
		}
	}
	if a, err := http.Get("http://" + addr + "/healthz"); err != nil || a.StatusCode != http.StatusNotFound {
		t.Errorf("the metrics listener returned %v, %v for /healthz, want 404: it serves nothing else", a, err)
	} else {
		a.Body.Close()
	}
}

func fetchPage(t *testing.T, url string) string {
	t.Helper()
	a, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	body, err := io.ReadAll(a.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// listensAt finds the address of a listener on a free port in the log.
func listensAt(t *testing.T, app *harness.App, message string) string {
	t.Helper()
	found := regexp.MustCompile(`msg="` + message + `" address=(\S+)`).FindStringSubmatch(app.Log.String())
	if found == nil {
		t.Fatalf("the log does not contain %q with an address", message)
	}
	return found[1]
}

// One trace contains the acceptance of a message, its time in the queue, the attempt over SMTP and that of a
// webhook. The request links to it, and the id of the message finds it.
func TestJourneyMessageHasOneTrace(t *testing.T) {
	t.Parallel()
	memory := tracetest.NewInMemoryExporter()
	app := harness.StartTraced(t, nil, telemetry.TracingTo(memory))
	app.MailDomain(t, "example.net")
	url, _ := newListener(t)
	app.Do(t, http.MethodPost, "/api/webhooks", map[string]any{"url": url, "events": []string{"email.delivered"}})
	var sent struct{ ID string }
	app.Do(t, http.MethodPost, "/api/emails", map[string]any{"from": "Ada <ada@dev.test>", "to": "bob@example.net",
		"subject": "Hello", "text": "Hello"}).JSON(t, &sent)
	about := func() map[string]tracetest.SpanStub {
		all := map[string]tracetest.SpanStub{}
		for _, s := range memory.GetSpans() {
			for _, a := range s.Attributes {
				if string(a.Key) == "email_id" && a.Value.AsString() == sent.ID {
					all[s.Name] = s
				}
			}
		}
		return all
	}
	harness.Eventually(t, "five spans about the message", func() bool { return len(about()) == 5 })
	spans := about()
	accepted := spans["email accept"]
	for _, name := range []string{"email queue", "smtp attempt", "webhook attempt"} {
		s := spans[name]
		if !s.SpanContext.IsValid() || s.SpanContext.TraceID() != accepted.SpanContext.TraceID() || len(s.Links) != 1 ||
			s.Links[0].SpanContext.SpanID() != accepted.SpanContext.SpanID() {
			t.Errorf("the span %q is %+v, want one in the trace %s with a link to its acceptance", name, s,
				accepted.SpanContext.TraceID())
		}
	}
	request := spans["POST /api/emails"]
	if len(request.Links) == 0 ||
		request.Links[len(request.Links)-1].SpanContext.TraceID() != accepted.SpanContext.TraceID() ||
		len(accepted.Links) != 1 || accepted.Links[0].SpanContext.SpanID() != request.SpanContext.SpanID() {
		t.Errorf("the request links to %v and the acceptance to %v, want each to the other", request.Links,
			accepted.Links)
	}
}
