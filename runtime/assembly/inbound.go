package assembly

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

	"github.com/postrider/postrider/modules/bounces"
	"github.com/postrider/postrider/modules/inbound"
	"github.com/postrider/postrider/runtime/config"
	"github.com/postrider/postrider/runtime/mail/smtpserver"
	"github.com/postrider/postrider/runtime/telemetry"
)

// bouncesEdges let mail servers in.
var bouncesEdges = fx.Invoke(func(*inboundListener) {})

// inboundListener is where other mail servers come, for reports to return paths and
// for addresses that receive, as far as these modules are on. It is nil when neither is.
type inboundListener struct {
	listener net.Listener
	server   *smtpserver.Server
	log      *slog.Logger
}

// inboundParams are the modules that take mail in.
type inboundParams struct {
	fx.In

	Lifecycle fx.Lifecycle
	Config    config.Config
	Bounces   *bounces.Service `optional:"true"`
	Received  *inbound.Service `optional:"true"`
	TLS       *smtpTLS
	Metrics   *smtpserver.Metrics
	Logger    *slog.Logger
}

// handler is nil when nobody takes mail in.
func (p inboundParams) handler() smtpserver.Handler {
	switch {
	case p.Bounces != nil && p.Received != nil:
		return inboundHandler{reports: p.Bounces.Listening(), received: p.Received.Listening()}
	case p.Bounces != nil:
		return p.Bounces.Listening()
	case p.Received != nil:
		return p.Received.Listening()
	}
	return nil
}

const (
	// Whoever talks within it does not wait for the greeting, as no mail server does.
	greetPause = 100 * time.Millisecond
	// inboundGrace is how long a stop waits for messages that are under way.
	inboundGrace = 10 * time.Second
)

func newInbound(p inboundParams) (*inboundListener, error) {
	handler, cfg, log := p.handler(), p.Config, p.Logger
	if handler == nil {
		return nil, nil //nolint:nilnil // the zero value says that there is none
	}
	c := smtpserver.Config{Name: "inbound", Hostname: cfg.Mail.Hostname, Handler: handler, Logger: log, Metrics: p.Metrics,
		MaxMessageBytes: inbound.MaxMessage, SMTPUTF8: true, ProxyTrusted: cfg.Mail.InboundProxies, TLS: p.TLS.config}
	if cfg.Mode != config.Dev {
		c.GreetPause = greetPause
	}
	s, err := smtpserver.New(c)
	if err != nil {
		return nil, err
	}
	in := &inboundListener{server: s, log: log}
	in.listener, err = new(net.ListenConfig).Listen(context.Background(), "tcp", cfg.Mail.InboundAddr)
	switch {
	case err == nil:
	case cfg.Mail.InboundGiven:
		return nil, cannotListen(cfg.Mail.InboundAddr, err)
	case cfg.Mode == config.Dev: // another development server has the usual port
		if in.listener, err = new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0"); err != nil {
			return nil, cannotListen("127.0.0.1:0", err)
		}
	default:
		// Sending does not depend on it, and whoever has only just installed this may
		// not have the port yet.
		log.Error("no mail comes in: nothing is received, and bounces that come later and complaints are not seen", telemetry.KeyError, cannotListen(cfg.Mail.InboundAddr, err))
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

func (in *inboundListener) start(ctx context.Context) error {
	go func() {
		if err := in.server.Serve(in.listener); err != nil {
			in.log.Error("the listener for inbound mail has ended", telemetry.KeyError, err)
		}
	}()
	in.log.InfoContext(ctx, "inbound mail is received", telemetry.KeyAddress, in.listener.Addr().String())
	return nil
}

func (in *inboundListener) stop(ctx context.Context) error {
	grace, cancel := context.WithTimeout(ctx, inboundGrace)
	defer cancel()
	err := in.server.Stop(grace)
	if errors.Is(err, context.DeadlineExceeded) {
		in.log.WarnContext(ctx, "messages that were under way were cut; their senders come again", telemetry.KeyError, err)
		err = nil
	}
	return err
}
