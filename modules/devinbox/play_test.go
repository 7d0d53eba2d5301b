package devinbox

import (
	"bytes"
	"errors"
	"log/slog"
	"net/smtp"
	"net/textproto"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/mail/bounce"
	"github.com/postrider/postrider/runtime/mail/dsn"
	"github.com/postrider/postrider/runtime/mail/smtpclient/smtptest"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
)

var played = Config{Open: true, Domains: []string{"dev.test", "sandbox.dev.test"}}

func TestScenarioOfRecipient(t *testing.T) {
	t.Parallel()
	for recipient, want := range map[string]scenario{
		"bounce@dev.test":                 scenarioBounce,
		"BOUNCE@Dev.Test":                 scenarioBounce,
		"bounce+1@dev.test":               scenarioBounce,
		"bounce+@dev.test":                scenarioBounce,
		"bounce+a+b@sandbox.dev.test":     scenarioBounce,
		"soft-bounce+x@dev.test":          scenarioSoftBounce,
		"delay@sandbox.dev.test":          scenarioDelay,
		"complain+spam@dev.test":          scenarioComplain,
		"slow@dev.test":                   scenarioSlow,
		"suppress@dev.test":               scenarioAccept, // blocked by the suppression list
		"bob@dev.test":                    scenarioAccept,
		"bounces@dev.test":                scenarioAccept,
		"bounce-1@dev.test":               scenarioAccept,
		"bounce@other.test":               scenarioAccept,
		"bounce@mail.dev.test":            scenarioAccept,
		"bounce@dev.test.example":         scenarioAccept,
		"bounce+token@rp.dev.test":        scenarioAccept,
		`"bounce@x"@dev.test`:             scenarioAccept,
		"bounce":                          scenarioAccept,
		"":                                scenarioAccept,
		"+bounce@dev.test":                scenarioAccept,
		"bounce@dev.test@sandbox.example": scenarioAccept,
	} {
		if got := played.scenarioOf(recipient); got != want {
			t.Errorf("for %s the sink simulates %q, want %q", recipient, got, want)
		}
	}
	if got := (Config{}).scenarioOf("bounce@dev.test"); got != scenarioAccept {
		t.Errorf("without a domain the sink simulates %q, want nothing", got)
	}
	if diff := cmp.Diff([]string{"suppress@dev.test", "suppress@sandbox.dev.test"},
		played.SuppressedAddresses()); diff != "" {
		t.Errorf("the suppressed addresses differ (-want +got):\n%s", diff)
	}
}

func TestGreylistAdmitsSecondAttempt(t *testing.T) {
	t.Parallel()
	var g greylist
	for i, want := range []bool{false, true, false, true} {
		if got := g.admit("a@b.c", "delay@dev.test"); got != want {
			t.Errorf("attempt %d was admitted: %t, want %t", i+1, got, want)
		}
	}
	for i := range maxGreylisted + 10 {
		g.admit("a@b.c", strconv.Itoa(i))
	}
	if len(g.seen) > maxGreylisted || len(g.order) > maxGreylisted {
		t.Errorf("the greylist holds %d envelopes in a list of %d, want at most %d", len(g.seen), len(g.order),
			maxGreylisted)
	}
	if g.admit("a@b.c", "0") {
		t.Error("the greylist still has the oldest envelope")
	}
}

// startPlaying starts an inbox that simulates failures without delay, and the server that receives its
// reports.
func startPlaying(t *testing.T) (*Service, *smtptest.Server) {
	t.Helper()
	s, err := New(Params{Config: played, DB: dbtest.New(t), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	server := smtptest.New(t, smtptest.Config{})
	s.ReportTo(server.Addr())
	s.stage.later, s.stage.slowness = 0, 0
	start(t, s)
	return s, server
}

const returnPath = "bounce+token@rp.dev.test"

// tryTo submits an email and returns the code of the rejection, or 0.
func tryTo(t *testing.T, s *Service, to string) (code int, text string) {
	t.Helper()
	err := smtp.SendMail(s.Addr(), nil, returnPath, []string{to}, []byte(hello))
	if refusal, is := errors.AsType[*textproto.Error](err); is {
		return refusal.Code, refusal.Msg
	}
	if err != nil {
		t.Fatal(err)
	}
	return 0, ""
}

func TestSimulatesRejections(t *testing.T) {
	t.Parallel()
	s, _ := startPlaying(t)
	code, text := tryTo(t, s, "bounce+spam.quota.greylist@dev.test")
	if class := bounce.Classify(bounce.Reply{Code: code, Enhanced: "5.1.1", Text: text}); code != 550 ||
		!strings.HasPrefix(text, "5.1.1 <bounce+") || class != bounce.BadAddress {
		t.Errorf("the reply to bounce@ is %d %s, classified as %s; want 550 5.1.1 for a bad address", code, text, class)
	}
	code, text = tryTo(t, s, "delay+1@dev.test")
	if class := bounce.Classify(bounce.Reply{Code: code, Enhanced: "4.7.1", Text: text}); code != 451 ||
		class != bounce.Greylist {
		t.Errorf("the reply to delay@ is %d %s, classified as %s; want 451 from a greylisting server", code,
			text, class)
	}
	if code, text = tryTo(t, s, "delay+1@dev.test"); code != 0 {
		t.Errorf("the reply to the second attempt to delay@ is %d %s, want it accepted", code, text)
	}
	for _, to := range []string{"slow@dev.test", "suppress@dev.test", "bounce@example.net"} {
		if code, text = tryTo(t, s, to); code != 0 {
			t.Errorf("the reply to %s is %d %s, want it accepted", to, code, text)
		}
	}
	lines, err := s.List(t.Context(), MailQuery{})
	if err != nil || len(lines) != 4 {
		t.Errorf("the inbox has %d mails (%v), want the 4 that were accepted", len(lines), err)
	}
}

// An email to a slow recipient does not delay other mail, and a stop does not wait for it.
func TestStopInterruptsSlowRecipient(t *testing.T) {
	t.Parallel()
	s, err := New(Params{Config: played, DB: dbtest.New(t), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	s.stage.slowness = time.Hour
	start(t, s)
	answered := make(chan error, 1)
	go func() { answered <- smtp.SendMail(s.Addr(), nil, returnPath, []string{"slow@dev.test"}, []byte(hello)) }()
	if code, text := tryTo(t, s, "bob@dev.test"); code != 0 {
		t.Errorf("the reply to a mail sent during a slow one is %d %s, want it accepted", code, text)
	}
	s.stage.stop()
	if err := <-answered; err == nil {
		t.Error("a slow mail that was interrupted by a stop was accepted, want it deferred")
	}
	if lines, err := s.List(t.Context(), MailQuery{To: "slow@"}); err != nil || len(lines) != 0 {
		t.Errorf("a mail that was not accepted is in the inbox: %v %v", lines, err)
	}
}

// reportsAt waits until the server has accepted a number of reports.
func reportsAt(t *testing.T, server *smtptest.Server, n int) []smtptest.Message {
	t.Helper()
	expect.EventuallyWithin(t, time.Minute, strconv.Itoa(n)+" reports were submitted",
		func() bool { return len(server.Messages()) >= n })
	return server.Messages()
}

func parsed(t *testing.T, m smtptest.Message) dsn.Report {
	t.Helper()
	r, err := dsn.Parse(bytes.NewReader(m.Data))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestSimulatesLaterBounce(t *testing.T) {
	t.Parallel()
	s, server := startPlaying(t)
	if code, text := tryTo(t, s, "soft-bounce+1@dev.test"); code != 0 {
		t.Fatalf("the reply to soft-bounce@ is %d %s, want it accepted", code, text)
	}
	m := reportsAt(t, server, 1)[0]
	r := parsed(t, m)
	if m.From != "" || !cmp.Equal(m.To, []string{returnPath}) || r.Kind != dsn.Failed || !r.Structured ||
		len(r.Recipients) != 1 ||
		r.Original.Subject != "Your code: 100% (A_B)" || r.ReportingMTA != "mx.dev.test" {
		t.Fatalf("the report from %q to %v is %+v, want a failure with the null sender to the return path",
			m.From, m.To, r)
	}
	one := r.Recipients[0]
	if class := bounce.Classify(bounce.Reply{Code: one.Code, Enhanced: one.Status,
		Text: one.Diagnostic}); one.Address != "soft-bounce+1@dev.test" || one.Action != dsn.ActionFailed ||
		one.Status != "4.2.2" || one.Code != 452 || class != bounce.MailboxFull {
		t.Errorf("the report contains %+v, classified as %s; want a full mailbox", one, class)
	}
}

func TestSimulatesLaterComplaint(t *testing.T) {
	t.Parallel()
	s, server := startPlaying(t)
	if code, text := tryTo(t, s, "complain+1@sandbox.dev.test"); code != 0 {
		t.Fatalf("the reply to complain@ is %d %s, want it accepted", code, text)
	}
	m := reportsAt(t, server, 1)[0]
	r := parsed(t, m)
	if m.From != "feedback@sandbox.dev.test" || !cmp.Equal(m.To, []string{returnPath}) || r.Kind != dsn.Complaint ||
		r.Feedback.Type != "abuse" ||
		r.Feedback.UserAgent != userAgent || r.Feedback.OriginalMailFrom != returnPath ||
		!cmp.Equal(r.Feedback.OriginalRcptTo, []string{"complain+1@sandbox.dev.test"}) {
		t.Errorf("the report from %q to %v is %+v with %+v, want a complaint to the return path", m.From, m.To, r,
			r.Feedback)
	}
}

func TestDeferredReportIsRetried(t *testing.T) {
	t.Parallel()
	s, server := startPlaying(t)
	server.On(smtptest.Rcpt, returnPath, smtptest.Reply(451, "4.3.0", "Not now"))
	tryTo(t, s, "complain@dev.test")
	reportsAt(t, server, 1)
}

func TestFailedReportsAreLogged(t *testing.T) {
	t.Parallel()
	var log expect.Log
	s, err := New(Params{Config: played, DB: dbtest.New(t), Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	s.stage.later = 0
	server := smtptest.New(t, smtptest.Config{})
	server.Always(smtptest.Rcpt, returnPath, smtptest.Reply(550, "5.1.1", "The message of this return path is over"))
	s.ReportTo(server.Addr())
	start(t, s)
	tryTo(t, s, "complain@dev.test")
	expect.EventuallyWithin(t, time.Minute, "the log contains the failed report", func() bool {
		return strings.Contains(log.String(), "cannot submit a simulated report") &&
			strings.Contains(log.String(), "is over")
	})
	// Without a server, reports cannot be submitted; without a return path, there are none.
	s.ReportTo("")
	deliver(t, s, []string{"complain+2@dev.test"}, hello)
	if err := smtp.SendMail(s.Addr(), nil, "", []string{"complain+3@dev.test"}, []byte(hello)); err != nil {
		t.Error(err)
	}
	expect.EventuallyWithin(t, time.Minute, "the log contains the reason for the missing reports",
		func() bool { return strings.Contains(log.String(), "bounces is disabled") })
	if n := strings.Count(log.String(), "cannot submit a simulated report"); n != 2 {
		t.Errorf("%d reports failed, want 2:\n%s", n, &log)
	}
}

func TestReportQueueIsBounded(t *testing.T) {
	t.Parallel()
	q := newReports()
	now := time.Now()
	for i := range maxReports {
		if !q.addReports(report{due: now.Add(time.Duration(i) * time.Second)}) {
			t.Fatalf("the queue accepted %d reports, want %d", i, maxReports)
		}
	}
	if q.addReports(report{}) {
		t.Errorf("the queue accepted more than %d reports", maxReports)
	}
	if due := q.takeDue(now.Add(9 * time.Second)); len(due) != 10 {
		t.Errorf("after 9 seconds, %d reports are due, want 10", len(due))
	}
	if wait := q.untilNextDue(now); wait != 10*time.Second {
		t.Errorf("the next report is due in %s, want 10s", wait)
	}
}

// The header of an email cannot break the report about it.
func TestReportQuotesHostileHeaders(t *testing.T) {
	t.Parallel()
	for what, head := range map[string]string{
		"no body":   "Subject: s\r\nFrom: a@b.c\r\n",
		"no header": "\r\nbody",
		"nothing":   "",
		"no line":   strings.Repeat("x", 2*maxReturned),
		"much":      strings.Repeat("X-Long: "+strings.Repeat("é", 100)+"\r\n", 2*maxReturned/100) + "\r\nbody",
		"boundary":  "Subject: --=_delivery_status--\r\n\r\n",
	} {
		header := headerOf([]byte(head))
		if len(header) > maxReturned+2 || bytes.Contains(header, []byte("body")) {
			t.Errorf("%s: the report quotes %d bytes, want at most %d and nothing of the body", what, len(header),
				maxReturned)
		}
		for _, p := range []scenario{scenarioSoftBounce, scenarioComplain} {
			raw, err := report{part: p, mailFrom: returnPath, recipient: "bob@dev.test",
				header: header}.compose(time.Now())
			if err != nil {
				t.Errorf("%s: composing the report %s returned %v", what, p, err)
				continue
			}
			if r, err := dsn.Parse(bytes.NewReader(raw)); err != nil || !r.Structured {
				t.Errorf("%s: the report %s was parsed as %+v, %v; want a report", what, p, r, err)
			}
		}
	}
}
