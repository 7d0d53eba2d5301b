package egress

import (
	"net/netip"

	"github.com/postrider/postrider/runtime/base/setting"
)

// Allow lists the ranges that webhook endpoints and automation calls may use in addition to public
// addresses. In development, receivers run on the same machine.
var Allow = setting.Declare(setting.Setting[[]netip.Prefix]{
	Name: "POSTRIDER_WEBHOOK_ALLOW", Group: "Webhooks", Form: setting.Ranges(),
	DefaultText: "none; this machine in development",
	Help: "Address ranges that webhook endpoints and URLs in automations may use in addition to public " +
		"ones, separated by commas.",
	From: func(v setting.Values) []netip.Prefix {
		if v.Mode != setting.Dev {
			return nil
		}
		return []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}
	},
})
