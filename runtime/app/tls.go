package app

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strconv"

	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/domains"
	"github.com/postrider/postrider/modules/tracking"
	"github.com/postrider/postrider/modules/tracking/certificate"
	"github.com/postrider/postrider/modules/tracking/hosts"
	"github.com/postrider/postrider/runtime/app/listeners"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/ops/config"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/web/server"
)

// secured contains the HTTPS listeners and the keeper of their certificates. A part is nil if it is not configured.
type secured struct {
	https    net.Listener        // listener for the base URL: POSTRIDER_HTTP_TLS_ADDR
	files    *tls.Config         // its certificate, from files; if nil, the keeper has it
	tracking net.Listener        // listener for the hosts of accounts: POSTRIDER_TRACKING_TLS_ADDR
	keeper   *certificate.Keeper // gets certificates from an ACME authority
}

func newSecured(lc fx.Lifecycle, cfg setting.Values, on modulesOn, d *db.DB, box *secret.Box,
	log *slog.Logger) (*secured, error) {
	s := &secured{}
	var err error
	if config.HTTPTLSAddr.Get(cfg) != "" {
		if s.https, err = listenTLS(lc, "POSTRIDER_HTTP_TLS_ADDR", config.HTTPTLSAddr.Get(cfg)); err != nil {
			return nil, err
		}
	}
	if config.HTTPTLSAddr.Get(cfg) != "" && config.HTTPTLSCert.Get(cfg) != "" {
		if s.files, err = listeners.FromFiles("POSTRIDER_HTTP_TLS_CERT", config.HTTPTLSCert.Get(cfg),
			config.HTTPTLSKey.Get(cfg), log); err != nil {
			return nil, err
		}
		s.files.NextProtos = []string{"h2", "http/1.1"}
	}
	if tracking.TLSAddr.Get(cfg) != "" && slices.Contains(on, "tracking") {
		if s.tracking, err = listenTLS(lc, "POSTRIDER_TRACKING_TLS_ADDR", tracking.TLSAddr.Get(cfg)); err != nil {
			return nil, err
		}
	}
	if s.tracking == nil && (s.https == nil || s.files != nil) {
		return s, nil
	}
	s.keeper = s.newKeeper(cfg, on, d, box, log)
	lc.Append(fx.Hook{OnStart: func(context.Context) error {
		if s.https != nil && s.files == nil {
			s.keeper.Obtain(config.BaseHost(cfg))
		}
		return nil
	}, OnStop: s.keeper.Stop})
	return s, nil
}

// newKeeper returns the keeper of certificates for the names of this installation and the hosts of its accounts.
func (s *secured) newKeeper(cfg setting.Values, on modulesOn, d *db.DB, box *secret.Box,
	log *slog.Logger) *certificate.Keeper {
	port := s.tracking
	if port == nil {
		port = s.https
	}
	names := listeners.Names(cfg)
	if s.https != nil && s.files == nil {
		names = append(names, config.BaseHost(cfg))
	}
	var allow []func(ctx context.Context, host string) error
	if slices.Contains(on, "inbound") {
		allow = append(allow, domains.AllowPolicyHosts(d, config.TrackingHost.Get(cfg)))
	}
	if slices.Contains(on, "tracking") {
		allow = append(allow, hosts.AllowServed(d))
	}
	return certificate.New(certificate.Params{DB: d, Box: box, Logger: log, Config: certificate.Config{
		CA: tracking.ACMECA.Get(cfg), Email: tracking.ACMEEmail.Get(cfg), HTTPPort: portOf(cfg), TLSPort: port.Addr().(*net.TCPAddr).Port},
		Allowed: func(ctx context.Context, host string) error {
			if slices.Contains(names, host) {
				return nil
			}
			refused := fmt.Errorf("%s is not a name of this installation", host)
			for _, allows := range allow {
				if refused = allows(ctx, host); refused == nil {
					return nil
				}
			}
			return refused
		}})
}

func listenTLS(lc fx.Lifecycle, name, addr string) (net.Listener, error) {
	l, err := server.ListenTCP(context.Background(), addr)
	if err != nil {
		return nil, fmt.Errorf("%s: cannot listen on %s: %w", name, addr, err)
	}
	lc.Append(fx.StopHook(func() error { // even if a later component fails to start
		if err := l.Close(); !errors.Is(err, net.ErrClosed) {
			return err
		}
		return nil
	}))
	return l, nil
}

// certificatesOf returns a nil interface for a nil keeper, instead of an interface that contains a nil pointer.
func certificatesOf(s *secured) hosts.Certificates {
	if s.keeper == nil {
		return nil
	}
	return s.keeper
}

// keeperOf returns nil without an authority.
func keeperOf(s *secured) *certificate.Keeper { return s.keeper }

// portOf returns the port on which this process serves HTTP.
func portOf(cfg setting.Values) int {
	_, text, err := net.SplitHostPort(config.HTTPAddr.Get(cfg))
	if port, wrong := strconv.Atoi(text); err == nil && wrong == nil {
		return port
	}
	return 0
}

// challenges answers the requests of the certificate authority on the main listener.
func (p edgeParams) challenges(others http.Handler) http.Handler {
	if p.Secured.keeper == nil {
		return others
	}
	return p.Secured.keeper.Challenge(others)
}

// serveTrackingHosts serves only the public links of messages under tracking hosts, and MTA-STS policies under their
// hosts, and neither the API nor pages that require sign-in.
func (p edgeParams) serveTrackingHosts(observed *telemetry.HTTP) {
	if p.Secured.tracking == nil {
		return
	}
	s := server.New(server.Params{Listener: p.Secured.tracking, TLS: p.Secured.keeper.TLS(),
		Handler: p.trackingHostsFirst(p.policiesFirst(p.linksFirst(http.NotFoundHandler()))), Observe: observed.Wrap,
		Budget: p.Budget, Proxies: config.TrustedProxies.Get(p.Config), Logger: p.Logger,
		Fail: func(err error) { p.Logger.Error("listener of tracking hosts failed", telemetry.KeyError, err) }})
	p.Lifecycle.Append(hookOf(s))
	p.Logger.Info("serving tracking hosts", telemetry.KeyAddress, p.Secured.tracking.Addr().String())
}
