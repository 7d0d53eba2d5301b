package devinbox

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/storage/page"
)

// startTestMode starts a sink as in production, which accepts only mail of test mode.
func startTestMode(t *testing.T) *Service {
	t.Helper()
	s, err := New(Params{DB: dbtest.New(t), Cursors: page.NewCodec(make([]byte, 32)), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return s
}

// deliverAs sends a message with the credentials of a tenant; none if it is empty.
func deliverAs(t *testing.T, s *Service, tenant, password, to string) error {
	t.Helper()
	client, err := smtp.Dial(s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if tenant != "" {
		if err := client.Auth(sasl.NewPlainClient("", tenant, password)); err != nil {
			return err
		}
	}
	return client.SendMail("ada@example.com", []string{to}, strings.NewReader("Subject: Hello\r\n\r\nHello\r\n"))
}

// Other programs on the machine cannot deliver to the sink, and each tenant sees only its own mail.
func TestSinkAcceptsOnlyMailOfTenants(t *testing.T) {
	t.Parallel()
	s := startTestMode(t)
	one, two := id.TestTenantOf(id.New(id.Account)), id.TestTenantOf(id.New(id.Account))
	password := s.TestWay(one).Smarthost.Password
	for name, c := range map[string]struct{ tenant, password string }{"no credentials": {}, "another password": {one, "x"},
		"no tenant": {id.HomeAccount(one), password}} {
		if err := deliverAs(t, s, c.tenant, c.password, "bob@example.net"); err == nil {
			t.Errorf("the sink accepted a message with %s", name)
		}
	}
	for _, to := range []string{"bob@example.net", "carol@example.net"} {
		if err := deliverAs(t, s, one, password, to); err != nil {
			t.Fatalf("the sink refused a message of test mode: %v", err)
		}
	}
	if err := deliverAs(t, s, one, password, "bounce+1@example.net"); err == nil {
		t.Error("the sink accepted a message to bounce@, want it refused at any domain")
	}
	first, err := s.Page(t.Context(), one, "", page.Request{Limit: 1})
	if err != nil || len(first.Items) != 1 || !first.HasMore || first.Items[0].RcptTo[0] != "carol@example.net" {
		t.Fatalf("the first page is %+v, %v, want the newest of two emails", first, err)
	}
	if second, err := s.Page(t.Context(), one, "", page.Request{Limit: 1, Cursor: first.NextCursor}); err != nil ||
		len(second.Items) != 1 || second.Items[0].RcptTo[0] != "bob@example.net" {
		t.Errorf("the second page is %+v, %v, want the older email", second, err)
	}
	head, err := s.LatestHead(t.Context(), LatestQuery{Tenant: one, To: "BOB@example.net"})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Load(t.Context(), head); err != nil || !strings.Contains(string(head.Raw), "Subject: Hello") {
		t.Errorf("the content is %q, %v", head.Raw, err)
	}
	public := s.PublicID(head)
	if found, err := s.Head(t.Context(), one, public); err != nil || found.ID != head.ID {
		t.Errorf("Head(%s) returned %+v, %v", public, found, err)
	}
	if _, err := s.Head(t.Context(), two, public); fault.KindOf(err) != fault.NotFound {
		t.Errorf("another tenant reading %s got %v, want NotFound", public, err)
	}
	if others, err := s.Page(t.Context(), two, "", page.Request{}); err != nil || len(others.Items) != 0 {
		t.Errorf("another tenant lists %+v, %v, want nothing", others.Items, err)
	}
	if n, err := s.Erase(t.Context(), one, "Bob@example.net"); err != nil || n != 1 {
		t.Errorf("Erase deleted %d emails, %v, want 1", n, err)
	}
	if n, err := s.Purge(t.Context(), one, time.Now().Add(time.Hour)); err != nil || n != 1 {
		t.Errorf("Purge deleted %d emails, %v, want 1", n, err)
	}
}

// The bounds apply to each tenant, and the newest email remains even if it is too large.
func TestTrimBoundsEachTenant(t *testing.T) {
	t.Parallel()
	s := startTestMode(t)
	const insert = `INSERT INTO captured_mails (mail_from, rcpt_to, "from", subject, message_id, size, raw, account_id)
		SELECT '', '[]', '', n::text, '', $2, '', $1 FROM generate_series(1, $3::int) n`
	for tenant, rows := range map[string][2]int{"tst_many": {10, Keep + 50}, "tst_large": {keepBytes, 3}, "tst_few": {10, 20}} {
		if _, err := s.db.SQL.ExecContext(t.Context(), insert, tenant, rows[0], rows[1]); err != nil {
			t.Fatal(err)
		}
	}
	for tenant, want := range map[string]int{"tst_many": Keep, "tst_large": 1, "tst_few": 20} {
		if err := s.trim(t.Context(), tenant); err != nil {
			t.Fatal(err)
		}
		var left int
		if err := s.db.SQL.QueryRowContext(t.Context(), `SELECT count(*) FROM captured_mails WHERE account_id = $1`, tenant).
			Scan(&left); err != nil || left != want {
			t.Errorf("%s has %d emails, %v, want %d", tenant, left, err, want)
		}
	}
}
