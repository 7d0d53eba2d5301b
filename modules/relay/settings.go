package relay

import (
	"net/netip"

	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/ops/config"
)

const chapter = "Relay"

// Addr is the address for SMTP submission with STARTTLS; port 0 picks a free port.
var Addr = setting.Declare(setting.Setting[string]{
	Name: "POSTRIDER_RELAY_ADDR", Group: chapter, Form: setting.HostPort(),
	DefaultText: ":587; 127.0.0.1:2587 in development",
	Help:        "Address for SMTP submission with STARTTLS. Port 0 means any free port.",
	From:        config.SMTPAddr("587", "2587"), Check: config.NotPublic,
})

// TLSAddr is the address for SMTP submission with implicit TLS.
var TLSAddr = setting.Declare(setting.Setting[string]{
	Name: "POSTRIDER_RELAY_TLS_ADDR", Group: chapter, Form: setting.HostPort(),
	DefaultText: ":465; 127.0.0.1:2465 in development",
	Help:        "Address for SMTP submission with TLS from the first byte.",
	From:        config.SMTPAddr("465", "2465"), Check: config.NotPublic,
})

// Proxies must speak the PROXY protocol.
var Proxies = setting.Declare(setting.Setting[[]netip.Prefix]{
	Name: "POSTRIDER_RELAY_PROXIES", Group: chapter, Form: setting.Ranges(),
	Help: "Address ranges of proxies in front of both addresses, separated by commas. They must use the PROXY " +
		"protocol.",
})
