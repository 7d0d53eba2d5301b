package journeys_test

import (
	"bufio"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/test/harness"
)

// submitter is a client of the relay that writes bytes and reads lines, so that a test can send anything.
type submitter struct {
	net.Conn

	t     *testing.T
	r     *bufio.Reader
	asked int
}

func wrap(t *testing.T, c net.Conn) *submitter {
	t.Helper()
	if err := c.SetDeadline(time.Now().Add(5 * expect.Patience)); err != nil {
		t.Fatal(err)
	}
	return &submitter{Conn: c, t: t, r: bufio.NewReader(c)}
}

// dialRelay connects over TLS from the first byte.
func dialRelay(t *testing.T, app *harness.App) *submitter {
	t.Helper()
	// the app's self-signed certificate
	c, err := (&tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}}).
		DialContext(t.Context(), "tcp", app.Relay.TLSAddr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	s := wrap(t, c)
	s.expect("220 ")
	s.say("EHLO client.test\r\n")
	s.expect("250 ")
	return s
}

// dialClear connects to the STARTTLS port without starting TLS.
func dialClear(t *testing.T, app *harness.App) *submitter {
	t.Helper()
	c, err := new(net.Dialer).DialContext(t.Context(), "tcp", app.Relay.Addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	s := wrap(t, c)
	s.expect("220 ")
	s.say("EHLO client.test\r\n")
	s.expect("250 ")
	return s
}

// signIn is like dialRelay, but signs in with the development credential.
func signIn(t *testing.T, app *harness.App) *submitter {
	t.Helper()
	s := dialRelay(t, app)
	s.auth(app.Relay.Username, app.Relay.Password)
	s.expect("235 ")
	return s
}

func authPlain(username, password string) string {
	return encodeBase64("\x00" + username + "\x00" + password)
}

func encodeBase64(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

// needsReconnect reports, after a number of calls, that a new connection is needed: the relay counts the rejections
// of a connection.
func (s *submitter) needsReconnect(after int) bool {
	s.asked++
	if s.asked%after == 0 {
		_ = s.Close()
		return true
	}
	return false
}

func (s *submitter) auth(username, password string) {
	s.t.Helper()
	s.say("AUTH PLAIN %s\r\n", authPlain(username, password))
}

func (s *submitter) say(format string, args ...any) {
	s.t.Helper()
	if len(args) > 0 {
		format = fmt.Sprintf(format, args...)
	}
	if _, err := s.Write([]byte(format)); err != nil {
		s.t.Fatal(err)
	}
}

// answer reads one reply, with all its lines.
func (s *submitter) answer() string {
	s.t.Helper()
	var all strings.Builder
	for {
		line, err := s.r.ReadString('\n')
		if err != nil {
			s.t.Fatalf("after %q: %v", all.String(), err)
		}
		all.WriteString(line)
		if len(line) < 4 || line[3] != '-' {
			return strings.TrimRight(all.String(), "\r\n")
		}
	}
}

func (s *submitter) expect(prefix string) string {
	s.t.Helper()
	got := s.answer()
	if last := got[strings.LastIndexByte(got, '\n')+1:]; !strings.HasPrefix(last, prefix) {
		s.t.Fatalf("got the reply %q, want %q", got, prefix)
	}
	return got
}

// submit runs a transaction and returns the last reply: of the first rejection, or of the final dot. The
// lines of the message end with LF; submit does the dot stuffing.
func (s *submitter) submit(from string, to []string, message string) string {
	s.t.Helper()
	s.say("MAIL FROM:<%s>\r\n", from)
	if got := s.answer(); !strings.HasPrefix(got, "250 ") {
		return got
	}
	for _, one := range to {
		s.say("RCPT TO:<%s>\r\n", one)
		if got := s.answer(); !strings.HasPrefix(got, "250 ") {
			s.say("RSET\r\n")
			s.expect("250 ")
			return got
		}
	}
	s.say("DATA\r\n")
	if got := s.answer(); !strings.HasPrefix(got, "354 ") {
		return got
	}
	s.say(strings.ReplaceAll(strings.ReplaceAll("\n"+message, "\n.", "\n.."), "\n", "\r\n")[2:] + ".\r\n")
	return s.answer()
}

// mustRelay submits a message that must be accepted and returns the email's ID.
func (s *submitter) mustRelay(from string, to []string, message string) string {
	s.t.Helper()
	got := s.submit(from, to, message)
	id, found := strings.CutPrefix(got, "250 2.0.0 OK ")
	if !found || !strings.HasPrefix(id, "msg_") {
		s.t.Fatalf("answered %q", got)
	}
	return id
}

// newCredential creates a credential over REST.
func newCredential(t *testing.T, app *harness.App, body map[string]any) (id, password string) {
	t.Helper()
	var made struct {
		SMTPCredential struct{ ID string } `json:"smtp_credential"`
		Password       string
	}
	got := app.Do(t, http.MethodPost, "/api/smtp-credentials", body)
	got.JSON(t, &made)
	if got.Status != http.StatusOK || !strings.HasPrefix(made.Password, "svs_") {
		t.Fatalf("creating a credential got status %d and %s, want 200 and a password", got.Status, got.Body)
	}
	return made.SMTPCredential.ID, made.Password
}
