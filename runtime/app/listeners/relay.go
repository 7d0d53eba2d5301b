package listeners

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"

	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/relay"
	"github.com/postrider/postrider/modules/sending"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/mail/smtpserver"
	"github.com/postrider/postrider/runtime/ops/config"
)

// relayPerAddress is the maximum number of connections of one address. It is enough for the connection pools of a few
// servers that share an address.
const relayPerAddress = 100

// RelaySockets are the listeners for SMTP clients; nil if there are none.
type RelaySockets struct {
	StartTLS, Implicit net.Listener
}

// NewRelaySockets creates the listeners. Without a certificate it creates none.
func NewRelaySockets(cfg setting.Values, t *TLS, log *slog.Logger) (*RelaySockets, error) {
	if t.config == nil {
		if relay.Addr.IsSet(cfg) || relay.TLSAddr.IsSet(cfg) {
			return nil, fmt.Errorf("the SMTP relay has %s", t.missing)
		}
		log.Error("SMTP relay disabled: " + t.missing + "; or switch it off with POSTRIDER_MODULES=-relay")
		return &RelaySockets{}, nil
	}
	var s RelaySockets
	var wrong error
	for _, place := range []struct {
		setting *setting.Setting[string]
		into    *net.Listener
	}{{relay.Addr, &s.StartTLS}, {relay.TLSAddr, &s.Implicit}} {
		addr, given := place.setting.Get(cfg), place.setting.IsSet(cfg)
		l, err := relaySocket(cfg.Mode, addr, given)
		switch {
		case err == nil:
			*place.into = l
		case given || cfg.Mode == setting.Dev:
			wrong = errors.Join(wrong, fmt.Errorf("%s: %w", place.setting.Name, cannotRelay(addr, err)))
		default: // a new installation may not have permission for the ports yet
			log.Error("cannot listen for the SMTP relay", "setting", place.setting.Name, telemetry.KeyError,
				cannotRelay(addr, err))
		}
	}
	if wrong != nil {
		s.close(log)
		return nil, wrong
	}
	return &s, nil
}

func relaySocket(mode setting.Mode, addr string, given bool) (net.Listener, error) {
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", addr)
	if err != nil && mode == setting.Dev && !given { // another development server uses the default port
		return new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	}
	return l, err
}

func (s *RelaySockets) close(log *slog.Logger) {
	for _, l := range []net.Listener{s.StartTLS, s.Implicit} {
		if l != nil {
			if err := l.Close(); err != nil {
				log.Warn("close listener", telemetry.KeyError, err)
			}
		}
	}
}

func cannotRelay(addr string, err error) error {
	return fmt.Errorf("cannot listen on %s: %w%s", addr, err, listenAdvice(err, "", ""))
}

// RelayConfig records where clients connect: in development to this machine, otherwise to the configured
// name, at the port of the listener, or at the standard port behind a proxy.
func RelayConfig(cfg setting.Values, s *RelaySockets) relay.Config {
	c := relay.Config{Host: config.SMTPHost.Get(cfg), Port: 587, TLS: "starttls"}
	l := s.StartTLS
	if l == nil && s.Implicit != nil {
		l, c.Port, c.TLS = s.Implicit, 465, "implicit"
	}
	if l != nil && len(relay.Proxies.Get(cfg)) == 0 {
		c.Port = l.Addr().(*net.TCPAddr).Port
	}
	if cfg.Mode == setting.Dev {
		c.Host = "127.0.0.1"
	}
	return c
}

// RelayServers serve the listeners.
type RelayServers struct {
	sockets *RelaySockets
	servers map[net.Listener]*smtpserver.Server
	log     *slog.Logger
}

type relayParams struct {
	fx.In

	Lifecycle fx.Lifecycle
	Config    setting.Values
	Sockets   *RelaySockets
	TLS       *TLS
	Service   *relay.Service
	Metrics   *smtpserver.Metrics
	Logger    *slog.Logger
}

// NewRelayServers creates the servers of the listeners; Fx starts and stops them.
func NewRelayServers(p relayParams) (*RelayServers, error) {
	r := &RelayServers{sockets: p.Sockets, servers: map[net.Listener]*smtpserver.Server{}, log: p.Logger}
	for l, implicit := range map[net.Listener]bool{p.Sockets.StartTLS: false, p.Sockets.Implicit: true} {
		if l == nil {
			continue
		}
		s, err := smtpserver.New(smtpserver.Config{Name: "relay", Hostname: config.Hostname.Get(p.Config),
			Handler: p.Service.ListenerHandler(), Logger: p.Logger,
			Metrics: p.Metrics, MaxMessageBytes: relay.MaxMessage, MaxRecipients: sending.MaxRecipients,
			PerAddress: relayPerAddress,
			TLS:        relayTLS(p.TLS.config), ImplicitTLS: implicit, SMTPUTF8: true,
			ProxyTrusted: relay.Proxies.Get(p.Config)})
		if err != nil {
			return nil, err
		}
		r.servers[l] = s
	}
	p.Lifecycle.Append(fx.Hook{OnStart: r.start, OnStop: r.stop})
	return r, nil
}

// relayTLS returns the common configuration with TLS 1.2 as the minimum, because clients send passwords (RFC
// 8314 section 4.1), even if the common configuration later allows less.
func relayTLS(common *tls.Config) *tls.Config {
	c := common.Clone()
	c.MinVersion = max(c.MinVersion, tls.VersionTLS12)
	return c
}

func (r *RelayServers) start(ctx context.Context) error {
	for l, s := range r.servers {
		go func() {
			if err := s.Serve(l); err != nil {
				r.log.Error("listener of the SMTP relay failed", telemetry.KeyAddress, l.Addr().String(),
					telemetry.KeyError, err)
			}
		}()
		r.log.InfoContext(ctx, "SMTP relay listening", telemetry.KeyAddress, l.Addr().String(), "implicit_tls",
			l == r.sockets.Implicit)
	}
	return nil
}

// stop drains both concurrently.
func (r *RelayServers) stop(ctx context.Context) error {
	grace, cancel := context.WithTimeout(ctx, inboundGrace)
	defer cancel()
	ended := make(chan error, len(r.servers))
	for _, s := range r.servers {
		go func() { ended <- s.Stop(grace) }()
	}
	var err error
	for range r.servers {
		one := <-ended
		if errors.Is(one, context.DeadlineExceeded) {
			r.log.WarnContext(ctx, "messages in progress were cut off; their senders received no reply and will retry",
				telemetry.KeyError, one)
			one = nil
		}
		err = errors.Join(err, one)
	}
	return err
}
