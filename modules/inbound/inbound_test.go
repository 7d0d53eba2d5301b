package inbound

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/ent/receivedemail"
	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/domains"
	"github.com/postrider/postrider/modules/inbound/addressrules"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/intake"
	"github.com/postrider/postrider/runtime/mail/authn"
	"github.com/postrider/postrider/runtime/mail/rspamd"
	"github.com/postrider/postrider/runtime/mail/smtpserver"
	"github.com/postrider/postrider/runtime/storage/page"
)

func TestRejectsRecipients(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if _, err := w.PutRules(t.Context(), bob, domainOf(bob),
		addressrules.Rules{Rules: []shape.AddressRule{{Match: "support*", Action: addressrules.Accept}}}); err != nil {
		t.Fatal(err)
	}
	for to, want := range map[string]string{"x@nobody.example": "550 5.1.2", "x@[192.0.2.7]": "550 5.1.2",
		"x@sub.ada.example": "550 5.1.2", "sales@bob.example": "550 5.1.1", "root@mx.test": "550 5.1.2",
		"postmaster@other.example": "550 5.1.2"} {
		if err := w.receiveMail(t, hello, to); smtpReply(err) != want {
			t.Errorf("%s: %v, want %s", to, err, want)
		}
	}
	for _, to := range []string{"anybody@ada.example", "Support+x@BOB.example", "PostMaster@bob.example",
		"postmaster@mx.test", "Postmaster@MX.test"} {
		if err := w.receiveMail(t, hello, to); err != nil {
			t.Errorf("mail to %s returned %v, want it accepted", to, err)
		}
	}
	w.reg.suspended = true
	if err := w.receiveMail(t, hello, "x@ada.example"); smtpReply(err) != "450 4.2.1" {
		t.Errorf("mail to a suspended account returned %v", err)
	}
	w.reg.away = errors.New("connection refused")
	if err := w.receiveMail(t, hello, "x@ada.example"); err == nil || smtpReply(err) != "later" {
		t.Errorf("mail while the database is unavailable returned %v", err)
	}
}

func TestStoresMessage(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(p *Params) {
		p.Spam = filter{verdict: rspamd.Verdict{Status: rspamd.Spam, Score: 15.5, HasScore: true}}
	})
	w.mustReceive(t, hello, "support@ada.example", "SUPPORT@ada.example", "support@ada.example")
	found := w.listRecords(t, ada)
	if len(found) != 2 || found[0].ContentID != found[1].ContentID {
		t.Fatalf("%d records: %v", len(found), found)
	}
	e := found[1]
	if e.RcptTo != "support@ada.example" || e.MailFrom != "eve@example.net" || e.From != "Eve <eve@example.net>" ||
		e.FromAddress != "eve@example.net" || e.Subject != "Hello" ||
		e.MessageID != "1@example.net" || e.InReplyTo != nil || e.Size != int64(len(hello)) ||
		e.RemoteIP != "192.0.2.1" || e.Helo != "eve.example" || e.TLS != "" ||
		e.SpamStatus != receivedemail.SpamStatusSpam || e.SpamScore == nil || *e.SpamScore != 15.5 {
		t.Errorf("stored record is %+v, want the envelope, header fields and spam verdict of the message", e)
	}
	// A DMARC policy of reject is recorded, not enforced.
	if e.Authentication.DMARC != "fail" || e.Authentication.DMARCPolicy != "reject" {
		t.Errorf("stored authentication is %+v, want DMARC failed with policy reject", e.Authentication)
	}
	if diff := cmp.Diff(hello, w.readRaw(t, e)); diff != "" {
		t.Errorf("raw message (-sent +stored):\n%s", diff)
	}
	if n := w.count(t, `SELECT count(*) FROM facts WHERE type = 'email.received' AND account_id = $1 AND subject_id = $2`, ada, e.ID); n != 1 {
		t.Errorf("%d facts were published", n)
	}
}

func TestAcceptsMailWithoutSpamFilter(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(p *Params) { p.Spam = filter{err: errors.New("connection refused")} })
	w.mustReceive(t, hello, "support@ada.example")
	if e := w.listRecords(t, ada)[0]; e.SpamStatus != receivedemail.SpamStatusUnknown || e.SpamScore != nil {
		t.Errorf("without the spam filter the stored record is %+v, want status unknown and no score", e)
	}
}

// Two accounts in one transaction each get a record. Deleting one record does not affect the other.
func TestStoresRecordPerAccount(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.mustReceive(t, hello, "support@ada.example", "sales@bob.example", "help@ada.example")
	adas, bobs := w.listRecords(t, ada), w.listRecords(t, bob)
	if len(adas) != 2 || len(bobs) != 1 || w.count(t, `SELECT count(*) FROM received_contents`) != 2 {
		t.Fatalf("Ada and Bob have %d and %d records", len(adas), len(bobs))
	}
	if _, err := w.Get(t.Context(), bob, adas[0].ID); fault.KindOf(err) != fault.NotFound {
		t.Errorf("reading from another account returned %v", err)
	}
	if err := w.Delete(t.Context(), bob, adas[0].ID); fault.KindOf(err) != fault.NotFound {
		t.Errorf("deleting from another account returned %v", err)
	}
	for i, left := range []int{2, 1} {
		if err := w.Delete(t.Context(), ada, adas[i].ID); err != nil {
			t.Fatal(err)
		}
		if n := w.count(t, `SELECT count(*) FROM received_contents`); n != left {
			t.Errorf("after %d deletions there are %d contents, want %d", i+1, n, left)
		}
	}
	if w.readRaw(t, bobs[0]) != hello {
		t.Error("the record of bob has changed")
	}
	if n := w.count(t, `SELECT count(*) FROM facts WHERE account_id = $1`, ada); n != 0 {
		t.Errorf("%d facts of the deleted mail remain", n)
	}
}

func TestLimitsAccountsPerTransaction(t *testing.T) {
	t.Parallel()
	s := &session{reception: newWorld(t).reception}
	for i := range maxAccounts {
		s.to = append(s.to, addressee{receiver: domains.Receiver{AccountID: fmt.Sprint(i)}})
	}
	if err := s.Rcpt(t.Context(), smtpserver.Path{Local: "x", Domain: "ada.example"}); smtpReply(err) != "452 4.5.3" {
		t.Errorf("a recipient in one account over the limit returned %v, want 452 4.5.3", err)
	}
}

func TestRejectsMailLoop(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	received := "Received: from a by b; Sun, 22 Nov 2026 09:30:00 +0000\r\n"
	if err := w.receiveMail(t, strings.Repeat(received, 101)+hello, "x@ada.example"); smtpReply(err) != "554 5.4.6" {
		t.Errorf("a message with 101 Received fields returned %v, want 554 5.4.6", err)
	}
	w.mustReceive(t, strings.Repeat(received, 100)+hello, "x@ada.example")
	if n := len(w.listRecords(t, ada)); n != 1 {
		t.Errorf("%d records are stored", n)
	}
}

// The reply is sent after the commit. If the commit fails, no event is published and no row remains.
func TestRejectsMessageWhenCommitFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if _, err := w.db.SQL.ExecContext(t.Context(),
		`ALTER TABLE received_emails ADD CONSTRAINT never CHECK (subject <> 'Hello') NOT VALID`); err != nil {
		t.Fatal(err)
	}
	if err := w.receiveMail(t, hello, "x@ada.example"); err == nil || smtpReply(err) != "later" {
		t.Errorf("a message whose commit fails returned %v, want a temporary error", err)
	}
	// The failure does not affect concurrent messages.
	var group sync.WaitGroup
	for i := range 20 {
		group.Go(func() {
			err := w.receiveMail(t, strings.Replace(hello, "Hello", []string{"Hello", "Good day"}[i%2], 1),
				"x@ada.example")
			if (err == nil) != (i%2 == 1) {
				t.Errorf("message %d during failing commits returned %v, want only every second one accepted", i, err)
			}
		})
	}
	group.Wait()
	for table, want := range map[string]int{"received_emails": 10, "received_contents": 10, "facts": 10} {
		if n := w.count(t, `SELECT count(*) FROM `+table); n != want {
			t.Errorf("%d rows in %s, want %d", n, table, want)
		}
	}
}

func TestDisconnectedSenderStoresNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	raw, err := w.reception.readMessage(t.Context(), netip.MustParseAddr("192.0.2.1"), strings.NewReader(hello))
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	err = w.reception.receive(ctx, envelope{remote: netip.MustParseAddr("192.0.2.1"),
		to: []addressee{{receiver: domains.Receiver{AccountID: ada, DomainID: domainOf(ada), Domain: "ada.example"},
			address: "x@ada.example"}}}, raw)
	if !errors.Is(err, context.Canceled) || len(w.listRecords(t, ada)) != 0 {
		t.Errorf("a message from a disconnected sender returned %v, want it abandoned and nothing stored", err)
	}
}

// A message is stored byte for byte, whatever it contains.
func TestReceivesMalformedMessages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, message := range map[string]string{
		"empty": "", "no header": "\r\n", "no colon": "nonsense\r\n\r\nx", "octets": "Subject: \xff\xfe\x00\r\nFrom: \x00<\x01@\xff>\r\n\r\n\x00\xff\r\n",
		"long header":  "To: " + strings.Repeat("a@b.example, ", 30_000) + "\r\nSubject: x\r\n\r\nx",
		"long subject": "Subject: " + strings.Repeat("wört ", 100_000) + "\r\n\r\nx", "long word": "Subject: " + strings.Repeat("x", 70_000) + "\r\n\r\nx",
		"long address":      "From: " + strings.Repeat("x", 5000) + "@" + strings.Repeat("y", 5000) + "\r\n\r\nx",
		"endless multipart": "Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n",
		"json":              "Subject: \\u0000 \" \\\r\nMessage-ID: <\\u0000\">\r\nReferences: <a\x01b>\r\n\r\n\\u0000",
		"words":             "Subject: 'a' & !b | (c):*\\\r\n\r\nx' \\ :*",
	} {
		if err := w.receiveMail(t, message, "x@ada.example"); err != nil {
			t.Errorf("%s: got %v, want the message accepted", name, err)
			continue
		}
		if got := w.readRaw(t, w.listRecords(t, ada)[0]); got != message {
			t.Errorf("%s: stored %d bytes of %d", name, len(got), len(message))
		}
	}
}

// largeMessage returns a message of slightly more than n bytes.
func largeMessage(n int) string { return hello + strings.Repeat("0123456789abcd\r\n", n/16) }

// Large messages are stored and read byte for byte, and release their memory and disk space. After an
// interrupted message, nothing remains.
func TestStoresLargeMessagesUnchanged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, n := range []int{70_000, 300_000, 3 << 20} {
		message := largeMessage(n)
		w.mustReceive(t, message, "support@ada.example")
		if got := w.readRaw(t, w.listRecords(t, ada)[0]); got != message {
			t.Errorf("sent %d bytes, read %d different bytes", len(message), len(got))
		}
	}
	cut := errors.New("cut")
	if _, err := w.reception.readMessage(t.Context(), netip.MustParseAddr("192.0.2.1"),
		io.MultiReader(bytes.NewReader(make([]byte, 70<<10)), brokenReader{cut})); !errors.Is(err, cut) {
		t.Errorf("the interrupted message returned %v", err)
	}
}

// While the share of a network is full, large messages from it have to wait. Small messages and other networks
// are accepted.
func TestDefersMailWhenNetworkShareIsFull(t *testing.T) {
	t.Parallel()
	held, err := intake.New(intake.Config{Dir: t.TempDir(), Spool: 4 << 20, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, func(p *Params) { p.Budget = held })
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	blocking := held.NewContent(intake.Terms{Tenant: intake.Tenant{Remote: netip.MustParseAddr("203.0.113.9")},
		MaxSize: 1 << 20, Patience: time.Second})
	defer blocking.Close()
	if err := blocking.Reserve(t.Context(), 1<<20); err != nil {
		t.Fatal(err)
	}
	if _, err := w.reception.readMessage(ctx, netip.MustParseAddr("203.0.113.1"),
		strings.NewReader(largeMessage(70_000))); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a large message from the same network returned %v, want it to wait", err)
	}
	if smtpReply(replyForError(intake.ErrFull)) != "452 4.3.1" ||
		smtpReply(replyForError(intake.ErrCut)) != "452 4.3.1" {
		t.Error("the reply for lack of room is not 452 4.3.1")
	}
	for _, small := range []string{"203.0.113.1", "198.51.100.1"} {
		c, err := w.reception.readMessage(t.Context(), netip.MustParseAddr(small), strings.NewReader(hello))
		if err != nil {
			t.Fatalf("a small message from %s returned %v", small, err)
		}
		c.Close()
	}
	c, err := w.reception.readMessage(t.Context(), netip.MustParseAddr("198.51.100.1"),
		strings.NewReader(largeMessage(70_000)))
	if err != nil {
		t.Fatalf("a large message from another network returned %v", err)
	}
	c.Close()
}

// A large message holds no memory while DNS and the spam filter are queried.
func TestLargeMessageHoldsNoMemoryDuringLookups(t *testing.T) {
	t.Parallel()
	var w *world
	seen := make(chan intake.Usage, 1)
	w = newWorld(t, func(p *Params) {
		p.Verifier = hookedVerifier(func() { seen <- w.contents.budget.Usage() })
	})
	w.mustReceive(t, largeMessage(1<<20), "support@ada.example")
	if got := <-seen; got.Arriving != 0 || got.Working != 0 || got.Spool < 1<<20 {
		t.Errorf("%+v is held during the sender lookup, want only spooled bytes", got)
	}
}

// hookedVerifier is a fake verifier that calls a function during verification.
type hookedVerifier func()

func (f hookedVerifier) Verify(ctx context.Context, c authn.Client, raw io.ReaderAt, size int64) shape.Authentication {
	f()
	return verifier{}.Verify(ctx, c, raw, size)
}

type brokenReader struct{ err error }

func (b brokenReader) Read([]byte) (int, error) { return 0, b.err }

func TestListFilters(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.mustReceive(t, hello, "support@ada.example")
	w.mustReceive(t, strings.NewReplacer("Eve", "Mallory", "eve@", "mallory@", "Hello", "Invoice 42", "A text",
		"Grüße aus Köln").Replace(hello), "sales@ada.example")
	now := time.Now()
	later, before := now.Add(time.Hour), now.Add(-time.Hour)
	for name, c := range map[string]struct {
		filter Filter
		want   string
	}{
		"all": {Filter{}, "sales support"}, "to the recipient": {Filter{To: "SALES@ada.example"}, "sales"},
		"to in To": {Filter{To: "support@ada.example"}, "sales support"},
		"from":     {Filter{From: "mallory@example.net"}, "sales"}, "unknown sender": {Filter{From: "x@example.net"}, ""},
		"domain":                   {Filter{Domain: "ada.example"}, "sales support"},
		"domain id":                {Filter{Domain: domainOf(ada)}, "sales support"},
		"another account's domain": {Filter{Domain: "bob.example"}, ""}, "subject": {Filter{Q: "invo 42"}, "sales"},
		"subject alone": {Filter{Q: "subject:invo subject:42"}, "sales"}, "not in the subject": {Filter{Q: "subject:köln"}, ""},
		"text": {Filter{Q: "köln"}, "sales"}, "since": {Filter{Since: &later}, ""},
		"until": {Filter{Until: &before}, ""}, "between": {Filter{Since: &before, Until: &later, Q: "hello"}, "support"},
	} {
		found, err := w.List(t.Context(), ada, ListQuery{Page: page.Request{Limit: 10}, Filter: c.filter})
		if err != nil {
			t.Errorf("%s: List failed: %v", name, err)
		}
		var got []string
		for _, e := range found.Items {
			local, _, _ := strings.Cut(e.RcptTo, "@")
			got = append(got, local)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v, want %s", name, got, c.want)
		}
		if none, err := w.List(t.Context(), bob,
			ListQuery{Page: page.Request{Limit: 10}, Filter: c.filter}); err != nil || len(none.Items) != 0 {
			t.Errorf("%s: another account sees %v, %v; want nothing", name, none.Items, err)
		}
	}
}

// Retention deletes the content first and the record later. Erasure deletes all mail that contains the address.
func TestPurgeAndEraseReceivedMail(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.mustReceive(t, hello, "support@ada.example")
	w.mustReceive(t, strings.ReplaceAll(hello, "Eve <eve@", "<mallory@"), "sales@ada.example")
	future := time.Now().Add(time.Hour)
	if n, last, err := w.PurgeContents(t.Context(), ada, "", time.Now().Add(-time.Hour), 10); n != 0 || last != "" ||
		err != nil {
		t.Errorf("the purge of recent mail returned %d, %q, %v", n, last, err)
	}
	n, last, err := w.PurgeContents(t.Context(), ada, "", future, 1)
	if n != 1 || last == "" || err != nil {
		t.Errorf("the purge of contents returned %d, %q, %v", n, last, err)
	}
	if n, last, err = w.PurgeContents(t.Context(), ada, last, future, 10); n != 1 || last != "" || err != nil {
		t.Errorf("the purge of records returned %d, %q, %v", n, last, err)
	}
	for _, e := range w.listRecords(t, ada) {
		if _, err := w.Open(t.Context(), e); !errors.Is(err, ErrPurged) {
			t.Errorf("opening a purged message returned %v, want ErrPurged", err)
		}
	}
	// The fixture sends from eve, so both records contain her address.
	if ids, err := w.Erase(t.Context(), bob, "eve@example.net"); len(ids) != 0 || err != nil {
		t.Errorf("erasing from another account returned %v, %v", ids, err)
	}
	if ids, err := w.Erase(t.Context(), ada, "Sales@ADA.example"); len(ids) != 1 || err != nil {
		t.Errorf("erasing Sales@ADA.example returned %v, %v; want one record", ids, err)
	}
	if n, err := w.PurgeRecords(t.Context(), ada, future, 10); n != 1 || err != nil || w.count(t, `SELECT count(*) FROM received_contents`) != 0 {
		t.Errorf("%d records remain, %v", n, err)
	}
}
