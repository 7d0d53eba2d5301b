package inbound

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/domains"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/intake"
	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/mail/authn"
	"github.com/postrider/postrider/runtime/mail/rspamd"
	"github.com/postrider/postrider/runtime/mail/smtpserver"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/storage/page"
	"github.com/postrider/postrider/runtime/work/bus"
)

const (
	ada = "acc_01kf0m4w7he6x8q2v5b3n9c1ta"
	bob = "acc_01kf0m4w7he6x8q2v5b3n9c1tb"
)

// registry is a fake of domains and accounts. ada.example and bob.example receive mail.
type registry struct {
	mu        sync.Mutex
	away      error
	suspended bool
}

func (r *registry) Receiver(_ context.Context, rcpt address.Address) (domains.Receiver, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	owner := map[string]string{"ada.example": ada, "bob.example": bob}[rcpt.Domain]
	if r.away != nil {
		return domains.Receiver{}, r.away
	}
	if owner == "" {
		return domains.Receiver{}, fault.NoSuch("receiving domain", rcpt.Domain)
	}
	return domains.Receiver{AccountID: owner, DomainID: domainOf(owner), Domain: rcpt.Domain}, nil
}

// Postmaster returns bob.
func (r *registry) Postmaster(ctx context.Context, _ string) (domains.Receiver, error) {
	return r.Receiver(ctx, address.Address{Local: "postmaster", Domain: "bob.example"})
}

func domainOf(account string) string { return "dom_" + strings.TrimPrefix(account, "acc_") }

func (r *registry) Get(_ context.Context, account, id string) (*ent.Domain, error) {
	if id != domainOf(account) {
		return nil, fault.NoSuch("domain", id)
	}
	return &ent.Domain{ID: id}, nil
}

func (r *registry) Account(context.Context, string) (accounts.Account, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return accounts.Account{Suspended: r.suspended}, nil
}

type verifier struct{}

func (verifier) Verify(context.Context, authn.Client, io.ReaderAt, int64) shape.Authentication {
	return shape.Authentication{SPF: "fail", DKIM: "none", DMARC: "fail", IPRev: "temperror", DMARCPolicy: "reject"}
}

// filter is a fake spam filter with a fixed verdict.
type filter struct {
	verdict rspamd.Verdict
	err     error
}

func (f filter) Check(context.Context, rspamd.Envelope, io.ReaderAt, int64) (rspamd.Verdict, error) {
	return f.verdict, f.err
}

type world struct {
	*Service

	reg *registry
}

func newWorld(t *testing.T, change ...func(*Params)) *world {
	t.Helper()
	d := dbtest.New(t)
	w := &world{reg: &registry{}}
	held, err := intake.New(intake.Config{Dir: t.TempDir(), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	p := Params{Config: Config{Hostname: "mx.test"}, DB: d, Domains: w.reg, Accounts: w.reg, Verifier: verifier{},
		Bus: bus.New(d, slog.New(slog.DiscardHandler), bus.Options{}), Budget: held,
		Pages: page.NewCodec([]byte("0123456789abcdef")), Logger: slog.New(slog.NewTextHandler(t.Output(), nil)),
		Workers: worker.NewMetrics(nil)}
	for _, c := range change {
		c(&p)
	}
	if w.Service, err = New(p); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Stop(context.Background()); err != nil {
			t.Error(err)
		}
		if got := w.contents.budget.Usage(); got != (intake.Usage{}) {
			t.Errorf("after the test, %+v is still held; want nothing", got)
		}
	})
	return w
}

// receiveMail delivers a message over a session. It returns the error of the first rejected recipient or of the
// message.
func (w *world) receiveMail(t *testing.T, message string, to ...string) error {
	t.Helper()
	s, err := w.SMTPHandler().NewSession(t.Context(), smtpserver.Peer{Remote: netip.MustParseAddr("192.0.2.1")})
	if err != nil {
		t.Fatal(err)
	}
	own := s.(*session)
	own.from = smtpserver.Path{Local: "eve", Domain: "example.net"}
	for _, rcpt := range to {
		local, domain, _ := strings.Cut(rcpt, "@")
		if err := s.Rcpt(t.Context(), smtpserver.Path{Local: local, Domain: domain}); err != nil {
			return err
		}
	}
	raw, err := w.reception.readMessage(t.Context(), netip.MustParseAddr("192.0.2.1"), strings.NewReader(message))
	if err != nil {
		return err
	}
	defer raw.Close()
	return w.reception.receive(t.Context(), envelope{remote: netip.MustParseAddr("192.0.2.1"), hello: "eve.example",
		from: own.from.String(), to: own.to}, raw)
}

func (w *world) mustReceive(t *testing.T, message string, to ...string) {
	t.Helper()
	if err := w.receiveMail(t, message, to...); err != nil {
		t.Fatal(err)
	}
}

func (w *world) listRecords(t *testing.T, account string) []*ent.ReceivedEmail {
	t.Helper()
	found, err := w.List(t.Context(), account, ListQuery{Page: page.Request{Limit: 100}})
	if err != nil {
		t.Fatal(err)
	}
	return found.Items
}

func (w *world) count(t *testing.T, query string, args ...any) (n int) {
	t.Helper()
	if err := w.db.SQL.QueryRowContext(t.Context(), query, args...).Scan(&n); err != nil {
		t.Fatalf("the query %s failed: %v", query, err)
	}
	return n
}

func (w *world) readRaw(t *testing.T, e *ent.ReceivedEmail) string {
	t.Helper()
	c, err := w.Open(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	octets, err := io.ReadAll(c.Reader())
	if err != nil {
		t.Fatal(err)
	}
	return string(octets)
}

func smtpReply(err error) string {
	var r *smtpserver.Reply
	if errors.As(err, &r) {
		return fmt.Sprintf("%d %d.%d.%d", r.Code, r.Enhanced[0], r.Enhanced[1], r.Enhanced[2])
	}
	return "later"
}

const hello = "From: Eve <eve@example.net>\r\nTo: Support <support@ada.example>\r\nSubject: Hello\r\nMessage-ID: <1@example.net>\r\n\r\nA text.\r\n"
