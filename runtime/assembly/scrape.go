package assembly

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"

	"go.uber.org/fx"

	"github.com/postrider/postrider/runtime/config"
	"github.com/postrider/postrider/runtime/httpserver"
	"github.com/postrider/postrider/runtime/setting"
	"github.com/postrider/postrider/runtime/telemetry"
)

// metricsAddr is host:port; empty: metrics are for this machine.
var metricsAddr = setting.Declare(setting.Setting[string]{
	Name: "POSTRIDER_METRICS_ADDR", Group: "Telemetry", Form: setting.HostPort(), DefaultText: "nowhere; GET /metrics at POSTRIDER_HTTP_ADDR answers this machine", Check: config.NotPublic,
	Help: "Where to serve GET /metrics for scrapers on other machines, as 10.0.0.5:9464. Whoever reaches it may read.",
})

// serveMetrics serves GET /metrics, and nothing else, at POSTRIDER_METRICS_ADDR: for
// scrapers on other machines, in a network that is the operator's.
func (p edgeParams) serveMetrics() error {
	addr := metricsAddr.Of(p.Config)
	if addr == "" {
		return nil
	}
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", addr)
	if err != nil {
		return fmt.Errorf("POSTRIDER_METRICS_ADDR: cannot listen on %s: %w", addr, err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", telemetry.MetricsHandler(p.Registry, p.Logger))
	s := &http.Server{Handler: mux, ReadHeaderTimeout: httpserver.HeaderTimeout, IdleTimeout: httpserver.IdleTimeout, MaxHeaderBytes: httpserver.HeaderBytes,
		ErrorLog: slog.NewLogLogger(p.Logger.Handler(), slog.LevelDebug)}
	p.Lifecycle.Append(fx.Hook{
		OnStart: func(ctx context.Context) error {
			go func() {
				if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
					p.Logger.Error("the listener of metrics has ended", telemetry.KeyError, err)
				}
			}()
			p.Logger.InfoContext(ctx, "metrics are served", telemetry.KeyAddress, l.Addr().String())
			return nil
		},
		OnStop: func(context.Context) error {
			if err := l.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
				return err
			}
			return s.Close()
		},
	})
	return nil
}

func hookOf(s *httpserver.Server) fx.Hook { return fx.Hook{OnStart: s.Start, OnStop: s.Stop} }
