package runtime

import (
	"context"
	"errors"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/devinbox"
	"github.com/postrider/postrider/runtime/bus"
	"github.com/postrider/postrider/runtime/config"
	"github.com/postrider/postrider/runtime/db"
	"github.com/postrider/postrider/runtime/egress"
	"github.com/postrider/postrider/runtime/mail/dnsx"
	"github.com/postrider/postrider/runtime/mail/smtpclient"
)

func newBus(lc fx.Lifecycle, d *db.DB, signals *db.Signals, reg prometheus.Registerer, log *slog.Logger) *bus.Bus {
	b := bus.New(d, log, bus.Options{Signals: signals, Registerer: reg})
	lc.Append(fx.StartStopHook(b.Start, b.Stop))
	return b
}

// transportParams decide where mail goes.
type transportParams struct {
	fx.In

	Lifecycle fx.Lifecycle
	Config    config.Config
	Resolver  *dnsx.Resolver
	Guard     *egress.Guard
	Inbox     *devinbox.Service `optional:"true"`
	Logger    *slog.Logger
}

var errNoInbox = errors.New("POSTRIDER_OUTBOUND: capture needs the module devinbox: switch it on, or say where mail goes (mx, smtp://…)")

func newTransport(p transportParams) (*smtpclient.Transport, error) {
	out := p.Config.Mail.Outbound
	c := smtpclient.Config{Hostname: p.Config.Mail.Hostname, Resolver: p.Resolver, Control: p.Guard.Control,
		MXPort: p.Config.Mail.MXPort, ConnectionsPerRoute: max(1, p.Config.Mail.Concurrency), Logger: p.Logger}
	switch {
	case out.How == config.Smarthost:
		c.Smarthost = &smtpclient.Smarthost{Host: out.Host, Port: out.Port, Implicit: out.ImplicitTLS,
			Username: out.Username, Password: out.Password.Reveal()}
	case out.How == config.Capture && p.Inbox == nil:
		return nil, errNoInbox
	case out.How == config.Capture:
		var err error
		if c.Smarthost, err = smtpclient.ParseSmarthost("smtp://" + p.Inbox.Addr()); err != nil {
			return nil, err
		}
	}
	t, err := smtpclient.New(c)
	if err != nil {
		return nil, err
	}
	p.Lifecycle.Append(fx.StopHook(func(context.Context) error { t.Close(); return nil }))
	return t, nil
}
