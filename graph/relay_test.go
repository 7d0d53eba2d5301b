package graph

import (
	"context"
	"fmt"
	"testing"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/smtpcredential"
	"github.com/postrider/postrider/modules/relay"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/page"
)

// fakeSMTPCredentials has two credentials of ada and one of bob.
type fakeSMTPCredentials struct{ *calls }

func someSMTPCredentials() []*ent.SMTPCredential {
	var rows []*ent.SMTPCredential
	for i, n := range []int{2, 1, 999} {
		at := day
		row := &ent.SMTPCredential{Mode: smtpcredential.ModeLive, ID: fmt.Sprintf("smtp_%03d", n), AccountID: []string{ada, ada, bob}[i], Name: "shop",
			Hash: []byte("never shown"), CreatedAt: day}
		if n == 1 {
			row.DomainIds, row.LastUsedAt, row.RevokedAt = []string{"dom_001"}, &at, &at
		}
		rows = append(rows, row)
	}
	return rows
}

func (f fakeSMTPCredentials) ListFiltered(_ context.Context, accountID string, _ relay.Filter,
	r page.Request) (page.Page[*ent.SMTPCredential], error) {
	out, err := paged(someSMTPCredentials(), func(c *ent.SMTPCredential) (string, string) { return c.AccountID, c.ID },
		"smtp_credentials", accountID, r)
	return out, orElse(err, f.call("SMTPCredentials.List"))
}

func (f fakeSMTPCredentials) Count(ctx context.Context, accountID string, of relay.Filter, most int) (int, error) {
	n, err := lengthOf(f.ListFiltered(ctx, accountID, of, whole))
	return min(n, most), err
}

func (f fakeSMTPCredentials) Get(_ context.Context, accountID, id string) (*ent.SMTPCredential, error) {
	for _, c := range someSMTPCredentials() {
		if c.ID == id && c.AccountID == accountID {
			return c, f.call("SMTPCredentials.Get")
		}
	}
	return nil, fault.NoSuch("SMTP credential", id)
}

func (f fakeSMTPCredentials) Endpoint() (host string, port int, tls string) {
	return "smtp.mail.example.com", 587, "starttls"
}

func TestSMTPCredentialsAnswerEveryField(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{})
	a := s.ask(t, `{ smtpCredential(id: "smtp_001") `+everything(t, "SMTPCredential")+` smtpCredentials(first: 1) `+
		everything(t, "SMTPCredentialConnection")+` }`, nil)
	if a.status != 200 || len(a.Errors) != 0 {
		t.Fatalf("asking every field of SMTP credentials got status %d and %s, want 200 without errors",
			a.status, a.body)
	}
	expect.Golden(t, "smtp_credentials.json", indented(t, a.body))
	a = s.ask(t, `{ smtpCredential(id: "smtp_999") { id } }`, nil)
	same(t, "bob's", map[string]any{"smtpCredential": nil}, a.Data)
}
