package app

import (
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"strings"

	"go.uber.org/fx"

	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/ops/config"
	"github.com/postrider/postrider/runtime/web/clientip"
	"github.com/postrider/postrider/runtime/web/server"
)

// strictTransport makes browsers use only TLS for a year (RFC 6797). Subdomains are excluded, because they can belong
// to another party.
const strictTransport = "max-age=31536000"

// serveHTTP serves the handler on the plain listener and, where there is one, over TLS.
func (p edgeParams) serveHTTP(f Foundation, handler http.Handler, observed *telemetry.HTTP) {
	plain := handler
	if p.Secured.https != nil {
		plain = p.toTLS(handler)
	}
	// The certificate authority uses the plain listener, so its requests are never redirected.
	p.serve(f, f.Listener, nil, p.challenges(plain), observed)
	if p.Secured.https == nil {
		return
	}
	c := p.Secured.files
	if c == nil {
		c = p.Secured.keeper.TLS()
	}
	p.Logger.Info("serving HTTPS", telemetry.KeyAddress, p.Secured.https.Addr().String())
	p.serve(f, p.Secured.https, c, p.underOurName(handler), observed)
}

func (p edgeParams) serve(f Foundation, l net.Listener, c *tls.Config, handler http.Handler, observed *telemetry.HTTP) {
	s := server.New(server.Params{Listener: l, TLS: c, Handler: handler, Observe: observed.Wrap, Budget: p.Budget,
		Proxies:  config.TrustedProxies.Get(p.Config),
		Draining: f.Draining, Logger: p.Logger, Fail: f.Fail})
	for _, drain := range p.Drains {
		s.RegisterOnShutdown(drain)
	}
	p.Lifecycle.Append(hookOf(s))
}

// toTLS redirects requests to HTTPS. Requests from this machine, probes, and the links of tracking hosts, which have
// their own certificates or none, are also served over plain HTTP.
func (p edgeParams) toTLS(served http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/healthz" || r.URL.Path == "/readyz" || clientip.IsLocalRequest(r) || !p.isOurs(r) &&
			p.isLink(r) {
			served.ServeHTTP(w, r)
			return
		}
		target := *r.URL
		target.Scheme, target.Host, target.User = "", "", nil
		// 308 preserves method and body (RFC 9110 section 15.4.9).
		w.Header().Set("Location", config.BaseURL.Get(p.Config)+target.RequestURI())
		w.WriteHeader(http.StatusPermanentRedirect)
	})
}

// underOurName serves everything under the host of the base URL, only message links under tracking hosts, and only
// MTA-STS policies under the hosts for them.
func (p edgeParams) underOurName(served http.Handler) http.Handler {
	links := p.trackingHostsFirst(p.policiesFirst(p.linksFirst(http.NotFoundHandler())))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !p.isOurs(r) {
			links.ServeHTTP(w, r)
			return
		}
		// addresses have no HSTS: RFC 6797 section 8.1.1
		if _, err := netip.ParseAddr(config.BaseHost(p.Config)); err != nil {
			w.Header().Set("Strict-Transport-Security", strictTransport)
		}
		served.ServeHTTP(w, r)
	})
}

// isOurs reports whether a request is for the host of the base URL or for an IP address, and not for a
// tracking host.
func (p edgeParams) isOurs(r *http.Request) bool {
	name := clientip.HostName(r.Host)
	_, err := netip.ParseAddr(name)
	return err == nil || strings.EqualFold(name, config.BaseHost(p.Config)) || clientip.IsLocalHost(r.Host)
}

// isLink reports whether a request is for a public link of a message.
func (p edgeParams) isLink(r *http.Request) bool {
	for _, l := range p.Links {
		if strings.HasPrefix(r.URL.Path, l.prefix) {
			return true
		}
	}
	return false
}

func hookOf(s *server.Server) fx.Hook { return fx.Hook{OnStart: s.Start, OnStop: s.Stop} }
