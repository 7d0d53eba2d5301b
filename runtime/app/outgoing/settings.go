package outgoing

import (
	"net/netip"

	"github.com/postrider/postrider/runtime/base/setting"
)

const chapter = "Delivery"

// MXPort is where receiving servers listen.
var MXPort = setting.Declare(setting.Setting[int]{
	Name: "POSTRIDER_MX_PORT", Group: chapter, Form: setting.Number(1, 65535), Default: 25,
	Help: "Port of receiving servers. Another one is for tests.",
})

// MXAllow is the addresses that receiving servers may have beside public ones.
var MXAllow = setting.Declare(setting.Setting[[]netip.Prefix]{
	Name: "POSTRIDER_MX_ALLOW", Group: chapter, Form: setting.Ranges(),
	Help: "Private address ranges that receiving servers may have, separated by commas.",
})

// LanesFile has the limits per mailbox provider; empty for the built-in ones.
var LanesFile = setting.Declare(setting.Setting[string]{
	Name: "POSTRIDER_LANES_FILE", Group: chapter, Form: setting.Text("PATH"),
	Help: "Limits per mailbox provider that replace or join the built-in ones, in the format of runtime/mail/lane/profiles.txt.",
})
