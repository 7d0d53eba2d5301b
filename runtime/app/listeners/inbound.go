package listeners

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"syscall"
	"time"

	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/inbound"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/mail/smtpserver"
	"github.com/postrider/postrider/runtime/ops/config"
	"github.com/postrider/postrider/runtime/ops/module"
)

// Inbound is where other mail servers come, for the addresses of the modules that
// take mail in. It is nil when none is on.
type Inbound struct {
	listener net.Listener
	server   *smtpserver.Server
	log      *slog.Logger
}

// inboundParams are what the modules that are on take in.
type inboundParams struct {
	fx.In

	Lifecycle fx.Lifecycle
	Config    setting.Values
	Kinds     []module.Recipients `group:"recipients"`
	TLS       *TLS
	Metrics   *smtpserver.Metrics
	Logger    *slog.Logger
}

const (
	// Whoever talks within it does not wait for the greeting, as no mail server does.
	greetPause = 100 * time.Millisecond
	// inboundGrace is how long a stop waits for messages that are under way.
	inboundGrace = 10 * time.Second
)

// NewInbound creates the listener; Fx starts and stops it.
func NewInbound(p inboundParams) (*Inbound, error) {
	handler, cfg, log := handlerOf(p.Kinds), p.Config, p.Logger
	if handler == nil {
		return nil, nil //nolint:nilnil // the zero value says that there is none
	}
	c := smtpserver.Config{Name: "inbound", Hostname: config.Hostname.Of(cfg), Handler: handler, Logger: log, Metrics: p.Metrics,
		MaxMessageBytes: inbound.MaxMessage, SMTPUTF8: true, ProxyTrusted: InboundProxies.Of(cfg), TLS: p.TLS.config}
	if cfg.Mode != setting.Dev {
		c.GreetPause = greetPause
	}
	s, err := smtpserver.New(c)
	if err != nil {
		return nil, err
	}
	in := &Inbound{server: s, log: log}
	in.listener, err = new(net.ListenConfig).Listen(context.Background(), "tcp", InboundAddr.Of(cfg))
	switch {
	case err == nil:
	case InboundAddr.Given(cfg):
		return nil, cannotListen(InboundAddr.Of(cfg), err)
	case cfg.Mode == setting.Dev: // another development server has the usual port
		if in.listener, err = new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0"); err != nil {
			return nil, cannotListen("127.0.0.1:0", err)
		}
	default:
		// Sending does not depend on it, and whoever has only just installed this may
		// not have the port yet.
		log.Error("no mail comes in: nothing is received, and bounces that come later and complaints are not seen", telemetry.KeyError, cannotListen(InboundAddr.Of(cfg), err))
		return in, nil
	}
	p.Lifecycle.Append(fx.Hook{OnStart: in.start, OnStop: in.stop})
	return in, nil
}

// cannotListen says what to do: port 25 is the one that others look for, and no
// ordinary process may take it.
func cannotListen(addr string, err error) error {
	advice := listenAdvice(err, "; or listen on another port, as POSTRIDER_INBOUND_ADDR=:2525, and forward port 25 to it", " with POSTRIDER_INBOUND_ADDR")
	return fmt.Errorf("POSTRIDER_INBOUND_ADDR: cannot listen on %s: %w%s (POSTRIDER_MODULES=-bounces,-inbound does without: bounces that come later are not seen then, and nothing is received)", addr, err, advice)
}

// listenAdvice says what to do where a port for mail cannot be had, and what else there
// is to do in either case.
func listenAdvice(err error, privileged, taken string) string {
	switch {
	case errors.Is(err, syscall.EACCES), errors.Is(err, fs.ErrPermission):
		return ": ports below 1024 need the capability CAP_NET_BIND_SERVICE (systemd: AmbientCapabilities=CAP_NET_BIND_SERVICE)" + privileged
	case errors.Is(err, syscall.EADDRINUSE):
		return ": another mail server runs on this machine; stop it, or give Postrider another address" + taken
	default:
		return ""
	}
}

// Addr is where it listens.
func (in *Inbound) Addr() string { return in.listener.Addr().String() }

func (in *Inbound) start(ctx context.Context) error {
	go func() {
		if err := in.server.Serve(in.listener); err != nil {
			in.log.Error("the listener for inbound mail has ended", telemetry.KeyError, err)
		}
	}()
	in.log.InfoContext(ctx, "inbound mail is received", telemetry.KeyAddress, in.listener.Addr().String())
	return nil
}

func (in *Inbound) stop(ctx context.Context) error {
	grace, cancel := context.WithTimeout(ctx, inboundGrace)
	defer cancel()
	err := in.server.Stop(grace)
	if errors.Is(err, context.DeadlineExceeded) {
		in.log.WarnContext(ctx, "messages that were under way were cut; their senders come again", telemetry.KeyError, err)
		err = nil
	}
	return err
}
