package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/postrider/postrider/cmd/bench/figures"
)

// relayClients is how many connections hand in mail at a time.
const relayClients = 16

// benchRelay measures messages that are handed in over SMTP beside POST /emails, in
// turns, from as many connections that are kept, with the same bodies. Delivery is
// switched off.
func benchRelay(ctx context.Context, p plan, dir string) ([]target, error) {
	progress("starting Postrider to accept mail by SMTP and by HTTP")
	server, err := start(ctx, p.binary, dir, "POSTRIDER_DELIVERY_CONCURRENCY=0")
	if err != nil {
		return nil, err
	}
	defer server.stop()
	if server.Ready.Relay == nil {
		return nil, errors.New("the relay is off")
	}
	t := target{name: fmt.Sprintf("relay / POST /emails, %d clients", relayClients), least: 0.8}
	var posts, relayed []float64
	var all []time.Duration
	if _, _, err := measureRelay(ctx, server.Ready, time.Second); err != nil { // warm-up
		return nil, err
	}
	for range p.rounds {
		post, _, err := measureAccepts(ctx, server.Ready, relayClients, p.each)
		if err != nil {
			return nil, err
		}
		rate, took, err := measureRelay(ctx, server.Ready, p.each)
		if err != nil {
			return nil, err
		}
		posts, relayed, all = append(posts, post), append(relayed, rate), append(all, took...)
		t.ratios = append(t.ratios, rate/post)
	}
	fmt.Printf("%-36s %11.0f\n%-36s %11.0f   p50 %s, p95 %s\n", "POST /emails/s", figures.Median(posts), "messages by SMTP/s", figures.Median(relayed), figures.Percentile(all, 50), figures.Percentile(all, 95))
	return []target{t}, nil
}

func measureRelay(ctx context.Context, r ready, length time.Duration) (float64, []time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, length)
	defer cancel()
	clients := make([]*submitter, relayClients)
	for i := range clients {
		c, err := newSubmitter(ctx, r)
		if err != nil {
			return 0, nil, err
		}
		defer c.close()
		clients[i] = c
	}
	took := make([][]time.Duration, relayClients)
	var failed atomic.Pointer[error]
	var all sync.WaitGroup
	begin := time.Now()
	for i, c := range clients {
		all.Go(func() {
			for ctx.Err() == nil {
				start := time.Now()
				if err := c.submit(); err != nil && ctx.Err() == nil {
					failed.Store(&err)
					cancel()
				} else if err == nil {
					took[i] = append(took[i], time.Since(start))
				}
			}
		})
	}
	all.Wait()
	elapsed := time.Since(begin)
	if err := failed.Load(); err != nil {
		return 0, nil, *err
	}
	var flat []time.Duration
	for _, one := range took {
		flat = append(flat, one...)
	}
	return float64(len(flat)) / elapsed.Seconds(), flat, nil
}

// submitter is a connection that is signed in. It writes MAIL, RCPT and DATA at once, as
// mail servers do, and the message when it is asked for.
type submitter struct {
	conn     net.Conn
	answers  *bufio.Reader
	envelope []byte
	message  []byte
	cancel   func() bool
}

func newSubmitter(ctx context.Context, r ready) (*submitter, error) {
	d := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}} //nolint:gosec // loopback, and the server's own certificate
	conn, err := d.DialContext(ctx, "tcp", r.Relay.TLSAddr)
	if err != nil {
		return nil, err
	}
	c := &submitter{conn: conn, answers: bufio.NewReader(conn), message: sampleMIME(r),
		envelope: []byte("MAIL FROM:<bench@" + r.VerifiedDomain + ">\r\nRCPT TO:<someone@example.net>\r\nDATA\r\n"),
		cancel:   context.AfterFunc(ctx, func() { conn.Close() })}
	secret := base64.StdEncoding.EncodeToString([]byte("\x00" + r.Relay.Username + "\x00" + r.Relay.Password))
	if err := errors.Join(c.expect("220"), c.say([]byte("EHLO bench\r\n"), "250"), c.say([]byte("AUTH PLAIN "+secret+"\r\n"), "235")); err != nil {
		return nil, err
	}
	return c, nil
}

func (c *submitter) submit() error {
	if err := c.say(c.envelope, "250", "250", "354"); err != nil {
		return err
	}
	return c.say(c.message, "250")
}

func (c *submitter) say(text []byte, codes ...string) error {
	if _, err := c.conn.Write(text); err != nil {
		return err
	}
	for _, code := range codes {
		if err := c.expect(code); err != nil {
			return err
		}
	}
	return nil
}

func (c *submitter) expect(code string) error {
	for {
		line, err := c.answers.ReadString('\n')
		if err != nil {
			return err
		}
		if len(line) < 4 || line[:3] != code {
			return fmt.Errorf("answered %q, want %s", line, code)
		}
		if line[3] != '-' {
			return nil
		}
	}
}

func (c *submitter) close() {
	if c.cancel() {
		c.conn.Close() // the other end may have gone
	}
}

// sampleMIME says what sampleEmail says.
func sampleMIME(r ready) []byte {
	html := "<html><body><h1>Your receipt</h1>\r\n" + strings.Repeat("<p>One line of what was bought, with its price.</p>\r\n", 40) + "</body></html>"
	return []byte("From: Bench <bench@" + r.VerifiedDomain + ">\r\nTo: someone@example.net\r\nSubject: Your receipt\r\nX-Postrider-Tag: kind=receipt\r\nMIME-Version: 1.0\r\n" +
		"Content-Type: multipart/alternative; boundary=bench\r\n\r\n--bench\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nYour receipt: one line of what was bought.\r\n" +
		"--bench\r\nContent-Type: text/html; charset=utf-8\r\n\r\n" + html + "\r\n--bench--\r\n.\r\n")
}
