package deliverability

import "strings"

// The mailbox providers with published requirements.
const (
	gmail     = "Gmail"
	yahoo     = "Yahoo"
	microsoft = "Microsoft"
)

// providerNames are mailbox providers by the domains of their users.
var providerNames = map[string]string{
	"gmail.com": gmail, "googlemail.com": gmail, "ymail.com": yahoo, "rocketmail.com": yahoo, "aol.com": yahoo,
	"yahoo.co.jp": "Yahoo! Japan", "icloud.com": "iCloud", "me.com": "iCloud", "mac.com": "iCloud",
	"web.de": "GMX and WEB.DE", "proton.me": "Proton", "protonmail.com": "Proton", "pm.me": "Proton",
	"mail.ru": "Mail.ru", "bk.ru": "Mail.ru", "list.ru": "Mail.ru", "inbox.ru": "Mail.ru",
}

// providerBrands are providers with one domain per country, by the first label.
var providerBrands = map[string]string{
	"yahoo": yahoo, "hotmail": microsoft, "outlook": microsoft, "live": microsoft, "msn": microsoft,
	"gmx": "GMX and WEB.DE", "yandex": "Yandex",
}

const maxCountry = len("com.br")

// providerOf returns the mailbox provider of a domain of recipients. An unknown domain is its own provider.
func providerOf(domain string) string {
	if known := providerNames[domain]; known != "" {
		return known
	}
	brand, country, _ := strings.Cut(domain, ".")
	if known := providerBrands[brand]; known != "" && len(country) <= maxCountry {
		return known
	}
	return domain
}
