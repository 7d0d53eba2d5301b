package compat_test

import (
	"encoding/json"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/postrider/postrider/rest/compat"
	"github.com/postrider/postrider/rest/compat/postmark"
	"github.com/postrider/postrider/rest/compat/resend"
	"github.com/postrider/postrider/rest/compat/sendgrid"
	"github.com/postrider/postrider/runtime/base/intake"
)

// A request with several mistakes always gets the same error, which names the first mistake or all of them in order.
func TestErrorsDoNotDependOnMapOrder(t *testing.T) {
	t.Parallel()
	budget, err := intake.New(intake.Config{Dir: t.TempDir(), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		provider           compat.Provider
		method, path, body string
		want               string
	}{
		{postmark.API(), "GET", "/postmark/bounces?count=1&tag=a&inactive=true&fromdate=2026-01-01", "",
			"Filtering bounces by fromdate, inactive, tag is not supported by Postrider."},
		{postmark.API(), "GET", "/postmark/bounces?offset=x&count=y", "", "count must be a number"},
		{postmark.API(), "POST", "/postmark/email", `{"From":"Ada <","To":"Bob <","Cc":"<","ReplyTo":"<"}`, "From "},
		{resend.API(), "POST", "/resend/domains",
			`{"name":"example.com","open_tracking":true,"click_tracking":true,"tls":"enforced"}`,
			"open_tracking can be set once the domain is verified"},
		{sendgrid.API(), "POST", "/sendgrid/v3/mail/send",
			`{"personalizations":[{"to":[{"email":"a@example.com"}]}],"from":{"email":"b@example.com"},` +
				`"mail_settings":{"sandbox_mode":{"enable":true},"footer":{"enable":true}},` +
				`"tracking_settings":{"open_tracking":{"enable":true},"click_tracking":{"enable":false}}}`,
			"Setting mail_settings.footer, mail_settings.sandbox_mode, tracking_settings.click_tracking, " +
				"tracking_settings.open_tracking is not supported by Postrider."},
		{sendgrid.API(), "GET", "/sendgrid/v3/suppression/bounces?offset=x&limit=y", "", "limit must be between 0 and 500"},
	} {
		h := compat.New(compat.Options{API: itemsAPI(t), Keys: ownKeys{}, Budget: budget, Cursors: cursors,
			Logger: slog.New(slog.DiscardHandler)}, test.provider)
		got := map[string]bool{}
		for range 30 {
			answer := ask(t, h, test.method, test.path, test.body, "X-Postmark-Server-Token", "svc_good")
			got[messageOf(t, answer)] = true
		}
		for message := range got {
			if len(got) > 1 || !strings.HasPrefix(message, test.want) {
				t.Errorf("%s %s got the %d errors %v, want always one that begins with %q", test.method, test.path,
					len(got), got, test.want)
				break
			}
		}
	}
}

// messageOf returns the text of an error response of any provider.
func messageOf(t *testing.T, answer *httptest.ResponseRecorder) string {
	t.Helper()
	var failure struct {
		Message string
		Errors  []struct{ Message string }
	}
	if err := json.Unmarshal(answer.Body.Bytes(), &failure); err != nil {
		t.Errorf("the error %q does not decode: %v", answer.Body, err)
	}
	for _, e := range failure.Errors {
		failure.Message += e.Message
	}
	return failure.Message
}

// A reason that begins with the name of its field does not repeat it.
func TestReasonsDoNotRepeatTheirField(t *testing.T) {
	t.Parallel()
	got := compat.Describe("Invalid fields", map[string]any{"emails[1].html": "html or text is required",
		"html": "html or text is required", "to": "must be an address"})
	want := "emails[1].html or text is required; html or text is required; to must be an address"
	if got != want {
		t.Errorf("the message is %q, want %q", got, want)
	}
}
