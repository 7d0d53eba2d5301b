package theme

import (
	"golang.org/x/text/language"
)

// Languages lists the languages that the public pages are written in. The first is the default.
func Languages() []string { return []string{"en", "de", "fr", "es", "pt", "it", "nl", "pl", "ja"} }

var matcher = newMatcher()

func newMatcher() language.Matcher {
	tags := make([]language.Tag, 0, len(Languages()))
	for _, name := range Languages() {
		tags = append(tags, language.MustParse(name))
	}
	return language.NewMatcher(tags)
}

// maxAccept is the longest header that is parsed, in bytes. Browsers send less than 200.
const maxAccept = 1000

// MatchLanguage returns the language that the values of Accept-Language prefer (RFC 9110, section 12.5.4). It
// returns the default if the header is malformed or matches no language.
func MatchLanguage(accept string) string {
	all := Languages()
	if len(accept) > maxAccept {
		return all[0]
	}
	wanted, _, err := language.ParseAcceptLanguage(accept)
	if err != nil {
		return all[0]
	}
	_, best, confidence := matcher.Match(wanted...)
	if confidence == language.No {
		return all[0]
	}
	return all[best]
}
