package devinbox

import (
	"context"
	"fmt"
	"log/slog"
	"net/smtp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
)

func startInbox(t *testing.T) *Service {
	t.Helper()
	s, err := New(Params{Config: Config{Open: true}, DB: dbtest.New(t), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	start(t, s)
	return s
}

func start(t *testing.T, s *Service) {
	t.Helper()
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
}

func deliver(t *testing.T, s *Service, to []string, raw string) {
	t.Helper()
	if err := smtp.SendMail(s.Addr(), nil, "bounce@rp.dev.test", to, []byte(raw)); err != nil {
		t.Fatal(err)
	}
}

func TestCapturedMailIsStoredAsReceived(t *testing.T) {
	t.Parallel()
	s := startInbox(t)
	raw := "From: =?utf-8?q?J=C3=B6rg?= <joerg@dev.test>\r\nSubject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\r\nMessage-ID: <x@dev.test>\r\n\r\nHello\r\n.dot\r\n"
	deliver(t, s, []string{"bob@example.net", "carol@example.net"}, raw)
	deliver(t, s, []string{"dave@example.net"}, "no header at all\r\n")

	all, err := s.List(t.Context(), MailQuery{})
	if err != nil || len(all) != 2 {
		t.Fatalf("List returned %v %v", all, err)
	}
	first := all[1]
	if first.From != "Jörg <joerg@dev.test>" || first.Subject != "Grüße" || first.MessageID != "x@dev.test" ||
		first.MailFrom != "bounce@rp.dev.test" || first.Size != len(raw) {
		t.Errorf("the listed mail is %+v", first)
	}
	whole, err := s.Get(t.Context(), first.ID)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(raw, string(whole.Raw)); diff != "" {
		t.Errorf("the message differs (-want +got):\n%s", diff)
	}
	only, err := s.List(t.Context(), MailQuery{To: "CAROL@"})
	if err != nil || len(only) != 1 || only[0].ID != first.ID {
		t.Errorf("List with a filter returned %v %v", only, err)
	}
	if _, err := s.Get(t.Context(), 999999); fault.KindOf(err) != fault.NotFound {
		t.Errorf("Get of an unknown id returned %v", err)
	}
	if err := s.Clear(t.Context()); err != nil {
		t.Fatal(err)
	}
	if all, err := s.List(t.Context(), MailQuery{}); err != nil || len(all) != 0 {
		t.Errorf("after Clear, List returned %v %v", all, err)
	}
}

func TestLargeMailIsStoredInParts(t *testing.T) {
	t.Parallel()
	s := startInbox(t)
	for _, size := range []int{partSize - 1, partSize, partSize + 1, 3*partSize + 17} {
		var b strings.Builder
		b.WriteString("Subject: large\r\n\r\n")
		for b.Len() < size-102 {
			fmt.Fprintf(&b, "%098d\r\n", b.Len()) // distinct lines, so that parts in the wrong order are detected
		}
		raw := b.String() + strings.Repeat("x", size-b.Len()-2) + "\r\n"
		deliver(t, s, []string{"bob@example.net"}, raw)
		all, err := s.List(t.Context(), MailQuery{Limit: 1})
		if err != nil || len(all) != 1 || all[0].Size != size {
			t.Fatalf("List of a mail of %d bytes returned %+v %v", size, all, err)
		}
		whole, err := s.Get(t.Context(), all[0].ID)
		if err != nil {
			t.Fatal(err)
		}
		if string(whole.Raw) != raw {
			t.Errorf("a mail of %d bytes was returned as a different one of %d", size, len(whole.Raw))
		}
	}
	if err := s.Clear(t.Context()); err != nil {
		t.Fatal(err)
	}
	var left int
	if err := s.db.SQL.QueryRowContext(t.Context(), `SELECT count(*) FROM captured_parts`).Scan(&left); err != nil || left != 0 {
		t.Errorf("%d parts of deleted mails remain, %v", left, err)
	}
}

func TestOldMailIsDeleted(t *testing.T) {
	t.Parallel()
	s := startInbox(t)
	if _, err := s.db.SQL.ExecContext(t.Context(),
		`INSERT INTO captured_mails (mail_from, rcpt_to, "from", subject, message_id, size, raw) SELECT 'a@b.c', '[]', '', n::text, '', 0, '' FROM generate_series(1, $1) n`, Keep+50); err != nil {
		t.Fatal(err)
	}
	if err := s.trim(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	var left, oldest int
	if err := s.db.SQL.QueryRowContext(t.Context(), `SELECT count(*), min(subject::int) FROM captured_mails`).Scan(&left, &oldest); err != nil {
		t.Fatal(err)
	}
	if left != Keep || oldest != 51 {
		t.Errorf("got %d mails and the oldest number %d, want %d and 51", left, oldest, Keep)
	}
}
