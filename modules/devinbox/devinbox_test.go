package devinbox

import (
	"context"
	"log/slog"
	"net/smtp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/runtime/db/dbtest"
	"github.com/postrider/postrider/runtime/fault"
)

func startInbox(t *testing.T) *Service {
	t.Helper()
	s, err := New(Params{DB: dbtest.New(t), Logger: slog.New(slog.DiscardHandler)})
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

func deliver(t *testing.T, s *Service, to []string, raw string) {
	t.Helper()
	if err := smtp.SendMail(s.Addr(), nil, "bounce@rp.dev.test", to, []byte(raw)); err != nil {
		t.Fatal(err)
	}
}

func TestCapturedMailIsKeptAsReceived(t *testing.T) {
	t.Parallel()
	s := startInbox(t)
	raw := "From: =?utf-8?q?J=C3=B6rg?= <joerg@dev.test>\r\nSubject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\r\nMessage-ID: <x@dev.test>\r\n\r\nHello\r\n.dot\r\n"
	deliver(t, s, []string{"bob@example.net", "carol@example.net"}, raw)
	deliver(t, s, []string{"dave@example.net"}, "no header at all\r\n")

	all, err := s.List(t.Context(), Query{})
	if err != nil || len(all) != 2 {
		t.Fatalf("list: %v %v", all, err)
	}
	first := all[1]
	if first.From != "Jörg <joerg@dev.test>" || first.Subject != "Grüße" || first.MessageID != "x@dev.test" || first.MailFrom != "bounce@rp.dev.test" || first.Size != len(raw) {
		t.Errorf("row: %+v", first)
	}
	whole, err := s.Get(t.Context(), first.ID)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(raw, string(whole.Raw)); diff != "" {
		t.Errorf("message (-want +got):\n%s", diff)
	}
	only, err := s.List(t.Context(), Query{To: "CAROL@"})
	if err != nil || len(only) != 1 || only[0].ID != first.ID {
		t.Errorf("filtered: %v %v", only, err)
	}
	if _, err := s.Get(t.Context(), 999999); fault.KindOf(err) != fault.NotFound {
		t.Errorf("unknown id: %v", err)
	}
	if err := s.Clear(t.Context()); err != nil {
		t.Fatal(err)
	}
	if all, err := s.List(t.Context(), Query{}); err != nil || len(all) != 0 {
		t.Errorf("after clear: %v %v", all, err)
	}
}

func TestOldMailGoes(t *testing.T) {
	t.Parallel()
	s := startInbox(t)
	if _, err := s.db.SQL.ExecContext(t.Context(),
		`INSERT INTO captured_mails (mail_from, rcpt_to, "from", subject, message_id, size, raw) SELECT 'a@b.c', '[]', '', n::text, '', 0, '' FROM generate_series(1, $1) n`, Keep+50); err != nil {
		t.Fatal(err)
	}
	if err := s.trim(t.Context()); err != nil {
		t.Fatal(err)
	}
	var left, oldest int
	if err := s.db.SQL.QueryRowContext(t.Context(), `SELECT count(*), min(subject::int) FROM captured_mails`).Scan(&left, &oldest); err != nil {
		t.Fatal(err)
	}
	if left != Keep || oldest != 51 {
		t.Errorf("%d left, the oldest is number %d; want %d and 51", left, oldest, Keep)
	}
}
