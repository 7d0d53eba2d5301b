package api_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/ent/smsattempt"
	"github.com/postrider/postrider/modules/sms"
	"github.com/postrider/postrider/modules/sms/settings"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/page"
)

const smsID = "sms_01kf0m4w7he6x8q2v5b3n9c1ta"

// fakeSMS has one message, and records its calls.
type fakeSMS struct {
	change settings.Change
	filter sms.Filter
}

func (f *fakeSMS) Settings(context.Context, string) (settings.Settings, error) {
	return settings.Settings{Provider: "twilio", Config: shape.SMSProvider{AccountSID: "AC1", From: "+15005550006"},
		Countries: []string{"US"}, DailyCap: 100, UpdatedAt: &hookTime, HasSecret: true,
		Usable: true, Carrier: "twilio", ReplyURL: "https://mail.example.com/s/i/x"}, nil
}

func (f *fakeSMS) SetSettings(ctx context.Context, accountID string,
	c settings.Change) (settings.Settings, error) {
	f.change = c
	if c.Provider == "smoke" {
		return settings.Settings{}, fault.InvalidField("provider", "must be one of operator, none, twilio and http")
	}
	return f.Settings(ctx, accountID)
}

func (f *fakeSMS) message() *ent.SMSMessage {
	run := runID
	return &ent.SMSMessage{ID: smsID, To: "+4915112345678", Region: "DE", Text: "Hello", Encoding: "gsm7", Segments: 1,
		Status: "sent", Provider: "twilio", ProviderID: "SM1", RunID: &run, CreatedAt: hookTime, SentAt: &hookTime}
}

func (f *fakeSMS) List(_ context.Context, _ string, filter sms.Filter) (page.Page[*ent.SMSMessage], error) {
	f.filter = filter
	return page.Page[*ent.SMSMessage]{Items: []*ent.SMSMessage{f.message()}}, nil
}

func (f *fakeSMS) Get(_ context.Context, _, id string) (sms.StoredMessage, error) {
	if id != smsID {
		return sms.StoredMessage{}, fault.NoSuch("text message", id)
	}
	sent, status := smsattempt.OutcomeSent, 201
	return sms.StoredMessage{SMSMessage: f.message(),
		Attempts: []*ent.SMSAttempt{{Number: 1, Provider: "twilio", Outcome: &sent, StatusCode: &status,
			StartedAt: hookTime, FinishedAt: &hookTime}}}, nil
}

func TestSMSSettingsAreReadWhole(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	got := b.do(t, request{method: "PUT", path: "/api/sms-settings",
		body: `{"provider":"http","countries":["DE","AT"],"daily_cap":7,"from":"Shop","http":{"url":"https://sms.example.com","headers":{"X-Key":"s3cret"},` +
			`"content_type":"text/plain","body":"{{text}}","id_path":"id","idempotent":true}}`})
	c := b.sms.change
	if got.status != 200 || c.Provider != "http" || c.DailyCap != 7 || c.From != "Shop" || len(c.Countries) != 2 ||
		c.HTTP == nil || c.Twilio != nil {
		t.Fatalf("PUT /sms-settings: %d %s, and the service got %+v", got.status, got.body, c)
	}
	if diff := cmp.Diff(settings.HTTPChange{URL: "https://sms.example.com",
		Headers: map[string]string{"X-Key": "s3cret"}, ContentType: "text/plain", Body: "{{text}}", IDPath: "id",
		Idempotent: true}, *c.HTTP); diff != "" {
		t.Errorf("the gateway is not what was given (-want +got):\n%s", diff)
	}
	b.do(t, request{method: "PUT", path: "/api/sms-settings",
		body: `{"provider":"twilio","countries":[],"from":"+1","twilio":{"account_sid":"AC1","auth_token":"s3cret"}}`})
	if c := b.sms.change; c.Twilio == nil || c.Twilio.AuthToken.Reveal() != "s3cret" || c.HTTP != nil {
		t.Errorf("the service got %+v, want the account with its token", c)
	}
}

// A client with the reply link can post replies for the account, so reading it requires the right to change the
// settings.
func TestTheReplyURLNeedsTheRightToWrite(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	for key, want := range map[string]string{"read": `"reply_url":null`,
		"full": `"reply_url":"https://mail.example.com/s/i/x"`} {
		if got := b.do(t, request{method: "GET", path: "/api/sms-settings", key: key}); got.status != 200 ||
			!strings.Contains(got.body, want) {
			t.Errorf("GET /sms-settings with a %s key: %d %s, want 200 with %s", key, got.status, got.body, want)
		}
	}
}

func TestSMSSettingsAreRefusedByField(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	for body, want := range map[string][]string{
		`{}`:                                  {"countries", "provider"},
		`{"provider":"smoke","countries":[]}`: {"provider"},
		`{"provider":"http","countries":"DE","http":{"urll":"x","headers":{"A":1}}}`: {"countries", "http.headers.A",
			"http.url", "http.urll"},
		`{"provider":"none","countries":[],"daily_cap":"x","tokens":1}`: {"daily_cap", "tokens"},
	} {
		got := b.do(t, request{method: "PUT", path: "/api/sms-settings", body: body})
		if diff := cmp.Diff(want, fieldsOf(t, got.body)); got.status != 400 || diff != "" {
			t.Errorf("%s: got %d %s, want 400 with the fields (-want +got):\n%s", body, got.status, got.body, diff)
		}
	}
}

func TestSMSMessagesAreFiltered(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	got := b.do(t, request{method: "GET", path: "/api/sms-messages?status=sent&to=%2B4915112345678&automation_id=" +
		automationID + "&run_id=" + runID + "&limit=5"})
	f := b.sms.filter
	if got.status != 200 || f.Status != "sent" || f.To != "+4915112345678" || f.AutomationID != automationID ||
		f.RunID != runID || f.Limit != 5 {
		t.Errorf("GET /sms-messages: %d, and the service got %+v", got.status, f)
	}
	if got := b.do(t, request{method: "GET", path: "/api/sms-messages?from=x"}); got.status != 400 {
		t.Errorf("an unknown filter is answered %d, want 400", got.status)
	}
}
