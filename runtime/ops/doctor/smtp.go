package doctor

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/textproto"
	"strings"
	"time"
)

const (
	dialLimit   = 10 * time.Second
	talkLimit   = 15 * time.Second
	whereToLook = "gmail.com, outlook.com and yahoo.com"
)

// probed are domains whose mail servers are always available. The check only reads their greeting.
var probed = []string{"gmail.com", "outlook.com", "yahoo.com"}

// checkOutbound checks whether other mail servers are reachable: many providers block port 25 by default.
func (d *Doctor) checkOutbound(ctx context.Context) []Finding {
	s := subject{"smtp.outward", "a mail server of " + whereToLook + " responds at port " + d.Config.mxPort()}
	var tried []string
	for _, domain := range probed {
		hosts, err := d.DNS.LookupMX(ctx, domain)
		if err != nil || len(hosts) == 0 {
			continue
		}
		name := strings.TrimSuffix(hosts[0].Host, ".")
		greeting, err := d.greeting(ctx, net.JoinHostPort(name, d.Config.mxPort()))
		if err == nil {
			return []Finding{s.ok(name + " responds: " + greeting)}
		}
		tried = append(tried, fmt.Sprintf("%s: %v", name, err))
	}
	if len(tried) == 0 {
		return []Finding{s.finding(Warning, "DNS returned no mail servers of these domains",
			"Check dns.resolver above, then run this again.")}
	}
	return []Finding{s.finding(Error, strings.Join(tried, "; "),
		"Ask the provider of this machine to open port 25 for outgoing connections, and check the firewall. Otherwise send through a smarthost (POSTRIDER_OUTBOUND=smtp://user:password@host:587).")}
}

// greeting connects to a mail server, reads its greeting and disconnects.
func (d *Doctor) greeting(ctx context.Context, addr string) (string, error) {
	c, text, err := d.dialGreeted(ctx, addr)
	if err != nil {
		return "", err
	}
	fmt.Fprint(c.net, "QUIT\r\n") // the connection closes either way
	return text, c.net.Close()
}

// conn is a connection to a mail server.
type conn struct {
	*textproto.Conn
	net net.Conn
}

func (d *Doctor) dialGreeted(ctx context.Context, addr string) (*conn, string, error) {
	dialling, cancel := context.WithTimeout(ctx, dialLimit)
	defer cancel()
	plain, err := d.dialName(dialling, addr)
	if err != nil {
		return nil, "", err
	}
	if err := plain.SetDeadline(time.Now().Add(talkLimit)); err != nil {
		return nil, "", err
	}
	c := &conn{textproto.NewConn(plain), plain}
	_, text, err := c.ReadResponse(220)
	if err != nil {
		plain.Close() // the server sent something else, or nothing
		return nil, "", fmt.Errorf("greeting: %w", err)
	}
	return c, text, nil
}

// checkInbound checks whether other mail servers can reach this one. A firewall of the provider cannot be
// detected from here, because the connection may not leave the machine.
func (d *Doctor) checkInbound(ctx context.Context) []Finding {
	name := d.Config.SMTPHost
	s := subject{"smtp.inward", fmt.Sprintf("Postrider responds at %s, port %s", name, inwardPort)}
	addresses, err := d.DNS.LookupIP(ctx, name)
	if err != nil || len(addresses) == 0 {
		return []Finding{s.finding(Skipped, name+" has no known address", "Check dns.smtp_host first.")}
	}
	c, text, err := d.dialGreeted(ctx, net.JoinHostPort(addresses[0].String(), inwardPort))
	if err != nil {
		return []Finding{d.unreachable(ctx, s, addresses[0].String(), err)}
	}
	defer c.net.Close()
	if greets, _, _ := strings.Cut(text, " "); !strings.EqualFold(greets, d.Config.Hostname) {
		return []Finding{s.finding(Error, fmt.Sprintf("%s responds with the greeting %q", name, text),
			"Another mail server responds there. Point %s and its port %s to Postrider, or set POSTRIDER_HOSTNAME "+
				"to the host name of Postrider.", name, inwardPort)}
	}
	return []Finding{s.ok(text), d.startTLS(ctx, c, name)}
}

// unreachable determines whether the listener or the route to it is missing.
func (d *Doctor) unreachable(ctx context.Context, s subject, addr string, err error) Finding {
	if local := d.Config.ListenAddr; local != "" {
		host, port, splitErr := net.SplitHostPort(local)
		if ip := net.ParseIP(host); splitErr == nil && (host == "" || ip != nil && ip.IsUnspecified()) {
			local = net.JoinHostPort("127.0.0.1", port)
		}
		if _, localErr := d.greeting(ctx, local); localErr == nil {
			return s.finding(Warning, fmt.Sprintf("%s does not respond (%v), but %s does", addr, err, local),
				"Open port 25 for incoming connections in the firewall and at the provider, or forward it to %s. If the router does not support connections from its own network, test from another machine: nc -v %s 25.", local, addr)
		}
	}
	return s.finding(Error, fmt.Sprintf("%s does not respond: %v", addr, err),
		"Start the service, make it listen at port 25 (POSTRIDER_INBOUND_ADDR=:25; it needs CAP_NET_BIND_SERVICE), and open the port in the firewall. Without bounces and complaints, mail is sent to dead addresses repeatedly.")
}

// startTLS checks the certificate that mail servers see.
func (d *Doctor) startTLS(ctx context.Context, c *conn, name string) Finding {
	s := subject{"smtp.certificate", "a valid certificate for " + name + " after STARTTLS"}
	chain, err := handshake(ctx, c, name)
	if err != nil {
		return s.finding(Warning, err.Error(),
			"Set POSTRIDER_SMTP_TLS_CERT and POSTRIDER_SMTP_TLS_KEY, or get a certificate from an authority (POSTRIDER_HTTP_TLS_ADDR): mail arrives unencrypted, and the SMTP relay is disabled.")
	}
	f := d.judge(s, chain, name)
	if f.Level == Error { // other mail servers accept it anyway
		f.Level = Warning
	}
	return f
}

func handshake(ctx context.Context, c *conn, name string) (*tls.ConnectionState, error) {
	for _, step := range []struct {
		command string
		code    int
	}{{"EHLO doctor.invalid", 250}, {"STARTTLS", 220}} {
		if err := c.PrintfLine("%s", step.command); err != nil {
			return nil, err
		}
		if _, _, err := c.ReadResponse(step.code); err != nil {
			return nil, fmt.Errorf("%s: %w", step.command, err)
		}
	}
	secured := tls.Client(c.net, &tls.Config{ServerName: name, InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}) //nolint:gosec // it is judged afterwards, to say what is wrong with it
	if err := secured.HandshakeContext(ctx); err != nil {
		return nil, fmt.Errorf("TLS: %w", err)
	}
	state := secured.ConnectionState()
	return &state, nil
}
