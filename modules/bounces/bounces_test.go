package bounces

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/deliveryreport"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/origins"
	"github.com/postrider/postrider/modules/accounts/origins/originstest"
	"github.com/postrider/postrider/modules/sending/records"
	"github.com/postrider/postrider/runtime/base/intake"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/mail/returnpath"
	"github.com/postrider/postrider/runtime/mail/smtpserver"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
)

const (
	account = "acc_01kf0m4w7he6x8q2v5b3n9c1ta"
	other   = "acc_01kf0m4w7he6x8q2v5b3n9c1tb"
	about   = "msg_01kf0m4w7he6x8q2v5b3n9c1ta"
	bob     = "bob@example.net"
)

// mailroom simulates the sending module: it has one recipient, which can bounce once.
type mailroom struct {
	mu        sync.Mutex
	away      error
	bounced   bool
	bounces   []records.LateBounce
	announced int
	gone      bool
	number    int64 // of the recipient
	others    int   // recipients of the email
}

func (m *mailroom) Addressee(_ context.Context, emailID string, number int64) (records.Addressee, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return records.Addressee{AccountID: account, Address: bob}, !m.gone && emailID == about && number == m.number, m.away
}

func (m *mailroom) RecipientAt(_ context.Context, accountID, emailID, address string) (int64, bool, error) {
	return m.number, accountID == account && emailID == about && address == bob, nil
}

func (m *mailroom) OwnerOf(_ context.Context, emailID string) (records.EmailOwner, bool, error) {
	owner := records.EmailOwner{AccountID: account}
	if m.others == 0 {
		owner.OnlyRecipient = m.number
	}
	return owner, emailID == about, m.away
}

func (m *mailroom) LockAddressee(ctx context.Context, tx db.Execer, emailID string,
	number int64) (records.Addressee, bool, error) {
	if _, err := tx.ExecContext(ctx, `SELECT pg_advisory_xact_lock(1)`); err != nil { // like the row lock does
		return records.Addressee{}, false, err
	}
	return m.Addressee(ctx, emailID, number)
}

func (m *mailroom) BounceLate(_ context.Context, _ db.Execer, b records.LateBounce) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.bounces = append(m.bounces, b)
	changed := !m.bounced
	m.bounced = true
	return changed, nil
}

func (m *mailroom) Announce(_ context.Context, _ db.Execer, n ...records.Notice) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.announced += len(n)
	return len(n), nil
}

// home is where the account is.
type home struct{ at accounts.Residence }

func (h *home) Account(context.Context, string) (accounts.Account, error) {
	return accounts.Account{Residence: h.at}, nil
}

type nobody struct{}

func (nobody) Wake() {}

type world struct {
	*Service

	db   *db.DB
	mail *mailroom
	home *home
	side *originstest.Installation
	mark Mark
	path string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	return newWorldWith(t, 7)
}

// newWorldWith starts an installation with a new master key, in which the recipient has a number.
func newWorldWith(t *testing.T, number int64) *world {
	t.Helper()
	w := &world{db: dbtest.New(t), mail: &mailroom{number: number}, home: &home{},
		mark: Mark{EmailID: about, RecipientID: number}}
	box, err := secret.NewBox(secret.NewKey())
	if err != nil {
		t.Fatal(err)
	}
	w.side = originstest.New(t, w.db, box)
	paths, err := returnpath.New(box.Derive("return path"))
	if err != nil {
		t.Fatal(err)
	}
	if w.path, err = paths.Address(w.mark, "dev.test", time.Now()); err != nil {
		t.Fatal(err)
	}
	held, err := intake.New(intake.Config{Dir: t.TempDir(), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	if w.Service, err = New(Params{DB: w.db, Mail: w.mail, Bus: nobody{}, ReturnPaths: paths, Budget: held,
		Accounts: w.home, Origins: w.side.Origins, Logger: slog.New(slog.DiscardHandler)}); err != nil {
		t.Fatal(err)
	}
	w.side.Witnesses[origins.ReturnPath] = w.Confirm
	dbtest.Exec(t, w.db, `INSERT INTO emails (id, account_id, domain_id, "from", from_address, "to", subject, message_id, status, last_event)
		VALUES ($1, $2, 'dom_01kf0m4w7he6x8q2v5b3n9c1ta', 'a@dev.test', 'a@dev.test', jsonb_build_array($3::text), 's', 'x@dev.test', 'delivered', 'email.delivered')`,
		about, account, bob)
	return w
}

func (w *world) reports(t *testing.T) []*ent.DeliveryReport {
	t.Helper()
	rows, err := w.db.Ent.DeliveryReport.Query().Order(deliveryreport.ByID()).All(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func dsnOf(n int) string {
	return fmt.Sprintf("Return-Path: <>\r\nFrom: MAILER-DAEMON@x.example\r\nSubject: Undelivered %d\r\nContent-Type: multipart/report; report-type=delivery-status; boundary=b\r\n\r\n"+
		"--b\r\nContent-Type: message/delivery-status\r\n\r\nReporting-MTA: dns; x.example\r\n\r\nFinal-Recipient: rfc822; bob@example.net\r\nAction: failed\r\nStatus: 5.1.1\r\n"+
		"Diagnostic-Code: smtp; 550 <bob@example.net> unknown\r\n\r\n--b--\r\n", n)
}

func (w *world) receive(t *testing.T, message string) error {
	t.Helper()
	return w.Receive(t.Context(), w.mark, netip.MustParseAddr("192.0.2.1"), strings.NewReader(message))
}

// Many concurrent copies of one report and several reports about one recipient are each recorded once, and
// only one has an effect.
func TestReportsHaveOneEffect(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var group sync.WaitGroup
	for i := range 24 {
		group.Go(func() {
			if err := w.receive(t, dsnOf(i%3)); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	rows := w.reports(t)
	effective := 0
	for _, r := range rows {
		if r.Effective {
			effective++
		}
		if r.Kind != deliveryreport.KindBounce || r.RecipientID != 7 || r.EmailID != about || r.AccountID != account ||
			r.Status != "5.1.1" ||
			r.Class != "bad_address" || r.Reporter != "x.example" || r.RemoteAddr != "192.0.2.1" ||
			strings.Contains(r.Diagnostic, "@") {
			t.Errorf("the row is %+v", r)
		}
	}
	if len(rows) != 3 || effective != 1 || len(w.mail.bounces) != 3 {
		t.Errorf("got %d rows, %d effective ones and %d calls", len(rows), effective, len(w.mail.bounces))
	}
	if b := w.mail.bounces[0]; b.EmailID != about || b.RecipientID != 7 || !b.Permanent || b.Code != 550 ||
		b.Diagnostic != "550 <bob@example.net> unknown" {
		t.Errorf("the bounce is %+v", b)
	}
}

// A report that was not received completely is not stored.
func TestTruncatedReportIsNotStored(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cut := errors.New("cut")
	for _, whole := range []string{dsnOf(1), dsnOf(1) + strings.Repeat("x", maxRead)} {
		err := w.Receive(t.Context(), w.mark, netip.Addr{}, &cutReader{strings.NewReader(whole), cut})
		if !errors.Is(err, cut) {
			t.Errorf("a truncated report returned %v", err)
		}
	}
	if rows := w.reports(t); len(rows) != 0 || len(w.mail.bounces) != 0 {
		t.Errorf("got %d rows and %d bounces", len(rows), len(w.mail.bounces))
	}
	if err := w.receive(t, dsnOf(1)+strings.Repeat("x", 3*maxRead)); err != nil || len(w.reports(t)) != 1 {
		t.Errorf("a large report returned %v", err)
	}
}

type cutReader struct {
	r   *strings.Reader
	err error
}

func (c *cutReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	if err != nil {
		err = c.err
	}
	return n, err
}

// talk runs a session of the listener.
func (w *world) talk(t *testing.T, to string, data string) (rcpt, stored error) {
	t.Helper()
	s, err := w.ListenerHandler().NewSession(t.Context(), smtpserver.Peer{Remote: netip.MustParseAddr("192.0.2.1")})
	if err != nil {
		t.Fatal(err)
	}
	defer s.End()
	if err := s.Mail(t.Context(), smtpserver.Path{}, smtpserver.MailOptions{}); err != nil {
		t.Fatal(err)
	}
	local, domain, _ := strings.Cut(to, "@")
	if err := s.Rcpt(t.Context(), smtpserver.Path{Local: local, Domain: domain}); err != nil {
		return err, nil
	}
	return nil, s.Data(t.Context(), strings.NewReader(data))
}

// The error is not a Reply, so the listener replies 451 4.3.0, and the report is sent again.
func TestUnavailableDatabaseDefersReports(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var reply *smtpserver.Reply
	w.mail.away = errors.New("connection refused")
	if rcpt, _ := w.talk(t, w.path, ""); rcpt == nil || errors.As(rcpt, &reply) {
		t.Errorf("RCPT returned %v", rcpt)
	}
	err := w.receive(t, dsnOf(1))
	if err == nil || errors.As(rejectionReply(err), &reply) || len(w.reports(t)) != 0 {
		t.Errorf("DATA returned %v", err)
	}
	w.mail.away = nil
	if rcpt, stored := w.talk(t, w.path, dsnOf(1)); rcpt != nil || stored != nil || len(w.reports(t)) != 1 {
		t.Errorf("once the database is available again, the session returned %v %v", rcpt, stored)
	}
}

// The email may be deleted between RCPT and the end of the message.
func TestReportForDeletedEmailIsRejected(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.mail.gone = true
	var reply *smtpserver.Reply
	if err := rejectionReply(w.receive(t, dsnOf(1))); !errors.As(err, &reply) || reply.Code != 550 {
		t.Errorf("the report returned %v", err)
	}
}

func TestReportsAreDeletedWithTheirEmail(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if err := w.receive(t, dsnOf(1)); err != nil {
		t.Fatal(err)
	}
	dbtest.Exec(t, w.db, `DELETE FROM emails WHERE id = $1`, about)
	if rows := w.reports(t); len(rows) != 0 {
		t.Errorf("%d rows remain", len(rows))
	}
}
