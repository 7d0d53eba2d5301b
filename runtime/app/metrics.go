package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"

	"go.uber.org/fx"

	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/ops/config"
	"github.com/postrider/postrider/runtime/web/clientip"
	"github.com/postrider/postrider/runtime/web/server"
)

// isBehindProxy reports whether a proxy or similar in front of this process forwards requests for the base URL: no
// listener of this process has its port. A proxy on this machine makes its requests look local.
func (p edgeParams) isBehindProxy(plain net.Listener) bool {
	base, err := url.Parse(config.BaseURL.Get(p.Config))
	if err != nil {
		return true
	}
	own, port := plain, "80"
	if base.Scheme == "https" {
		own, port = p.Secured.https, "443"
	}
	if base.Port() != "" {
		port = base.Port()
	}
	if own == nil {
		return true
	}
	addr, is := own.Addr().(*net.TCPAddr)
	return !is || strconv.Itoa(addr.Port) != port
}

// metrics serves GET /metrics to this machine only, under its own names, because metrics are confidential.
// Behind a proxy it redirects to a listener on the loopback interface: Prometheus follows, while a remote
// client is redirected to its own machine.
func (p edgeParams) metrics(local *localMetrics) http.Handler {
	serve := telemetry.MetricsHandler(p.Registry, p.Logger)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !clientip.IsDirectLocalRequest(r):
			http.Error(w,
				"Metrics are served to this machine only. Request them at 127.0.0.1 without a proxy, or set POSTRIDER_METRICS_ADDR.", http.StatusForbidden)
		case local == nil:
			serve.ServeHTTP(w, r)
		case local.address == "":
			http.Error(w, "Metrics are served at POSTRIDER_METRICS_ADDR.", http.StatusForbidden)
		default:
			http.Redirect(w, r, "http://"+local.address+"/metrics", http.StatusTemporaryRedirect)
		}
	})
}

// localMetrics is the address where metrics are served to this machine instead of the main listener. An empty address
// means that they are served at POSTRIDER_METRICS_ADDR.
type localMetrics struct{ address string }

// metricsAddr is host:port; if empty, metrics are served to this machine only.
var metricsAddr = setting.Declare(setting.Setting[string]{
	Name: "POSTRIDER_METRICS_ADDR", Group: "Telemetry", Form: setting.HostPort(),
	DefaultText: "none; GET /metrics at POSTRIDER_HTTP_ADDR serves this machine only", Check: config.NotPublic,
	Help: "Where to serve GET /metrics for scrapers on other machines, for example 10.0.0.5:9464. It requires no authentication.",
})

// serveMetrics serves GET /metrics, and nothing else, at POSTRIDER_METRICS_ADDR: for scrapers on other
// machines in the operator's private network. Without the setting and behind a proxy, it serves them at a
// port of the loopback interface, for this machine. It returns nil if the main listener may serve them.
func (p edgeParams) serveMetrics(fronted bool) (*localMetrics, error) {
	handler := telemetry.MetricsHandler(p.Registry, p.Logger)
	if addr := metricsAddr.Get(p.Config); addr != "" {
		if _, err := p.listenForScrapers(addr, handler); err != nil {
			return nil, fmt.Errorf("POSTRIDER_METRICS_ADDR: cannot listen on %s: %w", addr, err)
		}
		if fronted {
			return &localMetrics{}, nil
		}
		return nil, nil
	}
	if !fronted {
		return nil, nil
	}
	address, err := p.listenForScrapers("127.0.0.1:0", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !clientip.IsDirectLocalRequest(r) { // DNS rebinding from a malicious page
			http.Error(w, "Metrics are served to this machine only.", http.StatusForbidden)
			return
		}
		handler.ServeHTTP(w, r)
	}))
	if err != nil {
		return nil, fmt.Errorf("metrics: cannot listen on the loopback interface: %w", err)
	}
	return &localMetrics{address}, nil
}

func (p edgeParams) listenForScrapers(addr string, handler http.Handler) (string, error) {
	l, err := server.ListenTCP(context.Background(), addr)
	if err != nil {
		return "", err
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", handler)
	s := server.New(server.Params{Listener: l, Handler: mux, Budget: p.Budget, Logger: p.Logger,
		Fail: func(err error) { p.Logger.Error("metrics listener failed", telemetry.KeyError, err) }})
	p.Lifecycle.Append(fx.Hook{OnStart: s.Start, OnStop: func(context.Context) error {
		// The server first: it closes the listener itself, and expects no other end of it.
		err := s.Close()
		if closeErr := l.Close(); closeErr != nil && !errors.Is(closeErr, net.ErrClosed) { // if it was never served
			err = errors.Join(err, closeErr)
		}
		return err
	}})
	p.Logger.Info("serving metrics", telemetry.KeyAddress, l.Addr().String())
	return l.Addr().String(), nil
}
