package app

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/smtp"
	"strconv"
	"time"

	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/domains"
	"github.com/postrider/postrider/modules/domains/bimi"
	"github.com/postrider/postrider/modules/domains/dnscheck"
	"github.com/postrider/postrider/runtime/app/outgoing"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/mail/dnsx"
	"github.com/postrider/postrider/runtime/mail/mtasts"
	"github.com/postrider/postrider/runtime/web/clientip"
)

// domainPeers are the dependencies of the module domains for checking what records refer to.
var domainPeers = fx.Provide(newLogoChecker, newPolicyFetcher, newMailHostChecker, policyCertificatesOf)

// newLogoChecker returns the checker of BIMI logos.
func newLogoChecker(cfg setting.Values, resolver *dnsx.Resolver) dnscheck.LogoChecker {
	return bimi.New(newFileClient(cfg, resolver))
}

func newPolicyFetcher(cfg setting.Values, resolver *dnsx.Resolver) dnscheck.PolicyFetcher {
	client := newFileClient(cfg, resolver)
	return func(ctx context.Context, domain string) (string, error) { return mtasts.FetchText(ctx, client, domain) }
}

// policyCertificatesOf returns nil if this installation obtains no certificates.
func policyCertificatesOf(s *secured) domains.PolicyCertificates {
	if s.keeper == nil {
		return nil
	}
	return s.keeper
}

const mailHostTimeout = 10 * time.Second

// newMailHostChecker returns a function that connects to the mail server of this installation as other mail servers do,
// and verifies its certificate.
func newMailHostChecker(cfg setting.Values, resolver *dnsx.Resolver) dnscheck.MailHostChecker {
	port := strconv.Itoa(outgoing.MXPort.Get(cfg))
	return func(ctx context.Context, host string) error {
		ctx, cancel := context.WithTimeout(ctx, mailHostTimeout)
		defer cancel()
		addrs, err := resolver.LookupIP(ctx, host)
		if err != nil || len(addrs) == 0 {
			return errors.New("it has no address")
		}
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort(addrs[0].String(), port))
		if err != nil {
			return errors.New("this installation cannot connect to it")
		}
		defer conn.Close()
		if deadline, limited := ctx.Deadline(); limited {
			if err := conn.SetDeadline(deadline); err != nil {
				return err
			}
		}
		return verifyStartTLS(conn, host, nil)
	}
}

// verifyStartTLS verifies the certificate of a mail server. Without roots, those of the system are trusted.
func verifyStartTLS(conn net.Conn, host string, roots *x509.CertPool) error {
	client, err := smtp.NewClient(conn, host)
	if err != nil {
		return errors.New("no SMTP server responds")
	}
	defer func() { _ = client.Close() }() // the caller closes the connection
	if supported, _ := client.Extension("STARTTLS"); !supported {
		return errors.New("it does not offer STARTTLS")
	}
	return client.StartTLS(&tls.Config{ServerName: host, RootCAs: roots, MinVersion: tls.VersionTLS12})
}

// policiesFirst serves MTA-STS policies under the hosts for them, and nothing else there.
func (p edgeParams) policiesFirst(others http.Handler) http.Handler {
	if p.Domains == nil {
		return others
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		domain, isPolicyHost := dnscheck.PolicyDomain(clientip.HostName(r.Host))
		if !isPolicyHost || p.isOurs(r) {
			others.ServeHTTP(w, r)
			return
		}
		if r.URL.Path != mtasts.Path || r.Method != http.MethodGet && r.Method != http.MethodHead {
			http.NotFound(w, r)
			return
		}
		p.servePolicy(w, r, domain)
	})
}

func (p edgeParams) servePolicy(w http.ResponseWriter, r *http.Request, domain string) {
	ctx, cancel := context.WithTimeout(r.Context(), fault.AnswerWithin)
	defer cancel()
	policy, err := p.Domains.MTASTSPolicy(ctx, domain)
	switch {
	case fault.KindOf(err) == fault.NotFound:
		http.NotFound(w, r)
		return
	case err != nil:
		p.Logger.ErrorContext(ctx, "cannot read the MTA-STS policy", telemetry.KeyError, err)
		http.Error(w, "Policy temporarily unavailable.", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-cache")
	_, _ = io.WriteString(w, policy) //nolint:gosec // G705: plain text. The client may have disconnected.
}
