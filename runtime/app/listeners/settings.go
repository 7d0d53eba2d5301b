package listeners

import (
	"errors"
	"net/netip"

	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/ops/config"
)

const (
	inboundChapter = "Received mail"
	tlsChapter     = "Relay"
)

// InboundAddr is where other mail servers connect; port 0 is any free port.
var InboundAddr = setting.Declare(setting.Setting[string]{
	Name: "POSTRIDER_INBOUND_ADDR", Group: inboundChapter, Form: setting.HostPort(),
	DefaultText: ":25; 127.0.0.1:2525 in development",
	Help:        "Listener for other mail servers: mail to receiving domains, and reports to our return paths. Port 0 is any free port.",
	From:        config.SMTPAddr("25", "2525"), Check: config.NotPublic,
})

// InboundProxies must use the PROXY protocol.
var InboundProxies = setting.Declare(setting.Setting[[]netip.Prefix]{
	Name: "POSTRIDER_INBOUND_PROXIES", Group: inboundChapter, Form: setting.Ranges(),
	Help: "Address ranges of proxies in front of it, separated by commas. They must use the PROXY protocol.",
})

// CertFile and KeyFile are for all SMTP listeners. Both are empty if the certificate comes from an ACME
// authority, or is self-signed in development mode.
var (
	CertFile = setting.Declare(setting.Setting[string]{
		Name: "POSTRIDER_SMTP_TLS_CERT", Group: tlsChapter, Form: setting.Text("FILE"),
		DefaultText: "from the ACME authority that serves tracking hosts; self-signed in development",
		Help:        "PEM file with the certificate chain of all SMTP listeners, reloaded when it changes.",
		Check: func(v setting.Values, file string) error {
			if (file == "") != (KeyFile.Get(v) == "") {
				return errors.New("must be set together with POSTRIDER_SMTP_TLS_KEY")
			}
			return nil
		},
	})
	KeyFile = setting.Declare(setting.Setting[string]{
		Name: "POSTRIDER_SMTP_TLS_KEY", Group: tlsChapter, Form: setting.Text("FILE"),
		Help: "PEM file with its private key.",
	})
)
