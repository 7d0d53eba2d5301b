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

// Inbound is the listener for other mail servers, for the addresses of modules that receive mail. It is nil
// if none is enabled.
type Inbound struct {
	listener net.Listener
	server   *smtpserver.Server
	log      *slog.Logger
}

// inboundParams are the handlers of the enabled modules.
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
	// Mail servers wait for the greeting, so a client that talks within this time is not one.
	greetPause = 100 * time.Millisecond
	// inboundGrace is how long a stop waits for messages in progress.
	inboundGrace = 10 * time.Second
)

// NewInbound creates the listener; Fx starts and stops it.
func NewInbound(p inboundParams) (*Inbound, error) {
	handler, cfg, log := handlerOf(p.Kinds), p.Config, p.Logger
	if handler == nil {
		return nil, nil //nolint:nilnil // nil is valid: no listener
	}
	c := smtpserver.Config{Name: "inbound", Hostname: config.Hostname.Get(cfg), Handler: handler, Logger: log,
		Metrics:         p.Metrics,
		MaxMessageBytes: inbound.MaxMessage, SMTPUTF8: true, ProxyTrusted: InboundProxies.Get(cfg), TLS: p.TLS.config}
	if cfg.Mode != setting.Dev {
		c.GreetPause = greetPause
	}
	s, err := smtpserver.New(c)
	if err != nil {
		return nil, err
	}
	in := &Inbound{server: s, log: log}
	in.listener, err = new(net.ListenConfig).Listen(context.Background(), "tcp", InboundAddr.Get(cfg))
	switch {
	case err == nil:
	case InboundAddr.IsSet(cfg):
		return nil, cannotListen(InboundAddr.Get(cfg), err)
	case cfg.Mode == setting.Dev: // another development server uses the default port
		if in.listener, err = new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0"); err != nil {
			return nil, cannotListen("127.0.0.1:0", err)
		}
	default:
		// Sending does not depend on it, and a new installation may not have permission for the port yet.
		log.Error("cannot receive mail: inbound mail, delayed bounces and complaints are not processed",
			telemetry.KeyError, cannotListen(InboundAddr.Get(cfg), err))
		return in, nil
	}
	p.Lifecycle.Append(fx.Hook{OnStart: in.start, OnStop: in.stop})
	return in, nil
}

// cannotListen returns an error with advice: other servers deliver to port 25 only, and an unprivileged
// process cannot listen on it.
func cannotListen(addr string, err error) error {
	advice := listenAdvice(err,
		"; or listen on another port, for example POSTRIDER_INBOUND_ADDR=:2525, and forward port 25 to it",
		" with POSTRIDER_INBOUND_ADDR")
	return fmt.Errorf("POSTRIDER_INBOUND_ADDR: cannot listen on %s: %w%s (POSTRIDER_MODULES=-bounces,-inbound disables this listener: delayed bounces are not processed then, and no mail is received)", addr, err, advice)
}

// listenAdvice returns advice for a mail port that cannot be used. privileged and taken are appended for the
// two known causes.
func listenAdvice(err error, privileged, taken string) string {
	switch {
	case errors.Is(err, syscall.EACCES), errors.Is(err, fs.ErrPermission):
		return ": ports below 1024 need the capability CAP_NET_BIND_SERVICE (systemd: AmbientCapabilities=CAP_NET_BIND_SERVICE)" + privileged
	case errors.Is(err, syscall.EADDRINUSE):
		return ": another mail server is running on this machine; stop it, or configure another address" + taken
	default:
		return ""
	}
}

// Addr returns the address of the listener, or "" if it could not listen.
func (in *Inbound) Addr() string {
	if in == nil || in.listener == nil {
		return ""
	}
	return in.listener.Addr().String()
}

func (in *Inbound) start(ctx context.Context) error {
	go func() {
		if err := in.server.Serve(in.listener); err != nil {
			in.log.Error("listener for inbound mail failed", telemetry.KeyError, err)
		}
	}()
	in.log.InfoContext(ctx, "receiving inbound mail", telemetry.KeyAddress, in.listener.Addr().String())
	return nil
}

func (in *Inbound) stop(ctx context.Context) error {
	grace, cancel := context.WithTimeout(ctx, inboundGrace)
	defer cancel()
	err := in.server.Stop(grace)
	if errors.Is(err, context.DeadlineExceeded) {
		in.log.WarnContext(ctx, "messages in progress were cut off; their senders will retry", telemetry.KeyError, err)
		err = nil
	}
	return err
}
