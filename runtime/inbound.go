package runtime

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
	"github.com/postrider/postrider/runtime/config"
	"github.com/postrider/postrider/runtime/mail/smtpserver"
	"github.com/postrider/postrider/runtime/telemetry"
)

// bouncesEdges let mail servers in. The listener takes reports to return paths and
// nothing else.
var bouncesEdges = fx.Options(fx.Provide(newInbound), fx.Invoke(func(*inbound) {}))

// inbound is the listener that other mail servers come to.
type inbound struct {
	listener net.Listener
	server   *smtpserver.Server
	log      *slog.Logger
}

const (
	// A report with the whole message that it is about is hardly larger.
	inboundMessage = 32 << 20
	// Whoever talks within it does not wait for the greeting, as no mail server does.
	greetPause = 100 * time.Millisecond
	// inboundGrace is how long a stop waits for messages that are under way.
	inboundGrace = 10 * time.Second
)

func newInbound(lc fx.Lifecycle, cfg config.Config, b *bounces.Service, m *smtpserver.Metrics, log *slog.Logger) (*inbound, error) {
	c := smtpserver.Config{Name: "inbound", Hostname: cfg.Mail.Hostname, Handler: b.Listening(), Logger: log, Metrics: m,
		MaxMessageBytes: inboundMessage, SMTPUTF8: true, ProxyTrusted: cfg.Mail.InboundProxies}
	if cfg.Mode != config.Dev {
		c.GreetPause = greetPause
	}
	s, err := smtpserver.New(c)
	if err != nil {
		return nil, err
	}
	in := &inbound{server: s, log: log}
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
		log.Error("no mail comes in: bounces that come later and complaints are not seen", telemetry.KeyError, cannotListen(cfg.Mail.InboundAddr, err))
		return in, nil
	}
	lc.Append(fx.Hook{OnStart: in.start, OnStop: in.stop})
	return in, nil
}

// cannotListen says what to do: port 25 is the one that others look for, and no
// ordinary process may take it.
func cannotListen(addr string, err error) error {
	advice := ""
	switch {
	case errors.Is(err, syscall.EACCES), errors.Is(err, fs.ErrPermission):
		advice = ": ports below 1024 need the capability CAP_NET_BIND_SERVICE (systemd: AmbientCapabilities=CAP_NET_BIND_SERVICE); " +
			"or listen on another port, as POSTRIDER_INBOUND_ADDR=:2525, and forward port 25 to it"
	case errors.Is(err, syscall.EADDRINUSE):
		advice = ": another mail server runs on this machine; stop it, or give Postrider another address with POSTRIDER_INBOUND_ADDR"
	}
	return fmt.Errorf("POSTRIDER_INBOUND_ADDR: cannot listen on %s: %w%s (POSTRIDER_MODULES=-bounces does without: bounces that come later are not seen then)", addr, err, advice)
}

func (in *inbound) start(ctx context.Context) error {
	go func() {
		if err := in.server.Serve(in.listener); err != nil {
			in.log.Error("the listener for inbound mail has ended", telemetry.KeyError, err)
		}
	}()
	in.log.InfoContext(ctx, "inbound mail is received", telemetry.KeyAddress, in.listener.Addr().String())
	return nil
}

func (in *inbound) stop(ctx context.Context) error {
	grace, cancel := context.WithTimeout(ctx, inboundGrace)
	defer cancel()
	err := in.server.Stop(grace)
	if errors.Is(err, context.DeadlineExceeded) {
		in.log.WarnContext(ctx, "messages that were under way were cut; their senders come again", telemetry.KeyError, err)
		err = nil
	}
	return err
}
