package client

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"net"
)

// Submitter submits emails on one authenticated SMTP connection. Like a mail server, it pipelines MAIL, RCPT and DATA.
type Submitter struct {
	conn     net.Conn
	replies  *bufio.Reader
	envelope []byte
	message  []byte
	cancel   func() bool
}

// NewSubmitters returns n submitters of the sample email. They stop when the context is done.
func NewSubmitters(ctx context.Context, s Server, n int) (all []*Submitter, err error) {
	for range n {
		submitter, err := newSubmitter(ctx, s)
		if err != nil {
			CloseAll(all)
			return nil, err
		}
		all = append(all, submitter)
	}
	return all, nil
}

func newSubmitter(ctx context.Context, s Server) (*Submitter, error) {
	d := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}} //nolint:gosec // loopback, with a self-signed certificate
	conn, err := d.DialContext(ctx, "tcp", s.Relay.TLSAddr)
	if err != nil {
		return nil, err
	}
	c := &Submitter{conn: conn, replies: bufio.NewReader(conn), message: s.sampleMIME(),
		envelope: []byte("MAIL FROM:<bench@" + s.VerifiedDomain + ">\r\nRCPT TO:<someone@example.net>\r\nDATA\r\n"),
		cancel:   context.AfterFunc(ctx, func() { conn.Close() })}
	secret := base64.StdEncoding.EncodeToString([]byte("\x00" + s.Relay.Username + "\x00" + s.Relay.Password))
	err = c.readReply("220")
	for _, step := range []struct{ command, code string }{{"EHLO bench", "250"}, {"AUTH PLAIN " + secret, "235"}} {
		if err == nil {
			err = c.exchange([]byte(step.command+"\r\n"), step.code)
		}
	}
	if err != nil {
		c.Close()
	}
	return c, err
}

// Post submits one email.
func (c *Submitter) Post() error {
	if err := c.exchange(c.envelope, "250", "250", "354"); err != nil {
		return err
	}
	return c.exchange(c.message, "250")
}

func (c *Submitter) exchange(text []byte, codes ...string) error {
	if _, err := c.conn.Write(text); err != nil {
		return err
	}
	for _, code := range codes {
		if err := c.readReply(code); err != nil {
			return err
		}
	}
	return nil
}

func (c *Submitter) readReply(code string) error {
	for {
		line, err := c.replies.ReadString('\n')
		if err != nil {
			return err
		}
		if len(line) < 4 || line[:3] != code {
			return fmt.Errorf("the server replied %q, want %s", line, code)
		}
		if line[3] != '-' {
			return nil
		}
	}
}

// Close closes the connection.
func (c *Submitter) Close() {
	if c.cancel() {
		c.conn.Close() // the server may have closed it first
	}
}
