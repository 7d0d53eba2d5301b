package doctor

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// renewBefore is how long before its expiry a certificate should have been renewed.
const renewBefore = 14 * 24 * time.Hour

// certificateFiles checks the certificates configured in settings.
func (d *Doctor) certificateFiles(context.Context) []Finding {
	var all []Finding
	for _, files := range d.Config.Certificates {
		s := subject{"certificate." + strings.ToLower(files.Setting),
			fmt.Sprintf("%s is a valid certificate for %s", files.CertFile, strings.Join(files.Names, " and "))}
		pair, err := tls.LoadX509KeyPair(files.CertFile, files.KeyFile)
		if err != nil {
			all = append(all, s.finding(Error, err.Error(), "Set %s to a PEM certificate and its key.", files.Setting))
			continue
		}
		chain, err := parse(pair.Certificate)
		if err != nil {
			all = append(all, s.finding(Error, err.Error(), "Set %s to a PEM certificate.", files.Setting))
			continue
		}
		all = append(all, d.judge(s, &tls.ConnectionState{PeerCertificates: chain}, files.Names...))
	}
	return all
}

func parse(chain [][]byte) ([]*x509.Certificate, error) {
	var all []*x509.Certificate
	for _, der := range chain {
		certificate, err := x509.ParseCertificate(der)
		if err != nil {
			return nil, err
		}
		all = append(all, certificate)
	}
	return all, nil
}

// judge reports how clients would judge a certificate for each of the names.
func (d *Doctor) judge(s subject, state *tls.ConnectionState, names ...string) Finding {
	if len(state.PeerCertificates) == 0 {
		return s.finding(Error, "no certificate", "Configure one.")
	}
	leaf, now := state.PeerCertificates[0], d.now()
	found := fmt.Sprintf("%s, by %s, valid until %s", strings.Join(leaf.DNSNames, " "), leaf.Issuer.CommonName,
		leaf.NotAfter.UTC().Format(time.DateOnly))
	if now.After(leaf.NotAfter) {
		return s.finding(Error, found, "Renew the certificate: it expired %s ago.", formatDays(now.Sub(leaf.NotAfter)))
	}
	if now.Before(leaf.NotBefore) {
		return s.finding(Error, found, "Check the clock of this machine, and the certificate: it is valid from %s.",
			leaf.NotBefore.UTC().Format(time.RFC3339))
	}
	for _, name := range names {
		if err := leaf.VerifyHostname(name); err != nil {
			return s.finding(Error, found, "Get a certificate for %s: the current one is for other names.", name)
		}
	}
	between := x509.NewCertPool()
	for _, one := range state.PeerCertificates[1:] {
		between.AddCert(one)
	}
	var unknown x509.UnknownAuthorityError
	if _, err := leaf.Verify(x509.VerifyOptions{Intermediates: between, Roots: d.Roots,
		CurrentTime: now}); errors.As(err, &unknown) {
		return s.finding(Warning, found,
			"Clients do not trust its issuer. Use a certificate from a public authority, with the whole chain in the file.")
	} else if err != nil {
		return s.finding(Error, found+": "+err.Error(), "Replace the certificate.")
	}
	if left := leaf.NotAfter.Sub(now); left < renewBefore {
		return s.finding(Warning, found, "Renew the certificate: it expires in %s.", formatDays(left))
	}
	return s.ok(found)
}

func formatDays(d time.Duration) string {
	if d < 48*time.Hour {
		return d.Round(time.Hour).String()
	}
	return fmt.Sprintf("%d days", d/(24*time.Hour))
}

// checkServed requests the public URL like users do.
func (d *Doctor) checkServed(ctx context.Context) []Finding {
	s := subject{"http.base_url", d.Config.BaseURL + "/healthz responds with 200, over TLS"}
	u, err := url.Parse(d.Config.BaseURL)
	if err != nil {
		return []Finding{s.finding(Error, err.Error(), "Set POSTRIDER_BASE_URL to the public URL of this service.")}
	}
	var chain *tls.ConnectionState
	client := &http.Client{Timeout: talkLimit,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{DisableKeepAlives: true,
			DialContext: func(ctx context.Context, _,
				addr string) (net.Conn, error) {
				return d.dialName(ctx, addr)
			},
			TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: true}}} //nolint:gosec // it is judged afterwards, to say what is wrong with it
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, d.Config.BaseURL+"/healthz", nil)
	if err != nil {
		return []Finding{s.finding(Error, err.Error(), "Set POSTRIDER_BASE_URL to the public URL of this service.")}
	}
	answer, err := client.Do(request)
	if err != nil {
		return []Finding{s.finding(Error, "no response: "+err.Error(),
			"Start the service, point the host of POSTRIDER_BASE_URL to it, and open the port in the firewall.")}
	}
	chain = answer.TLS
	if err := answer.Body.Close(); err != nil {
		return []Finding{s.finding(Error, "no response: "+err.Error(), "Run this again.")}
	}
	var all []Finding
	switch {
	case answer.StatusCode != http.StatusOK:
		all = append(all, s.finding(Error, answer.Status,
			"Another service responds there: point the host of POSTRIDER_BASE_URL to this service."))
	case u.Scheme != "https":
		all = append(all, s.finding(Warning, "it responds, without TLS",
			"Serve it over TLS (POSTRIDER_HTTP_TLS_ADDR, or a proxy in front) and set POSTRIDER_BASE_URL to https://…: API keys and links cross the network unencrypted."))
	default:
		all = append(all, s.ok("it responds"))
	}
	if chain != nil {
		all = append(all, d.judge(subject{"http.certificate", "a valid certificate for " + u.Hostname()}, chain,
			u.Hostname()))
	}
	return all
}

// dialFirst connects to the first reachable address.
func (d *Doctor) dialFirst(ctx context.Context, addresses []netip.Addr, port string) (c net.Conn, err error) {
	for _, ip := range addresses {
		if c, err = d.dial(ctx, net.JoinHostPort(ip.String(), port)); err == nil {
			return c, nil
		}
	}
	return nil, err
}

// dialName resolves a name with the resolver of the service.
func (d *Doctor) dialName(ctx context.Context, addr string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	if net.ParseIP(host) == nil {
		found, err := d.DNS.LookupIP(ctx, host)
		if err != nil {
			return nil, err
		}
		return d.dialFirst(ctx, found, port)
	}
	return d.dial(ctx, net.JoinHostPort(host, port))
}
