package devinbox

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/emersion/go-smtp"

	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/mail/message"
)

const (
	sinkTimeout  = time.Minute
	storeTimeout = 10 * time.Second
	largeTimeout = 2 * time.Minute // for emails larger than one part
)

// newServer sets no limits on clients, because the port is on loopback, and only this process knows the password.
func newServer(s *Service) *smtp.Server {
	server := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) {
		return &session{inbox: s},
			nil
	}))
	server.AllowInsecureAuth = true
	server.Domain = "inbox.localhost"
	server.MaxMessageBytes = MaxSize + 1 // because the library rejects a message of exactly the limit
	server.MaxLineLength = 64 << 10
	server.EnableSMTPUTF8 = true
	server.ReadTimeout, server.WriteTimeout = sinkTimeout, sinkTimeout
	return server
}

// session is one SMTP connection.
type session struct {
	inbox  *Service
	tenant string // test tenant whose mail the connection delivers; empty for mail of development mode
	from   string
	to     []string
}

var _ smtp.AuthSession = (*session)(nil)

func (s *session) Mail(from string, _ *smtp.MailOptions) error {
	if s.tenant == "" && !s.inbox.stage.Open {
		return smtp.ErrAuthRequired
	}
	s.from, s.to = from, nil
	return nil
}

// scenarioOf returns the scenario of a recipient: at any domain in test mode.
func (s *session) scenarioOf(to string) scenario {
	if s.tenant != "" {
		return scenarioOfLocalPart(to)
	}
	return s.inbox.stage.scenarioOf(to)
}

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	switch s.scenarioOf(to) {
	case scenarioBounce:
		return &smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 1, 1}, Message: "<" + to +
			">: no such mailbox (simulated)"}
	case scenarioDelay:
		if !s.inbox.stage.greylist.admit(s.from, to) {
			return &smtp.SMTPError{Code: 451, EnhancedCode: smtp.EnhancedCode{4, 7, 1}, Message: "<" + to +
				">: greylisted, try again in a minute (simulated)"}
		}
	}
	s.to = append(s.to, to)
	return nil
}

// errStopping is the reply to an email interrupted by a stop.
var errStopping = &smtp.SMTPError{Code: 421, EnhancedCode: smtp.EnhancedCode{4, 3, 2}, Message: "The inbox is stopping"}

func (s *session) Data(r io.Reader) error {
	buffer := make([]byte, partSize)
	head, more, err := readPart(r, buffer)
	if err != nil {
		return err
	}
	said := s.reports(head)
	if slices.ContainsFunc(s.to, func(to string) bool { return s.scenarioOf(to) == scenarioSlow }) {
		select {
		case <-time.After(s.inbox.stage.slowness):
		case <-s.inbox.stage.stopping:
			return errStopping
		}
	}
	if err := s.inbox.capture(newMail(s, head), buffer, more, r); err != nil {
		s.inbox.log.Error("captured mail could not be stored", telemetry.KeyError, err)
		return &smtp.SMTPError{Code: 451, EnhancedCode: smtp.EnhancedCode{4, 3, 0},
			Message: "The inbox cannot store the mail at the moment"}
	}
	if !s.inbox.reports.addReports(said...) {
		s.inbox.log.Warn("too many simulated reports are waiting; further ones are omitted", "reports", len(said))
	}
	return nil
}

// reports returns the reports that the recipients will send later. An email without a return path has none.
func (s *session) reports(head []byte) (list []report) {
	now := time.Now()
	for _, to := range s.to {
		if p := s.scenarioOf(to); s.from != "" && (p == scenarioSoftBounce || p == scenarioComplain) {
			list = append(list, report{part: p, mailFrom: s.from, recipient: to, header: headerOf(head), arrived: now,
				due: now.Add(s.inbox.stage.later)})
		}
	}
	return list
}

func (s *session) Reset()        { s.from, s.to = "", nil }
func (s *session) Logout() error { return nil }

// mail is the row of a message, without its further parts.
type mail struct {
	tenant                   string
	mailFrom                 string
	to                       []string
	from, subject, messageID string
	head                     []byte
}

// newMail parses the header for the list. If the header cannot be parsed, only the columns of the list are empty.
func newMail(s *session, head []byte) mail {
	m := mail{tenant: s.tenant, mailFrom: s.from, to: s.to, head: head}
	if read, err := message.ReadHead(bytes.NewReader(head)); err == nil {
		m.from, m.subject, m.messageID = formatAddresses(read.Authors), read.Subject, read.MessageID
	}
	return m
}

// capture stores one message.
func (s *Service) capture(m mail, buffer []byte, more bool, r io.Reader) error {
	limit := storeTimeout
	if more {
		limit = largeTimeout
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if err := s.insert(ctx, m, buffer, more, r); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	s.waits.stored.notify()
	if s.trimmed.isDue(m.tenant, len(m.head)) {
		return s.trim(ctx, m.tenant)
	}
	return nil
}

// formatAddresses returns addresses for display; the result is never parsed.
func formatAddresses(list []message.Mailbox) string {
	shown := make([]string, 0, len(list))
	for _, m := range list {
		switch {
		case m.Name == "":
			shown = append(shown, m.Address)
		case m.Address == "":
			shown = append(shown, m.Name)
		default:
			shown = append(shown, m.Name+" <"+m.Address+">")
		}
	}
	return strings.Join(shown, ", ")
}
