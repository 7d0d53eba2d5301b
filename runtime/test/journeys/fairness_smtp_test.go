package journeys_test

import (
	"bufio"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/test/harness"
)

// startProxied starts an installation that treats this machine as the proxy of its SMTP listeners, so that test
// clients can choose their addresses.
func startProxied(t *testing.T) *harness.App {
	t.Helper()
	return harness.Start(t, func(s setting.RawValues) {
		s["POSTRIDER_INBOUND_PROXIES"], s["POSTRIDER_RELAY_PROXIES"] = "127.0.0.1/32", "127.0.0.1/32"
	})
}

// sendProxyHeader starts a connection as the client of an address.
func sendProxyHeader(c net.Conn, addr string) error {
	family, to := "TCP4", "192.0.2.9"
	if strings.Contains(addr, ":") {
		family, to = "TCP6", "2001:db8::9"
	}
	_, err := fmt.Fprintf(c, "PROXY %s %s %s 4711 25\r\n", family, addr, to)
	return err
}

// newInboundClient sends one message to a receiving address, like an honest server.
func newInboundClient(app *harness.App, octets int) func() error {
	line := strings.Repeat("x", 98) + "\r\n"
	message := "From: bob@example.net\r\nSubject: s\r\n\r\n" + strings.Repeat(line, octets/len(line))
	return func() (err error) {
		c, err := net.Dial("tcp", *app.InboundAddr)
		if err != nil {
			return err
		}
		defer c.Close()
		if err := errors.Join(c.SetDeadline(time.Now().Add(2*time.Minute)),
			sendProxyHeader(c, "203.0.113.7")); err != nil {
			return err
		}
		return runDialogue(c, bufio.NewReader(c), "220", "250 EHLO mx.example.net\r\n",
			"250 MAIL FROM:<bob@example.net>\r\n", "250 RCPT TO:<support@dev.test>\r\n", "354 DATA\r\n",
			"250 "+message+".\r\n", "221 QUIT\r\n")
	}
}

// halfMessage sends 70,000 bytes of a message and stops.
func halfMessage(c net.Conn, mail, rcpt string) error {
	return errors.Join(runDialogue(c, bufio.NewReader(c), "220", "250 EHLO mx.example.org\r\n", "250 "+mail+"\r\n",
		"250 "+rcpt+"\r\n", "354 DATA\r\n"), restOfHalf(c))
}

func restOfHalf(c net.Conn) error {
	_, err := fmt.Fprintf(c, "Subject: s\r\n\r\n%s", strings.Repeat(strings.Repeat("x", 98)+"\r\n", 700))
	return err
}

// Incomplete messages do not delay large mail of other servers, whatever size they declare.
func TestIncompleteMessagesDoNotDelayInboundMail(t *testing.T) {
	app := startProxied(t)
	contest{name: "mail of 100 KB during incomplete messages", honest: newInboundClient(app, 100_000),
		attack: func(a *attack) {
			for i, mail := range []string{"MAIL FROM:<x@evil.example>", "MAIL FROM:<x@evil.example> SIZE=9870000",
				"MAIL FROM:<x@evil.example> SIZE=33000000", "MAIL FROM:<x@evil.example>"} {
				a.keep(*app.InboundAddr, func(c net.Conn) error {
					if err := sendProxyHeader(c, fmt.Sprintf("198.51.100.%d", 1+i%2)); err != nil {
						return err
					}
					return halfMessage(c, mail, "RCPT TO:<x@dev.test>")
				})
			}
		}}.run(t)
}

// The same at the relay, by one account against another.
func TestIncompleteMessagesDoNotDelayRelayedMail(t *testing.T) {
	app := startProxied(t)
	app.MailDomain(t, "example.net") // otherwise it bounces, and suppressed recipients are rejected
	stranger := app.Stranger(t, "stranger")
	verifyDomain(t, stranger, "stranger.example")
	var made struct{ Password string }
	stranger.Do(t, http.MethodPost, "/api/smtp-credentials", map[string]string{"name": "x"}).JSON(t, &made)
	begin := func(c net.Conn, addr, password string) (*tls.Conn, *bufio.Reader, error) {
		if err := errors.Join(c.SetDeadline(time.Now().Add(2*time.Minute)), sendProxyHeader(c, addr)); err != nil {
			return nil, nil, err
		}
		secured := tls.Client(c, &tls.Config{InsecureSkipVerify: true}) // the app's self-signed certificate
		r := bufio.NewReader(secured)
		return secured, r, runDialogue(secured, r, "220", "250 EHLO client.example\r\n", "235 AUTH PLAIN "+
			authPlain(app.Relay.Username, password)+"\r\n")
	}
	message := "From: ada@dev.test\r\nSubject: s\r\n\r\n" + strings.Repeat(strings.Repeat("x", 98)+"\r\n", 1000)
	honest := func() error {
		c, err := net.Dial("tcp", app.Relay.TLSAddr)
		if err != nil {
			return err
		}
		defer c.Close()
		secured, r, err := begin(c, "203.0.113.7", app.Relay.Password)
		if err != nil {
			return err
		}
		return runDialogue(secured, r, "250 MAIL FROM:<ada@dev.test>\r\n", "250 RCPT TO:<bob@example.net>\r\n",
			"354 DATA\r\n", "250 "+message+".\r\n", "221 QUIT\r\n")
	}
	contest{name: "relayed mail of 100 KB during incomplete messages", honest: honest, attack: func(a *attack) {
		for range 4 {
			a.keep(app.Relay.TLSAddr, func(c net.Conn) error {
				secured, r, err := begin(c, "198.51.100.1", made.Password)
				if err != nil {
					return err
				}
				if err := runDialogue(secured, r, "250 MAIL FROM:<eve@stranger.example>\r\n", "250 RCPT TO:<bob@example.net>\r\n", "354 DATA\r\n"); err != nil {
					return err
				}
				return restOfHalf(secured)
			})
		}
	}}.run(t)
}

// Fifty addresses of one IPv6 network that connect and stay silent do not block the listeners for others.
func TestSilentConnectionsDoNotDelayOthers(t *testing.T) {
	app := startProxied(t)
	silent := func(addr string, each int) func(*attack) {
		return func(a *attack) {
			a.pause = time.Second // rejected connections are retried at a moderate rate
			for i := range 1000 {
				a.keep(addr,
					func(c net.Conn) error { return sendProxyHeader(c, fmt.Sprintf("2001:db8:1:%x::1", i/each)) })
			}
		}
	}
	contest{name: "inbound mail during 1,000 silent connections of one /48", honest: newInboundClient(app, 1000),
		attack: silent(*app.InboundAddr, 20)}.run(t)
	honest := func() error {
		c, err := net.Dial("tcp", app.Relay.Addr)
		if err != nil {
			return err
		}
		defer c.Close()
		if err := errors.Join(c.SetDeadline(time.Now().Add(time.Minute)),
			sendProxyHeader(c, "203.0.113.7")); err != nil {
			return err
		}
		return runDialogue(c, bufio.NewReader(c), "220", "250 EHLO client.example\r\n", "221 QUIT\r\n")
	}
	contest{name: "the relay during 1,000 silent connections of one /48", honest: honest,
		attack: silent(app.Relay.Addr, 100)}.run(t)
}
