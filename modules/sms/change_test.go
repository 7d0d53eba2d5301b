package sms

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/modules/sms/settings"
	"github.com/postrider/postrider/modules/sms/smstest"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/storage/db"
)

func TestInvalidSettingsReportEveryField(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token := secret.New(smstest.Token)
	for name, c := range map[string]struct {
		change settings.Change
		want   []string
	}{
		"nothing": {settings.Change{}, []string{"provider"}},
		"countries": {settings.Change{Provider: "operator", Countries: []string{"DE", "de", "XX", "Germany"}},
			[]string{"countries[1]", "countries[2]", "countries[3]"}},
		"a cap":                      {settings.Change{Provider: "operator", DailyCap: -1}, []string{"daily_cap"}},
		"a cap above the maximum":    {settings.Change{Provider: "operator", DailyCap: settings.MaxDailyCap + 1}, []string{"daily_cap"}},
		"an unknown sender":          {settings.Change{Provider: "operator", From: "Shop"}, []string{"from"}},
		"twilio without an account":  {settings.Change{Provider: "twilio"}, []string{"twilio"}},
		"an account but no provider": {settings.Change{Provider: "none", Twilio: &settings.TwilioChange{}}, []string{"twilio"}},
		"an empty twilio account": {settings.Change{Provider: "twilio", Twilio: &settings.TwilioChange{}},
			[]string{"from", "twilio.account_sid", "twilio.auth_token"}},
		"a sid with a path": {settings.Change{Provider: "twilio", From: "12345",
			Twilio: &settings.TwilioChange{AccountSID: "../x", AuthToken: token}}, []string{"twilio.account_sid"}},
		"a private address": {settings.Change{Provider: "twilio", From: "12345",
			Twilio: &settings.TwilioChange{AccountSID: "AC1", AuthToken: token, BaseURL: "http://10.0.0.1"}},
			[]string{"twilio.base_url"}},
		"a private base": {settings.Change{Provider: "twilio", From: "12345",
			Twilio: &settings.TwilioChange{AccountSID: "AC1", AuthToken: token, BaseURL: "https://10.0.0.1"}},
			[]string{"twilio.base_url"}},
		"a private gateway": {settings.Change{Provider: "http",
			HTTP: &settings.HTTPChange{URL: "https://[::ffff:10.0.0.1]/send"}}, []string{"http.url"}},
		"a private name": {settings.Change{Provider: "http", HTTP: &settings.HTTPChange{URL: "https://private.example/send"}}, []string{"http.url"}},
		"a base with a query": {settings.Change{Provider: "twilio", From: "12345",
			Twilio: &settings.TwilioChange{AccountSID: "AC1", AuthToken: token, BaseURL: "https://x.example/?a=b"}},
			[]string{"twilio.base_url"}},
		"a token with a line break": {settings.Change{Provider: "twilio", From: "12345",
			Twilio: &settings.TwilioChange{AccountSID: "AC1", AuthToken: secret.New("a\r\nb")}},
			[]string{"twilio.auth_token"}},
		"http without a gateway": {settings.Change{Provider: "http"}, []string{"http"}},
		"an empty gateway":       {settings.Change{Provider: "http", HTTP: &settings.HTTPChange{}}, []string{"http.url"}},
		"a user in the URL":      {settings.Change{Provider: "http", HTTP: &settings.HTTPChange{URL: "https://a:b@x.example"}}, []string{"http.url"}},
		"headers": {settings.Change{Provider: "http", HTTP: &settings.HTTPChange{URL: "https://x.example",
			Headers: map[string]string{"Idempotency-Key": "1", "A B": "1", "X": "1\r\nY: 2"}}},
			[]string{"http.headers", "http.headers.Idempotency-Key", "http.headers.X"}},
		"a body": {settings.Change{Provider: "http",
			HTTP: &settings.HTTPChange{URL: "https://x.example", Body: `{"a": "{{secret}}"}`}}, []string{"http.body"}},
		"a path": {settings.Change{Provider: "http",
			HTTP: &settings.HTTPChange{URL: "https://x.example", IDPath: "a..b"}}, []string{"http.id_path"}},
	} {
		_, err := w.SetSettings(t.Context(), ours, c.change)
		var f *fault.Error
		if !errors.As(err, &f) {
			t.Errorf("%s: %v, want an error with fields", name, err)
			continue
		}
		if diff := cmp.Diff(c.want, slices.Sorted(maps.Keys(f.Fields))); diff != "" {
			t.Errorf("%s: error fields (-want +got):\n%s", name, diff)
		}
	}
	if n := w.countRows(t, "sms_settings"); n != 0 {
		t.Errorf("rejected settings left %d rows", n)
	}
}

func TestSecretsAreSealedPerAccount(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.useTwilio(t, ours)
	stored, err := db.One(t.Context(), w.db.SQL, db.Value[string], `SELECT config::text || encode(credentials, 'escape') FROM sms_settings`)
	if err != nil || strings.Contains(stored, smstest.Token) {
		t.Fatalf("stored settings are %q, %v; want no plain token", stored, err)
	}
	// One account cannot decrypt another's row.
	w.exec(t,
		`INSERT INTO sms_settings (id, provider, config, credentials, countries) SELECT $1, provider, config, credentials, countries FROM sms_settings`, theirs)
	if _, err := w.Route(t.Context(), theirs); err == nil {
		t.Error("another account can decrypt the secrets")
	}
	again := settings.Change{Provider: "twilio", From: "+15005550006", Countries: []string{"US"},
		Twilio: &settings.TwilioChange{AccountSID: smstest.SID, BaseURL: w.twilio.URL + "/"}}
	if s, err := w.SetSettings(t.Context(), ours, again); err != nil || !s.HasSecret || !s.Usable {
		t.Errorf("after a change without the token: %+v, %v; want the token kept", s, err)
	}
	w.send(t, ours, american)
	if w.drain(t); len(w.twilio.Messages()) != 1 {
		t.Error("no message was sent with the stored token")
	}
	again.Twilio.BaseURL = "https://thief.example"
	_, err = w.SetSettings(t.Context(), ours, again)
	checkRefusal(t, "another address with the stored token", err, "validation_error")
	again.Twilio.BaseURL, again.Twilio.AccountSID = w.twilio.URL, "ACother"
	_, err = w.SetSettings(t.Context(), ours, again)
	checkRefusal(t, "another account with the stored token", err, "validation_error")

	gateway := settings.Change{Provider: "http",
		HTTP: &settings.HTTPChange{URL: "https://sms.example.com", Headers: map[string]string{"X-Key": "s3cret"}}}
	w.saveSettings(t, ours, gateway)
	gateway.HTTP.Headers = nil
	if s, err := w.SetSettings(t.Context(), ours, gateway); err != nil || !s.HasSecret ||
		!slices.Equal(s.Config.HeaderNames, []string{"X-Key"}) {
		t.Errorf("after a change without headers: %+v, %v; want them kept", s, err)
	}
	gateway.HTTP.URL = "https://thief.example"
	_, err = w.SetSettings(t.Context(), ours, gateway)
	checkRefusal(t, "another URL with the stored headers", err, "validation_error")
}

func TestDefaultSettings(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if s, err := w.Settings(t.Context(), ours); err != nil || s.Provider != "operator" || s.Usable ||
		len(s.Countries) != 0 || s.DailyCap != settings.DefaultDailyCap || s.UpdatedAt != nil {
		t.Errorf("settings are %+v, %v; want the operator's provider (not configured) and no countries", s, err)
	}
	captured := w.start(t, settings.Operator{Kind: settings.KindCapture})
	if s, err := captured.Settings(context.WithoutCancel(t.Context()), ours); err != nil || !s.Usable ||
		s.Carrier != "capture" {
		t.Errorf("settings in development are %+v, %v; want provider capture", s, err)
	}
}
