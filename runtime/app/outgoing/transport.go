package outgoing

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/devinbox"
	"github.com/postrider/postrider/modules/outbound"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/mail/dnsx"
	"github.com/postrider/postrider/runtime/mail/lane"
	"github.com/postrider/postrider/runtime/mail/mtasts"
	"github.com/postrider/postrider/runtime/mail/smtpclient"
	"github.com/postrider/postrider/runtime/ops/config"
	"github.com/postrider/postrider/runtime/web/egress"
)

// transportParams determine where mail is sent.
type transportParams struct {
	fx.In

	Lifecycle fx.Lifecycle
	Config    setting.Values
	Resolver  *dnsx.Resolver
	Guard     *egress.Guard
	Inbox     *devinbox.Service     `optional:"true"`
	Recorder  *outbound.TLSRecorder `optional:"true"`
	Ways      *outbound.Ways        `optional:"true"`
	Registry  prometheus.Registerer
	Logger    *slog.Logger
}

var errNoInbox = errors.New("POSTRIDER_OUTBOUND: capture requires the module devinbox: enable it, or set another transport (mx, smtp://…)")

// NewTransport creates the transport and the lanes that limit the traffic to each destination.
func NewTransport(p transportParams) (*smtpclient.Transport, *lane.Registry, error) {
	c, err := p.config()
	if err != nil {
		return nil, nil, err
	}
	if c.Lanes, err = p.lanes(c.Smarthost); err != nil {
		return nil, nil, err
	}
	t, err := smtpclient.New(c)
	if err != nil {
		return nil, nil, err
	}
	p.Lifecycle.Append(fx.StopHook(func(context.Context) error { t.Close(); return nil }))
	return t, c.Lanes, nil
}

func (p transportParams) lanes(smarthost *smtpclient.Smarthost) (*lane.Registry, error) {
	var among func(string) int
	if p.Ways != nil {
		among = p.Ways.CountSharing
	}
	return newLanes(LanesFile.Get(p.Config), config.DeliveryConcurrency.Get(p.Config), smarthost, among, p.Registry)
}

func (p transportParams) config() (smtpclient.Config, error) {
	out := outbound.MainExit.Get(p.Config)
	c := smtpclient.Config{Hostname: config.Hostname.Get(p.Config), Resolver: p.Resolver, Control: p.Guard.Control,
		MXPort: MXPort.Get(p.Config), Logger: p.Logger}
	switch {
	case out.How == outbound.Smarthost:
		c.Smarthost = &smtpclient.Smarthost{Host: out.Host, Port: out.Port, Implicit: out.ImplicitTLS,
			Username: out.Username, Password: out.Password.Reveal()}
	case out.How == outbound.Capture && (p.Inbox == nil || !p.Inbox.IsOpen()):
		return c, errNoInbox
	case out.How == outbound.Capture:
		var err error
		if c.Smarthost, err = smtpclient.ParseSmarthost("smtp://" + p.Inbox.Addr()); err != nil {
			return c, err
		}
		c.Smarthost.InProcess = true
	default:
		policies, err := p.policies()
		if err != nil {
			return c, err
		}
		c.STS, c.Reports = policies, combinedReporter(newTLSReports(p.Registry), p.Recorder)
	}
	return c, nil
}

// policies creates the finder of MTA-STS policies. The recipient's domain names the HTTPS host to contact,
// so the guard of mail hosts applies to it too.
func (p transportParams) policies() (*mtasts.Finder, error) {
	return mtasts.New(mtasts.Config{Resolver: p.Resolver, Logger: p.Logger,
		Client: egress.NewClient(egress.ClientConfig{Guard: p.Guard, Lookup: p.Resolver.LookupIP})})
}

// tlsReports counts TLS results as in TLS-RPT (RFC 8460), but without receiver names, whose number is
// unbounded.
type tlsReports struct{ sessions *prometheus.CounterVec }

func newTLSReports(reg prometheus.Registerer) tlsReports {
	r := tlsReports{prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "postrider_smtp_tls_sessions_total",
		Help: "Sessions with mail hosts by TLS policy (opportunistic, enforced, mta-sts, dane) and result: success, or a failure type of RFC 8460 section 4.3. Failures under a policy in testing mode were still delivered.",
	}, []string{"policy", "testing", "result"})}
	reg.MustRegister(r.sessions)
	return r
}

// Report counts one session, or one policy that could not be fetched.
func (r tlsReports) Report(report smtpclient.TLSReport) {
	r.sessions.WithLabelValues(string(report.Policy), strconv.FormatBool(report.Testing),
		cmp.Or(report.Result, "success")).Inc()
}
