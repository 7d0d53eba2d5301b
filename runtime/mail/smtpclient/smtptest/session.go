package smtptest

import (
	"crypto/subtle"
	"errors"
	"io"
	"net"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
)

// session is one EHLO of a connection.
type session struct {
	server *Server
	conn   *smtp.Conn
	number int
	user   string
	mail   Message
}

var _ smtp.AuthSession = (*session)(nil)

func (s *Server) newSession(c *smtp.Conn) (smtp.Session, error) {
	ses := &session{server: s, conn: c, number: numberOf(c.Conn())}
	if err := ses.performAction(EHLO, ""); err != nil {
		return nil, err
	}
	return ses, nil
}

// performAction performs the scripted action; nil is success.
func (s *session) performAction(phase Phase, recipient string) error {
	a, ok := s.server.nextAction(phase, recipient)
	if !ok {
		return nil
	}
	if a.stall {
		s.server.updateStats(func(now *Stats) { now.Stalled++ })
		<-s.server.released
		a.hangUp = true
	}
	reply := &smtp.SMTPError{Code: a.code, EnhancedCode: a.enhanced, Message: a.text}
	if !a.hangUp {
		return reply
	}
	raw := rawConn(s.conn.Conn())
	if a.code != 0 {
		raw.endAfterWrite() // go-smtp writes the reply, then the connection ends
		return reply
	}
	raw.Close()
	return errors.New("hung up")
}

func (s *session) Mail(from string, opts *smtp.MailOptions) error {
	if len(s.server.cfg.Auth) > 0 && s.user == "" {
		return &smtp.SMTPError{Code: 530, EnhancedCode: smtp.EnhancedCode{5, 7, 0}, Message: "Authentication required"}
	}
	_, secure := s.conn.TLSConnectionState()
	remote, _, _ := net.SplitHostPort(s.conn.Conn().RemoteAddr().String())
	s.mail = Message{From: from, SMTPUTF8: opts.UTF8, Helo: s.conn.Hostname(), User: s.user, TLS: secure,
		Remote: remote, Connection: s.number}
	return s.performAction(Mail, "")
}

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	if err := s.performAction(Rcpt, to); err != nil {
		return err
	}
	s.mail.To = append(s.mail.To, to)
	return nil
}

func (s *session) Data(r io.Reader) error {
	recipient := s.mail.To[0]
	if err := s.performAction(Body, recipient); err != nil {
		return err
	}
	if err := s.readData(r); err != nil {
		s.server.updateStats(func(now *Stats) { now.Aborted++ })
		return err
	}
	at := s.server.recordMessage(s.mail)
	s.server.updateStats(func(now *Stats) { now.Messages++ })
	err := s.performAction(Dot, recipient)
	var reply *smtp.SMTPError
	switch {
	case err == nil:
		s.server.recordAnswer(at, 250)
		s.server.updateStats(func(now *Stats) { now.Accepted++ })
	case errors.As(err, &reply):
		s.server.recordAnswer(at, reply.Code)
		if reply.Code == 250 {
			s.server.updateStats(func(now *Stats) { now.Accepted++ })
		}
	}
	return err
}

func (s *session) readData(r io.Reader) error {
	if s.server.cfg.Discard {
		_, err := io.Copy(io.Discard, r)
		return err
	}
	data, err := io.ReadAll(r)
	s.mail.Data = data
	return err
}

func (s *session) Reset()        {}
func (s *session) Logout() error { return nil }

func (s *session) AuthMechanisms() []string {
	if len(s.server.cfg.Auth) == 0 {
		return nil
	}
	return []string{sasl.Plain}
}

func (s *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if err := s.performAction(Auth, ""); err != nil {
			return err
		}
		want, known := s.server.cfg.Auth[user]
		if !known || subtle.ConstantTimeCompare([]byte(want), []byte(password)) != 1 {
			return smtp.ErrAuthFailed
		}
		s.user = user
		return nil
	}), nil
}
