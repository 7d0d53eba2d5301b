package assembly

import (
	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/outbound"
	"github.com/postrider/postrider/runtime/config"
	"github.com/postrider/postrider/runtime/mail/smtpclient"
)

func outboundConfig(cfg config.Config) outbound.Config {
	c := outbound.Config{Captured: cfg.Mail.Outbound.How == config.Capture, Relayed: cfg.Mail.Outbound.How == config.Smarthost}
	if cfg.Mail.Fallback.How == config.Smarthost {
		c.Fallback = smarthostOf(cfg.Mail.Fallback)
	}
	return c
}

func smarthostOf(o config.Outbound) *smtpclient.Smarthost {
	return &smtpclient.Smarthost{Host: o.Host, Port: o.Port, Implicit: o.ImplicitTLS, Username: o.Username, Password: o.Password.Reveal()}
}

// outboundEdges are what outbound gives to parts that stand in for all modules.
var outboundEdges = fx.Provide(fx.Annotate(func(s *outbound.Service) sweep {
	return sweep{what: "counters of sources and TLS sessions", run: s.Sweep}
}, fx.ResultTags(`group:"sweeps"`)))

// recordedToo has sessions counted twice: for the operator's metrics without names,
// and for reports with them.
func recordedToo(counter smtpclient.TLSReports, recorder *outbound.TLSRecorder) smtpclient.TLSReports {
	if recorder == nil {
		return counter
	}
	return bothReports{counter, recorder}
}

type bothReports [2]smtpclient.TLSReports

// Report tells both.
func (b bothReports) Report(r smtpclient.TLSReport) {
	b[0].Report(r)
	b[1].Report(r)
}
