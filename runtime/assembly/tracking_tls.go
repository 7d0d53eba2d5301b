package assembly

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

	"github.com/postrider/postrider/modules/tracking"
	"github.com/postrider/postrider/modules/tracking/certificate"
	"github.com/postrider/postrider/runtime/assembly/listeners"
	"github.com/postrider/postrider/runtime/config"
	"github.com/postrider/postrider/runtime/db"
	"github.com/postrider/postrider/runtime/httpserver"
	"github.com/postrider/postrider/runtime/intake"
	"github.com/postrider/postrider/runtime/secret"
	"github.com/postrider/postrider/runtime/setting"
	"github.com/postrider/postrider/runtime/telemetry"
)

// trackingTLS is the listener on which tracking hosts are reached, and what gets
// their certificates. Nil without POSTRIDER_TRACKING_TLS_ADDR.
type trackingTLS struct {
	listener net.Listener
	keeper   *certificate.Keeper
	log      *slog.Logger
}

func newTrackingTLS(lc fx.Lifecycle, cfg setting.Values, d *db.DB, box *secret.Box, log *slog.Logger) (*trackingTLS, error) {
	if tracking.TLSAddr.Of(cfg) == "" {
		return nil, nil //nolint:nilnil // what is off is nil, as with modules
	}
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", tracking.TLSAddr.Of(cfg))
	if err != nil {
		return nil, fmt.Errorf("POSTRIDER_TRACKING_TLS_ADDR: cannot listen on %s: %w", tracking.TLSAddr.Of(cfg), err)
	}
	lc.Append(fx.StopHook(func() error { // also when a later part does not start
		if err := l.Close(); !errors.Is(err, net.ErrClosed) {
			return err
		}
		return nil
	}))
	served := tracking.Served(d)
	allowed := func(ctx context.Context, host string) error { // the SMTP listeners' names as well
		if slices.Contains(listeners.Names(cfg), host) {
			return nil
		}
		return served(ctx, host)
	}
	k := certificate.New(certificate.Params{DB: d, Box: box, Allowed: allowed, Logger: log, Config: certificate.Config{
		CA: tracking.ACMECA.Of(cfg), Email: tracking.ACMEEmail.Of(cfg), HTTPPort: portOf(cfg), TLSPort: l.Addr().(*net.TCPAddr).Port}})
	lc.Append(fx.StopHook(k.Stop))
	return &trackingTLS{listener: l, keeper: k, log: log}, nil
}

// certificatesOf keeps a nil pointer out of the interface, where it would not be nil.
func certificatesOf(t *trackingTLS) tracking.Certificates {
	if t == nil {
		return nil
	}
	return t.keeper
}

// keeperOf is nil without certificates.
func keeperOf(t *trackingTLS) *certificate.Keeper {
	if t == nil {
		return nil
	}
	return t.keeper
}

// portOf is where this process itself serves HTTP.
func portOf(cfg setting.Values) int {
	_, text, err := net.SplitHostPort(config.HTTPAddr.Of(cfg))
	if port, wrong := strconv.Atoi(text); err == nil && wrong == nil {
		return port
	}
	return 0
}

// challenges answers the questions of the certificate authority on the main listener.
func (p edgeParams) challenges(others http.Handler) http.Handler {
	if p.TrackingTLS == nil {
		return others
	}
	return p.TrackingTLS.keeper.Challenge(others)
}

// serveTrackingHosts answers the public links of messages under tracking hosts, and
// nothing else: neither the API nor a page that somebody is signed in to.
func (p edgeParams) serveTrackingHosts(observe *telemetry.HTTP) {
	if p.TrackingTLS == nil {
		return
	}
	links := observe.Wrap(p.linksFirst(http.NotFoundHandler()))
	s := &http.Server{Handler: links, ReadHeaderTimeout: httpserver.HeaderTimeout, IdleTimeout: httpserver.IdleTimeout, MaxHeaderBytes: httpserver.HeaderBytes,
		ErrorLog: slog.NewLogLogger(p.Logger.Handler(), slog.LevelDebug)} // broken handshakes and the like
	gate := httpserver.NewGate(httpserver.Connections, intake.Floor, config.TrustedProxies.Of(p.Config))
	gate.Attach(s)
	p.Lifecycle.Append(fx.Hook{
		OnStart: func(context.Context) error {
			go func() {
				l := tls.NewListener(gate.Before(p.TrackingTLS.listener), p.TrackingTLS.keeper.TLS())
				if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
					p.Logger.Error("the listener of tracking hosts has ended", telemetry.KeyError, err)
				}
			}()
			p.Logger.Info("tracking hosts are served", telemetry.KeyAddress, p.TrackingTLS.listener.Addr().String())
			return nil
		},
		OnStop: func(ctx context.Context) error {
			grace, cancel := context.WithTimeout(ctx, httpserver.StreamGrace)
			defer cancel()
			if err := s.Shutdown(grace); !errors.Is(err, context.DeadlineExceeded) {
				return err
			}
			return s.Close()
		},
	})
}
