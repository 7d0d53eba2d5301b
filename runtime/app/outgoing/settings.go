package outgoing

import (
	"net/netip"

	"github.com/postrider/postrider/runtime/base/setting"
)

const chapter = "Delivery"

// MXPort is the port of receiving servers.
var MXPort = setting.Declare(setting.Setting[int]{
	Name: "POSTRIDER_MX_PORT", Group: chapter, Form: setting.Number(1, 65535), Default: 25,
	Help: "Port of receiving servers. Other values are for tests.",
})

// MXAllow lists the private address ranges that receiving servers may have in addition to public addresses.
var MXAllow = setting.Declare(setting.Setting[[]netip.Prefix]{
	Name: "POSTRIDER_MX_ALLOW", Group: chapter, Form: setting.Ranges(),
	Help: "Private address ranges where receiving servers are allowed, separated by commas.",
})

// LanesFile contains the limits per mailbox provider. If empty, the built-in limits apply.
var LanesFile = setting.Declare(setting.Setting[string]{
	Name: "POSTRIDER_LANES_FILE", Group: chapter, Form: setting.Text("PATH"),
	Help: "File with limits per mailbox provider that replace or extend the built-in ones, in the format of runtime/mail/lane/profiles.txt.",
})
