package smtpserver_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-sasl"

	"github.com/postrider/postrider/runtime/mail/smtpserver"
)

func certificate(t testing.TB) *tls.Config {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"mx.test"}, NotAfter: time.Now().
		Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}},
		MinVersion: tls.VersionTLS12}
}

// startTLS continues over TLS, after 220.
func (c *client) startTLS() *client {
	c.t.Helper()
	// the test's own certificate
	over := tls.Client(c.Conn, &tls.Config{ServerName: "mx.test", InsecureSkipVerify: true})
	if err := over.Handshake(); err != nil {
		c.t.Fatal(err)
	}
	return newClient(c.t, over)
}

func TestSTARTTLSResetsTheSession(t *testing.T) {
	t.Parallel()
	k := &keeper{}
	s := start(t, k, func(c *smtpserver.Config) { c.TLS = certificate(t) })
	c := s.dial(t)
	c.expect("220 ")
	c.send("EHLO client.test\r\n")
	if got := c.readReply(); !strings.Contains(got, "250-STARTTLS\r\n") || strings.Contains(got, "AUTH") {
		t.Errorf("in plaintext: %q", got)
	}
	c.send("MAIL FROM:<clear@client.test>\r\nRCPT TO:<clear@mx.test>\r\nSTARTTLS\r\n")
	c.expect("250 ", "250 ", "220 ")
	c = c.startTLS()
	c.send("MAIL FROM:<a@client.test>\r\n")
	c.expect("503 5.5.1 Send EHLO first")
	c.send("EHLO client.test\r\n")
	if got := c.readReply(); strings.Contains(got, "STARTTLS") {
		t.Errorf("over TLS: %q", got)
	}
	c.send("DATA\r\n")
	c.expect("502 ") // the state from before TLS is discarded
	c.startTransaction().send("x\r\n.\r\nQUIT\r\n")
	c.expect("250 ", "221 ")
	c.expectClose()
	if len(k.senders) != 1 || k.senders[0] != "a@client.test" {
		t.Errorf("from %q", k.senders)
	}
}

func TestNoPlaintextSurvivesSTARTTLS(t *testing.T) {
	t.Parallel()
	s := start(t, &keeper{}, func(c *smtpserver.Config) { c.TLS = certificate(t) })
	injected := s.dial(t).sendHello()
	injected.send("STARTTLS\r\nMAIL FROM:<a@client.test>\r\n")
	injected.expect("554 5.5.1")
	injected.expectClose()
	broken := s.dial(t).sendHello()
	broken.send("STARTTLS\r\n")
	broken.expect("220 ")
	broken.send("this is no handshake\r\nMAIL FROM:<a@client.test>\r\n")
	rest, err := io.ReadAll(broken.r)
	if strings.Contains(string(rest), "250") || err != nil && errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("after a failed handshake: %q, %v", rest, err)
	}
}

// A STARTTLS without TLS gets a reply with the reason (RFC 3207, 4).
func TestRejectedSTARTTLSGetsAReason(t *testing.T) {
	t.Parallel()
	with := start(t, &keeper{}, func(c *smtpserver.Config) { c.TLS = certificate(t) })
	c := with.dial(t).sendHello()
	c.send("STARTTLS x\r\n")
	c.expect("501 5.5.4 STARTTLS takes no parameters")
	c.send("starttls\r\n")
	c.expect("220 ")
	c = c.startTLS()
	c.send("EHLO client.test\r\n")
	c.expect("250-mx.test")
	c.send("STARTTLS\r\nSTARTTLS x\r\n")
	c.expect("503 5.5.1 TLS is already active", "503 5.5.1 ")
	c.startTransaction().send("x\r\n.\r\n")
	c.expect("250 ")
	without := start(t, &keeper{}, func(*smtpserver.Config) {}).dial(t).sendHello()
	without.send("STARTTLS\r\n")
	without.expect("502 5.5.1 TLS not supported")
}

// The rules apply inside TLS.
func TestRulesApplyInsideTLS(t *testing.T) {
	t.Parallel()
	k := &keeper{refuse: smtpserver.Refuse(550, "5.1.1", "Nobody")}
	s := start(t, k, func(c *smtpserver.Config) {
		c.TLS, c.ImplicitTLS, c.MaxErrors, c.BodyRead = certificate(t), true, 2, 100*time.Millisecond
	})
	c := s.dial(t).startTLS().sendHello()
	c.send("NOOP\nNOOP\r\n")
	c.expect("554 5.5.2")
	c.expectClose()
	c = s.dial(t).startTLS().sendHello()
	c.send("MAIL FROM:<a@client.test>\r\nRCPT TO:<postmaster>\r\nRCPT TO:<b@mx.test>\r\nRCPT TO:<b@mx.test>\r\n")
	c.expect("250 ", "550 ", "550 ", "421 4.7.0")
	c.expectClose()
	k.mu.Lock()
	k.refuse = nil
	k.mu.Unlock()
	c = s.dial(t).startTLS().sendHello().startTransaction()
	c.send("begins\r\n")
	c.expect("451 4.4.2")
	fmt.Fprint(c, "MAIL FROM:<a@client.test>\r\nRCPT TO:<b@mx.test>\r\nDATA\r\nsmuggled\r\n.\r\n") // the connection may already be closed
	c.expectClose()
	if len(k.storedMessages()) != 0 {
		t.Errorf("kept %q", k.storedMessages())
	}
}

// door rejects every client.
type door struct{ keeper }

type guest struct{ visit }

func (d *door) NewSession(context.Context, smtpserver.Peer) (smtpserver.Session, error) {
	return &guest{visit{keeper: &d.keeper}}, nil
}

func (g *guest) Mechanisms() []string { return []string{sasl.Plain} }

func (g *guest) Auth(context.Context, string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, name, _ string) error {
		if name == "ada" {
			return nil
		}
		return smtpserver.Refuse(535, "5.7.8", "Wrong name or password")
	}), nil
}

func TestAUTHRequiresTLSAndLimitsFailures(t *testing.T) {
	t.Parallel()
	s := start(t, &door{}, func(c *smtpserver.Config) { c.TLS, c.MaxAuthFailures = certificate(t), 3 })
	c := s.dial(t).sendHello()
	c.send("AUTH PLAIN AGFkYQBh\r\nSTARTTLS\r\n")
	c.expect("538 5.7.11", "220 ")
	c = c.startTLS()
	c.send("EHLO client.test\r\n")
	if got := c.readReply(); !strings.Contains(got, "AUTH PLAIN") {
		t.Errorf("over TLS: %q", got)
	}
	const eve = "AUTH PLAIN AGV2ZQBh\r\n"
	c.send("%s", eve+eve+eve+eve)
	c.expect("535 5.7.8", "535 5.7.8", "535 5.7.8", "421 4.7.0")
	c.expectClose()
	c = s.dial(t).sendHello()
	c.send("STARTTLS\r\n")
	c.expect("220 ")
	c = c.startTLS()
	c.send("EHLO client.test\r\nAUTH PLAIN AGFkYQBh\r\n")
	c.expect("250-", "235 ")
}
