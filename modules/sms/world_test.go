package sms

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/sms/callback"
	"github.com/postrider/postrider/modules/sms/handover"
	"github.com/postrider/postrider/modules/sms/link"
	"github.com/postrider/postrider/modules/sms/optout"
	"github.com/postrider/postrider/modules/sms/provider"
	"github.com/postrider/postrider/modules/sms/settings"
	"github.com/postrider/postrider/modules/sms/smstest"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/storage/page"
	"github.com/postrider/postrider/runtime/work/node"
)

// Two accounts, and numbers in two countries.
const (
	ours   = "acc_01kf0m4w7he6x8q2v5b3n9c1ta"
	theirs = "acc_01kf0m4w7he6x8q2v5b3n9c1tb"

	german   = "+4915112345678"
	american = "+12125550123"
)

// world is an installation with real PostgreSQL and a fake Twilio. Messages are sent by Drain, so the test
// controls when.
type world struct {
	*process
	db     *db.DB
	twilio *smstest.Twilio
	caught *fakeInbox
	owner  *customer
	key    secret.Key
	logged *expect.Log
	config handover.Config // for new processes
}

// process is one process of an installation.
type process struct {
	*Service
	*choices
	*callbacks
	link.Links

	numbers *optout.Service
}

type (
	choices   = settings.Service
	callbacks = callback.Service
)

// customer is a fake of the accounts module.
type customer struct {
	mu   sync.Mutex
	said accounts.Account
}

func (o *customer) Account(_ context.Context, accountID string) (accounts.Account, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	account := o.said
	account.ID = accountID
	return account, nil
}

func (o *customer) setAccount(change func(*accounts.Account)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	change(&o.said)
}

// fakeInbox is a fake development inbox.
type fakeInbox struct {
	mu       sync.Mutex
	messages []provider.Message
	away     bool
}

func (c *fakeInbox) Catch(_ context.Context, m provider.Message) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.away {
		return errors.New("away")
	}
	c.messages = append(c.messages, m)
	return nil
}

type nobody struct{}

func (nobody) Wake(string) {}
func (nobody) Subscribe(string) (<-chan struct{}, func()) {
	return make(chan struct{}), func() {}
}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{db: dbtest.New(t), twilio: smstest.NewTwilio(t), caught: &fakeInbox{}, key: secret.NewKey(),
		logged: &expect.Log{},
		owner:  &customer{said: accounts.Account{Plan: accounts.Plan{ID: "pro", Name: "Pro"}}}}
	w.process = w.start(t, settings.Operator{})
	return w
}

// lookUpHost resolves private.example to a private address and fails for any other name.
func lookUpHost(_ context.Context, host string) ([]netip.Addr, error) {
	if host == "private.example" {
		return []netip.Addr{netip.MustParseAddr("10.0.0.1")}, nil
	}
	return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
}

// start starts a process with the operator's provider.
func (w *world) start(t testing.TB, operator settings.Operator, older ...secret.Key) *process {
	t.Helper()
	box, err := secret.NewBox(append([]secret.Key{w.key}, older...)...)
	if err != nil {
		t.Fatal(err)
	}
	log, links := slog.New(slog.NewTextHandler(w.logged, nil)), link.New("https://mail.example.com",
		box.DeriveEach("sms links"))
	chosen, err := settings.New(settings.Params{Config: settings.Config{Operator: operator, PlainLoopback: true,
		Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Lookup: lookUpHost},
		DB: w.db, Box: box, Links: links, Catcher: w.caught})
	if err != nil {
		t.Fatal(err)
	}
	numbers := optout.New(optout.Params{DB: w.db, Box: box, Logger: log})
	s, err := New(Params{Config: w.config, DB: w.db, Accounts: w.owner, Settings: chosen, OptOuts: numbers,
		Links: links, Signals: nobody{}, Node: node.None{}, Cursors: page.NewCodec(make([]byte, 16)), Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(context.Background()); err != nil {
			t.Errorf("stop the module: %v", err)
		}
	})
	return &process{Service: s, choices: chosen,
		callbacks: callback.New(callback.Params{DB: w.db, Settings: chosen, OptOuts: numbers, Links: links,
			Logger: log}), Links: links, numbers: numbers}
}

// useTwilio configures the fake Twilio as an account's provider.
func (w *world) useTwilio(t testing.TB, accountID string) {
	t.Helper()
	w.saveSettings(t, accountID, settings.Change{Provider: "twilio", From: "+15005550006",
		Countries: []string{"US", "DE"},
		Twilio: &settings.TwilioChange{AccountSID: smstest.SID, AuthToken: secret.New(smstest.Token),
			BaseURL: w.twilio.URL}})
}

func (w *world) saveSettings(t testing.TB, accountID string, c settings.Change) {
	t.Helper()
	if _, err := w.SetSettings(t.Context(), accountID, c); err != nil {
		t.Fatalf("set the account's settings: %v", err)
	}
}

// trySend stores a message in its own transaction, which is rolled back on an error.
func (w *world) trySend(t testing.TB, accountID string, m Message) (r Receipt, err error) {
	t.Helper()
	err = w.db.InTx(t.Context(), func(tx *ent.Tx) error {
		r, err = w.Send(t.Context(), tx, accountID, m, nil)
		return err
	})
	return r, err
}

func (w *world) send(t testing.TB, accountID, to string) Receipt {
	t.Helper()
	r, err := w.trySend(t, accountID, Message{To: to, Text: "Invoice 7 is open."})
	if err != nil {
		t.Fatalf("send a text message: %v", err)
	}
	return r
}

func (w *world) drain(t testing.TB) {
	t.Helper()
	if _, err := w.Drain(t.Context()); err != nil {
		t.Errorf("drain: %v", err)
	}
}

func (w *world) exec(t testing.TB, statement string, args ...any) {
	t.Helper()
	if _, err := w.db.SQL.ExecContext(t.Context(), statement, args...); err != nil {
		t.Fatal(err)
	}
}

// makeAllDue makes all queued messages due now and expires all leases.
func (w *world) makeAllDue(t testing.TB) {
	t.Helper()
	w.exec(t, `UPDATE sms_messages SET due_at = now() WHERE due_at IS NOT NULL`)
}

// checkMessage compares the status, error code and attempts of a message with the expected ones.
func (w *world) checkMessage(t testing.TB, accountID, messageID, want string) {
	t.Helper()
	m, err := w.Get(t.Context(), accountID, messageID)
	if err != nil {
		t.Errorf("read a text message: %v", err)
		return
	}
	got := []string{string(m.Status)}
	if m.ErrorCode != "" {
		got = append(got, m.ErrorCode)
	}
	for _, a := range m.Attempts {
		outcome := "open"
		if a.Outcome != nil {
			outcome = string(*a.Outcome)
		}
		got = append(got, outcome)
	}
	if strings.Join(got, " ") != want {
		t.Errorf("text message is %q (%s), want %q", strings.Join(got, " "), m.Error, want)
	}
}

// checkRefusal checks the code of an error.
func checkRefusal(t testing.TB, what string, err error, code string) {
	t.Helper()
	var f *fault.Error
	if !errors.As(err, &f) || f.Code != code {
		t.Errorf("%s: %v, want an error with code %s", what, err, code)
	}
}
