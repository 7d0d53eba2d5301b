package deliverability

import "github.com/postrider/postrider/runtime/base/setting"

// Blocklists are the DNS lists in which source addresses and sending domains are looked up.
var Blocklists = setting.Declare(setting.Setting[[]string]{
	Name: "POSTRIDER_BLOCKLISTS", Group: "Delivery", Form: blocklistZones(),
	DefaultText: "bl.spamcop.net,psbl.surriel.com; none in development",
	Help: "DNS lists in which source addresses and sending domains are looked up, by zone, separated by commas, or none. " +
		"domain: before a zone means that it lists domains. Check the terms of each list.",
	From: func(v setting.Values) []string {
		if v.Mode == setting.Dev {
			return nil
		}
		return []string{"bl.spamcop.net", "psbl.surriel.com"}
	},
})

func blocklistZones() setting.Syntax[[]string] {
	return setting.Syntax[[]string]{Placeholder: "ZONE,...", Parse: parseZones}
}
