package journeys_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/runtime/mail/smtpclient/smtptest"
	"github.com/postrider/postrider/runtime/test/harness"
)

// Problems between two mail servers, one file each: scenario_<problem>_test.go. Each states what the sender
// sees (states, attempts, events) and what the receiving side received. The cases of a file share one
// Postrider; each has its own domain, and its own receiving server if that is scripted.

// scenario is a running Postrider and its receiving servers.
type scenario struct {
	*harness.App

	db     *sql.DB
	sorted bool // stories list attempts and events in alphabetical order
}

func newScenario(t *testing.T) *scenario {
	t.Helper()
	return scenarioOf(t, harness.Start(t, nil))
}

// scenarioOf returns a scenario for a running Postrider.
func scenarioOf(t *testing.T, app *harness.App) *scenario {
	t.Helper()
	s := &scenario{App: app}
	handle, err := sql.Open("postgres", s.DatabaseURL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := handle.Close(); err != nil {
			t.Error(err)
		}
	})
	s.db = handle
	return s
}

// startServer runs a receiving server at 127.0.0.n; all listen on the one port that this Postrider connects to.
func (s *scenario) startServer(t *testing.T, n int, c smtptest.Config) *smtptest.Server {
	t.Helper()
	c.Addr = s.serverAddr(n)
	return smtptest.New(t, c)
}

func (s *scenario) serverAddr(n int) string { return fmt.Sprintf("127.0.0.%d:%d", n, s.MX.Port()) }

// mailHosts makes the servers at 127.0.0.n the mail hosts of a domain, most preferred first.
func (s *scenario) mailHosts(t *testing.T, domain string, at ...int) {
	t.Helper()
	for i, n := range at {
		host := fmt.Sprintf("mx%d.%s.", i+1, domain)
		s.DNS.Add(t, fmt.Sprintf("%s. 60 IN MX %d %s", domain, 10*(i+1), host),
			fmt.Sprintf("%s 60 IN A 127.0.0.%d", host, n))
	}
}

// sendMessage sends to the given addresses and returns the email's id; extra is more JSON fields, for example
// `"expires_at":"…"`.
func (s *scenario) sendMessage(t *testing.T, to []string, extra ...string) string {
	t.Helper()
	list, err := json.Marshal(to)
	if err != nil {
		t.Fatal(err)
	}
	fields := append([]string{`"from":"ada@dev.test"`, `"subject":"Hello"`, `"text":"Hello"`, `"to":` + string(list)},
		extra...)
	return send(t, s.App, "{"+strings.Join(fields, ",")+"}")
}

// exec changes rows: time passes by moving timestamps, because the database clock counts.
func (s *scenario) exec(t *testing.T, query string, args ...any) {
	t.Helper()
	if _, err := s.db.ExecContext(t.Context(), query, args...); err != nil {
		t.Fatal(err)
	}
}

// passTime lets time pass for a waiting email: it becomes older by d, and due.
func (s *scenario) passTime(t *testing.T, emailID string, d time.Duration) {
	t.Helper()
	s.exec(t, `UPDATE recipients SET due_at = now(), queued_at = queued_at - $2 * interval '1 microsecond', created_at = created_at - $2 * interval '1 microsecond',
		delay_notified_at = delay_notified_at - $2 * interval '1 microsecond' WHERE email_id = $1 AND due_at IS NOT NULL`, emailID, d.Microseconds())
	s.exec(t, `SELECT pg_notify('postrider', 'test:delivery')`) // otherwise it is noticed a second later
}

// story is what the sender can read about an email.
type story struct {
	Status     string
	Recipients []string // "deferred 451 4.7.1", in the order of the request
	Attempts   []string // "deferred rcpt 451 4.7.1 mx1", oldest first; with several recipients after the local part
	Events     []string // "email.bounced permanent"
	Suppressed bool     // a recipient is on the suppression list now
}

// readStory reads the story, and the text of the last attempt.
func (s *scenario) readStory(t *testing.T, id string) (got story, said string) {
	t.Helper()
	var data struct {
		Email struct {
			Status     string
			Recipients []struct {
				Address, State string
				Code           int
				EnhancedCode   string
			}
			Attempts []struct {
				Recipient, Outcome, Phase, EnhancedCode, RemoteHost, Reply string
				Code                                                       int
			}
			Timeline []struct {
				Type string
				Data struct {
					Bounce  *struct{ Type string }
					Failure *struct{ Code string }
				}
			}
		}
	}
	s.Query(t, `{ email(id: "`+id+`") { status recipients { address state code enhancedCode }
		attempts { recipient outcome phase code enhancedCode remoteHost reply } timeline { type data } } }`, &data)
	e := data.Email
	got.Status = strings.ToLower(e.Status)
	for _, r := range e.Recipients {
		got.Recipients = append(got.Recipients, joinWords(r.State, number(r.Code), r.EnhancedCode))
		got.Suppressed = got.Suppressed || s.Do(t, http.MethodGet, "/api/suppressions/"+r.Address, nil).
			Status == http.StatusOK
	}
	for _, a := range e.Attempts {
		local, _, _ := strings.Cut(a.Recipient, "@")
		if len(e.Recipients) == 1 {
			local = ""
		}
		host, _, _ := strings.Cut(a.RemoteHost, ".")
		got.Attempts = append(got.Attempts, joinWords(local, a.Outcome, a.Phase, number(a.Code), a.EnhancedCode, host))
		said = a.Reply
	}
	for _, f := range e.Timeline {
		detail := ""
		switch {
		case f.Data.Bounce != nil:
			detail = f.Data.Bounce.Type
		case f.Data.Failure != nil:
			detail = f.Data.Failure.Code
		}
		got.Events = append(got.Events, joinWords(f.Type, detail))
	}
	return got, said
}

func number(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// joinWords joins the nonempty texts, in lower case.
func joinWords(list ...string) string {
	return strings.ToLower(strings.Join(strings.Fields(strings.Join(list, " ")), " "))
}

// expect waits until the story is the wanted one, and returns the text of the last attempt. The test fails
// with the actual story.
func (s *scenario) expect(t *testing.T, id string, want story) (said string) {
	t.Helper()
	diff := ""
	defer func() {
		if diff != "" {
			t.Logf("the story of %s, last text %q (-want +got):\n%s", id, said, diff)
		}
	}()
	harness.Eventually(t, "the story", func() bool {
		var got story
		got, said = s.readStory(t, id)
		if s.sorted {
			slices.Sort(got.Attempts)
			slices.Sort(got.Events)
		}
		diff = cmp.Diff(want, got)
		return diff == ""
	})
	return said
}

// messageID returns the header field of a received message, or "" if it has none.
func messageID(raw []byte) string {
	_, after, _ := strings.Cut(string(raw), "\r\nMessage-ID: ")
	id, _, _ := strings.Cut(after, "\r\n")
	return id
}

// The stories that most scenarios begin or end with.
func deliveredStory(attempts ...string) story {
	return story{Status: "delivered", Recipients: []string{"delivered 250 2.0.0"}, Attempts: attempts,
		Events: []string{"email.sent", "email.delivered"}}
}

func arrivedLate(attempts ...string) story {
	return story{Status: "delivered", Recipients: []string{"delivered 250 2.0.0"}, Attempts: attempts,
		Events: []string{"email.sent", "email.delivery_delayed", "email.delivered"}}
}

func deferredStory(recipient string, attempts ...string) story {
	return story{Status: "sent", Recipients: []string{joinWords("deferred", recipient)}, Attempts: attempts,
		Events: []string{"email.sent", "email.delivery_delayed"}}
}

func bouncedStory(recipient string, suppressed bool, attempts ...string) story {
	return story{Status: "bounced", Recipients: []string{joinWords("bounced", recipient)}, Attempts: attempts,
		Events: []string{"email.sent", "email.bounced permanent"}, Suppressed: suppressed}
}

// refusedFor is the story of a message that was rejected because of its content or sender.
func refusedFor(class, recipient string, attempts ...string) story {
	told := failedStory(class, false, attempts...)
	told.Recipients = []string{joinWords("failed", recipient)}
	return told
}

func failedStory(code string, suppressed bool, attempts ...string) story {
	return story{Status: "failed", Recipients: []string{"failed"}, Attempts: attempts,
		Events: []string{"email.sent", "email.failed " + code}, Suppressed: suppressed}
}
