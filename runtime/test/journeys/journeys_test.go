package journeys_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/mail/dkim"
	"github.com/postrider/postrider/runtime/mail/message"
	"github.com/postrider/postrider/runtime/mail/smtpclient/smtptest"
	"github.com/postrider/postrider/runtime/test/harness"
)

type emailAnswer struct {
	Email struct {
		ID           string
		Status       string
		LastEvent    string  `json:"last_event"`
		BounceReason *string `json:"bounce_reason"`
		ScheduledAt  *string `json:"scheduled_at"`
		CancelledAt  *string `json:"cancelled_at"`
		CreatedAt    string  `json:"created_at"`
		SentAt       *string `json:"sent_at"`
		DeliveredAt  *string `json:"delivered_at"`
		BouncedAt    *string `json:"bounced_at"`
	}
}

// Journey 1: POST /emails stores, signs and delivers a message over SMTP to the MX in DNS, and REST and
// GraphQL report the same.
func TestJourney1MessageIsAcceptedSignedDeliveredAndSeen(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	app.MailDomain(t, "example.net")

	id := send(t, app, `{"from":"Ada Lovelace <ada@dev.test>","to":["Bob <bob@example.net>"],"cc":"carol@example.net","bcc":"dave@example.net",
		"subject":"Grüße 📮","html":"<p>Hello <b>Bob</b></p>","text":"Hello Bob","reply_to":"help@dev.test","tags":{"kind":"welcome"},
		"headers":{"X-Order":"42"},"attachments":[{"filename":"note.txt","content":"aGVsbG8="}]}`)
	app.MX.Wait(t, "three transactions", func(s smtptest.Stats) bool { return s.Accepted == 3 })
	got := waitForStatus(t, app, id, "delivered")
	if got.Email.SentAt == nil || got.Email.DeliveredAt == nil || got.Email.BouncedAt != nil ||
		got.Email.LastEvent != "email.delivered" {
		t.Errorf("record: %+v", got.Email)
	}
	checkArrived(t, app)
	checkTimeline(t, app, id)
}

func checkArrived(t *testing.T, app *harness.App) {
	t.Helper()
	to := map[string]bool{}
	for _, m := range app.MX.Messages() {
		to[m.To[0]] = true
		if !strings.HasPrefix(m.From, "bounce+") || !strings.HasSuffix(m.From, "@rp.dev.test") {
			t.Errorf("envelope sender is %s", m.From)
		}
		if strings.Contains(string(m.Data), "dave@") {
			t.Error("the message names a Bcc recipient")
		}
	}
	for _, address := range []string{"bob@example.net", "carol@example.net", "dave@example.net"} {
		if !to[address] {
			t.Errorf("nothing arrived for %s: %v", address, to)
		}
	}
	raw := app.MX.Messages()[0].Data
	checkSignature(t, app, raw)
	parsed, err := message.ReadFull(bytes.NewReader(raw), message.Bounds{})
	if err != nil {
		t.Fatal(err)
	}
	if parsed.Subject != "Grüße 📮" || strings.TrimSpace(parsed.Text) != "Hello Bob" ||
		!strings.Contains(parsed.HTML, "<b>Bob</b>") {
		t.Errorf("subject %q text %q html %q", parsed.Subject, parsed.Text, parsed.HTML)
	}
}

func checkSignature(t *testing.T, app *harness.App, raw []byte) {
	t.Helper()
	signatures, err := dkim.Verify(raw, publishedKeys(t, app))
	if err != nil || len(signatures) != 1 || signatures[0].Err != nil {
		t.Errorf("DKIM: %+v %v", signatures, err)
	}
}

// publishedKeys serves DKIM lookups from the records that the API asks to publish.
func publishedKeys(t *testing.T, app *harness.App) func(string) ([]string, error) {
	t.Helper()
	var list struct {
		Domains []struct {
			Records []struct{ Purpose, Name, Value string }
		}
	}
	app.Do(t, http.MethodGet, "/api/domains", nil).JSON(t, &list)
	return func(name string) ([]string, error) {
		for _, d := range list.Domains {
			for _, r := range d.Records {
				if r.Purpose == "dkim" && strings.TrimSuffix(r.Name, ".") == strings.TrimSuffix(name, ".") {
					return []string{r.Value}, nil
				}
			}
		}
		return nil, io.EOF
	}
}

func checkTimeline(t *testing.T, app *harness.App, id string) {
	t.Helper()
	var got struct {
		Email struct {
			Status     string
			Recipients []struct{ Address, State string }
			Timeline   []struct{ Type, At, Recipient string }
			Content    struct{ Text, HTML string }
		}
	}
	app.Query(t, `{ email(id: "`+id+
		`") { status recipients { address state } timeline { type at recipient } content { text html } } }`, &got)
	if got.Email.Status != "DELIVERED" && got.Email.Status != "delivered" {
		t.Errorf("GraphQL returned %s", got.Email.Status)
	}
	if len(got.Email.Recipients) != 3 || got.Email.Content.Text != "Hello Bob" {
		t.Errorf("recipients %+v, content %+v", got.Email.Recipients, got.Email.Content)
	}
	var types []string
	for _, e := range got.Email.Timeline {
		types = append(types, e.Type)
	}
	if want := "email.sent email.delivered email.delivered email.delivered"; strings.Join(types, " ") != want {
		t.Errorf("timeline is %v, want %s", types, want)
	}
}

// Journey 2: an email is scheduled, rescheduled, sent at its time and delivered; another is canceled and
// never sent.
func TestJourney2ScheduledMessageIsMovedReleasedAndDelivered(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	app.MailDomain(t, "example.net")

	moved, cancelled := schedule(t, app, "moved"), schedule(t, app, "cancelled")
	var got emailAnswer
	app.Do(t, http.MethodGet, "/api/emails/"+moved, nil).JSON(t, &got)
	if got.Email.Status != "scheduled" || got.Email.LastEvent != "email.scheduled" || got.Email.ScheduledAt == nil ||
		got.Email.SentAt != nil {
		t.Errorf("record: %+v", got.Email)
	}
	got = emailAnswer{}
	app.Do(t, http.MethodPatch, "/api/emails/"+cancelled, `{"cancel":true}`).JSON(t, &got)
	if got.Email.ID != cancelled || got.Email.Status != "cancelled" || got.Email.LastEvent != "email.cancelled" ||
		got.Email.CancelledAt == nil {
		t.Errorf("cancelled: %+v", got.Email)
	}
	at := time.Now().Add(8 * time.Second).UTC().Truncate(time.Millisecond) // after the request is accepted
	app.Do(t, http.MethodPatch, "/api/emails/"+moved, map[string]any{"scheduledAt": at}).JSON(t, &got)
	if want := at.Format("2006-01-02T15:04:05.000Z"); got.Email.Status != "scheduled" ||
		*got.Email.ScheduledAt != want {
		t.Errorf("rescheduled to %s: %+v", want, got.Email)
	}

	got = waitForStatus(t, app, moved, "delivered")
	if sent, err := time.Parse(time.RFC3339, *got.Email.SentAt); err != nil || sent.Before(at) ||
		sent.After(at.Add(expect.Patience)) {
		t.Errorf("sent at %s, scheduled for %s", *got.Email.SentAt, at)
	}
	arrived := app.MX.Messages()
	if len(arrived) != 1 || !bytes.Contains(arrived[0].Data, []byte("Subject: moved")) {
		t.Errorf("%d messages arrived", len(arrived))
	}
	checkSignature(t, app, arrived[0].Data)
	checkTimelines(t, app, map[string]string{moved: "email.scheduled email.rescheduled email.sent email.delivered",
		cancelled: "email.scheduled email.cancelled"})
	for id, status := range map[string]string{moved: "delivered", cancelled: "cancelled"} {
		refused := app.Do(t, http.MethodPatch, "/api/emails/"+id, `{"cancel":true}`)
		if refused.Status != http.StatusConflict ||
			!bytes.Contains(refused.Body, []byte(`"code":"email_not_scheduled","details":{"status":"`+status+`"}`)) {
			t.Errorf("a %s email was canceled: %d %s", status, refused.Status, refused.Body)
		}
	}
}

func schedule(t *testing.T, app *harness.App, subject string) string {
	t.Helper()
	var receipt struct{ ID, Status string }
	answer := app.Do(t, http.MethodPost, "/api/emails", map[string]any{"from": "ada@dev.test", "to": "bob@example.net",
		"subject": subject, "text": "t",
		"scheduled_at": time.Now().Add(time.Hour)})
	answer.JSON(t, &receipt)
	if answer.Status != http.StatusOK || receipt.Status != "scheduled" {
		t.Fatalf("POST /emails returned %d %s", answer.Status, answer.Body)
	}
	return receipt.ID
}

func checkTimelines(t *testing.T, app *harness.App, want map[string]string) {
	t.Helper()
	for id, types := range want {
		var got struct {
			Email struct {
				Status, ScheduledAt string
				Timeline            []struct{ Type string }
			}
		}
		app.Query(t, `{ email(id: "`+id+`") { status scheduledAt timeline { type } } }`, &got)
		var seen []string
		for _, e := range got.Email.Timeline {
			seen = append(seen, e.Type)
		}
		if strings.Join(seen, " ") != types || got.Email.ScheduledAt == "" {
			t.Errorf("GraphQL returned %s, scheduled at %s, %v; want %s", got.Email.Status, got.Email.ScheduledAt,
				seen, types)
		}
	}
}

// Journey 5: a domain is added, its records appear in DNS, it is verified, and mail is signed as that
// domain. The DNS server is the scripted one of dnsxtest, over real sockets on loopback, with the records
// that the test published.
func TestJourney5DomainIsAddedVerifiedAndSigns(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	app.MailDomain(t, "example.net")
	body := `{"from":"shop@customer.example","to":"bob@example.net","subject":"Receipt","text":"Thanks"}`

	var added struct {
		Domain struct {
			ID, Status string
			Records    []struct {
				Purpose, Type, Name, Value, Status string
				Required                           bool
			}
		}
	}
	app.Do(t, http.MethodPost, "/api/domains", `{"name":"customer.example"}`).JSON(t, &added)
	if added.Domain.Status != "pending" {
		t.Fatalf("domain: %+v", added.Domain)
	}
	if refused := app.Do(t, http.MethodPost, "/api/emails", body); refused.Status != http.StatusForbidden ||
		!bytes.Contains(refused.Body, []byte("domain_not_verified")) {
		t.Errorf("an unverified domain could send: %d %s", refused.Status, refused.Body)
	}
	for _, r := range added.Domain.Records {
		value := r.Value + "."
		if r.Type == "TXT" {
			value = quotedStrings(r.Value)
		}
		app.DNS.Add(t, strings.TrimSuffix(r.Name, ".")+". 60 IN "+r.Type+" "+value)
	}
	app.Do(t, http.MethodPost, "/api/domains/"+added.Domain.ID+"/verify", nil).JSON(t, &added)
	if added.Domain.Status != "verified" {
		t.Fatalf("after verify: %+v", added.Domain)
	}
	id := send(t, app, body)
	waitForStatus(t, app, id, "delivered")
	raw := app.MX.Messages()[0].Data
	if !bytes.Contains(raw, []byte("d=customer.example")) {
		t.Errorf("not signed as the domain:\n%s", raw)
	}
	checkSignature(t, app, raw)
}

func TestRejectedRecipientBounces(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	app.MailDomain(t, "example.net")
	app.MX.Always(smtptest.Rcpt, "gone@example.net", smtptest.Reply(550, "5.1.1", "No such user"))
	id := send(t, app, `{"from":"ada@dev.test","to":["gone@example.net","here@example.net"],"subject":"s","text":"t"}`)
	got := waitForStatus(t, app, id, "bounced")
	if got.Email.BounceReason == nil || !strings.Contains(*got.Email.BounceReason, "No such user") ||
		got.Email.BouncedAt == nil || got.Email.DeliveredAt != nil {
		t.Errorf("record: %+v", got.Email)
	}
}

func TestNullMXFails(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	app.DNS.Add(t, "nomail.example. 60 IN MX 0 .")
	id := send(t, app, `{"from":"ada@dev.test","to":"x@nomail.example","subject":"s","text":"t"}`)
	if got := waitForStatus(t, app, id, "failed"); got.Email.LastEvent != "email.failed" {
		t.Errorf("record: %+v", got.Email)
	}
}

func TestDeferredRecipientIsReported(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	app.MailDomain(t, "example.net")
	app.MX.On(smtptest.Rcpt, "", smtptest.Reply(451, "4.7.1", "Greylisted"))
	before := time.Now()
	id := send(t, app, `{"from":"ada@dev.test","to":"bob@example.net","subject":"s","text":"t"}`)
	var got struct {
		Email struct {
			Recipients []struct {
				State         string
				Attempts      int
				NextAttemptAt time.Time
			}
		}
	}
	harness.Eventually(t, "the deferral is recorded", func() bool {
		app.Query(t, `{ email(id: "`+id+`") { recipients { state attempts nextAttemptAt } } }`, &got)
		return strings.EqualFold(got.Email.Recipients[0].State, "deferred")
	})
	if next := got.Email.Recipients[0].NextAttemptAt; next.Sub(before) < 30*time.Second ||
		time.Until(next) > time.Minute {
		t.Errorf("the next attempt is at %s, want about a minute after the first, which was between %s and %s", next,
			before, time.Now())
	}
	var record emailAnswer
	app.Do(t, http.MethodGet, "/api/emails/"+id, nil).JSON(t, &record)
	if record.Email.Status != "sent" || record.Email.LastEvent != "email.delivery_delayed" {
		t.Errorf("record: %+v", record.Email)
	}
}

func send(t *testing.T, app *harness.App, body string) string {
	t.Helper()
	return app.Send(t, body)
}

func waitForStatus(t *testing.T, app *harness.App, id, status string) emailAnswer {
	t.Helper()
	var got emailAnswer
	harness.Eventually(t, "email "+id+" is "+status, func() bool {
		got = emailAnswer{}
		app.Do(t, http.MethodGet, "/api/emails/"+id, nil).JSON(t, &got)
		return got.Email.Status == status
	})
	return got
}

// quotedStrings splits a TXT value into strings of at most 255 bytes, as a zone file requires.
func quotedStrings(value string) string {
	var parts []string
	for len(value) > 255 {
		parts = append(parts, value[:255])
		value = value[255:]
	}
	return `"` + strings.Join(append(parts, value), `" "`) + `"`
}
