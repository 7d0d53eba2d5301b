package api_test

import (
	"context"
	"testing"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/smtpcredential"
	"github.com/postrider/postrider/modules/relay"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/storage/page"
)

const smtpCredentialID = "smtp_01kf0m4w7he6x8q2v5b3n9c1ta"

// fakeRelay has one credential, and records its calls.
type fakeRelay struct {
	fail  error
	asked relay.NewCredential
}

func (f *fakeRelay) credential() *ent.SMTPCredential {
	created := time.Date(2026, 1, 15, 9, 30, 0, 0, time.UTC)
	return &ent.SMTPCredential{ID: smtpCredentialID, Name: "web shop", Mode: smtpcredential.ModeLive, Hash: []byte("never shown"), CreatedAt: created,
		LastUsedAt: &created}
}

func (f *fakeRelay) Create(ctx context.Context, in relay.NewCredential) (*ent.SMTPCredential, secret.String, error) {
	f.asked = in
	made, password := f.credential(), secret.New("svs_Zk3v9QpA1mW5rT8yB2nC4xE6uH7jK0sLd3fG9aVqIo")
	if f.fail == nil && in.Keep != nil {
		f.fail = in.Keep(ctx, nil, made, password)
	}
	return made, password, f.fail
}

func (f *fakeRelay) List(_ context.Context, _ string, r page.Request) (page.Page[*ent.SMTPCredential], error) {
	if r.Cursor == "bad" {
		return page.Page[*ent.SMTPCredential]{},
			fault.InvalidField("cursor", "is not a cursor of this list; use next_cursor of an earlier response")
	}
	return page.Page[*ent.SMTPCredential]{Items: []*ent.SMTPCredential{f.credential()}, HasMore: true,
		NextCursor: "next"}, f.fail
}

func (f *fakeRelay) Get(_ context.Context, _, id string) (*ent.SMTPCredential, error) {
	if id != smtpCredentialID {
		return nil, fault.NoSuch("SMTP credential", id)
	}
	return f.credential(), f.fail
}

func (f *fakeRelay) Revoke(ctx context.Context, account, id string) (*ent.SMTPCredential, error) {
	return f.Get(ctx, account, id)
}

func (f *fakeRelay) Endpoint() (host string, port int, tls string) {
	return "smtp.mail.example.com", 587, "starttls"
}

func TestSMTPCredentialAnswers(t *testing.T) {
	t.Parallel()
	const list, one = "/api/smtp-credentials", "/api/smtp-credentials/" + smtpCredentialID
	for name, c := range map[string]struct {
		request request
		status  int
	}{
		"smtp_credentials":         {request{method: "GET", path: list}, 200},
		"smtp_credentials_cursor":  {request{method: "GET", path: list + "?cursor=bad"}, 400},
		"smtp_credentials_scope":   {request{method: "GET", path: list, key: "read"}, 403},
		"smtp_credential":          {request{method: "GET", path: one}, 200},
		"smtp_credential_scope":    {request{method: "GET", path: one, key: "sending"}, 403},
		"smtp_credential_unknown":  {request{method: "GET", path: list + "/smtp_x"}, 404},
		"smtp_credential_created":  {request{method: "POST", path: list, body: `{"name":"web shop","domain_ids":["` + domainID + `"]}`}, 200},
		"smtp_credential_bad":      {request{method: "POST", path: list, body: `{"name":" ","domain_ids":["example.com",1],"password":"mine"}`}, 400},
		"smtp_credential_no_scope": {request{method: "POST", path: list, body: `{"name":"x"}`, key: "sending"}, 403},
		"smtp_credential_revoked":  {request{method: "DELETE", path: one}, 200},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := newBundleFor(t, list).do(t, c.request)
			if got.status != c.status {
				t.Errorf("status %d, want %d: %s", got.status, c.status, got.body)
			}
			expect.Golden(t, "answers/"+name+".json", got.body)
		})
	}
}

// A replay returns the same password, which is never stored in plain text. The limits of the calling key apply to the
// new credential.
func TestASMTPCredentialIsMadeOncePerKey(t *testing.T) {
	t.Parallel()
	b := newBundleFor(t, "/api/smtp-credentials")
	q := request{method: "POST", path: "/api/smtp-credentials", body: `{"name":"x"}`,
		header: map[string]string{"Idempotency-Key": "k"}}
	first, again := b.do(t, q), b.do(t, q)
	if first.status != 200 || first.body != again.body || again.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("one key made a credential with %d %s, then %d %s, want 200 and the same answer replayed",
			first.status, first.body, again.status, again.body)
	}
	if in := b.relay.asked; in.MadeBy != "key_1" || in.AccountID != accountID {
		t.Errorf("the service was asked for %+v, want a credential made by key_1 for %s", in, accountID)
	}
	for key, a := range b.store.answers {
		if string(a.Body) == first.body {
			t.Errorf("the answer under %s lies in the clear", key)
		}
	}
}
