package theme

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"

	"golang.org/x/text/language"
)

// Languages lists the languages of pages and emails. The first is the default.
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

// MatchLanguage is FindLanguage, but returns the default if the header matches no language.
func MatchLanguage(accept string) string { return cmp.Or(FindLanguage(accept), Languages()[0]) }

// FindLanguage returns the language that the values of Accept-Language prefer (RFC 9110, section 12.5.4). It returns ""
// if the header is malformed or matches no language.
func FindLanguage(accept string) string {
	if len(accept) > maxAccept {
		return ""
	}
	wanted, _, err := language.ParseAcceptLanguage(accept)
	if err != nil {
		return ""
	}
	_, best, confidence := matcher.Match(wanted...)
	if confidence == language.No {
		return ""
	}
	return Languages()[best]
}

// LoadWords parses the texts in each language from words/<language>.json. It panics if a file is missing or has an
// unknown field, because the files are embedded.
func LoadWords[T any](files fs.FS) map[string]*T {
	all := map[string]*T{}
	for _, name := range Languages() {
		words := new(T)
		text, err := fs.ReadFile(files, "words/"+name+".json")
		if err == nil {
			decoder := json.NewDecoder(bytes.NewReader(text))
			decoder.DisallowUnknownFields()
			err = decoder.Decode(words)
		}
		if err != nil {
			panic(fmt.Sprintf("%T: words of %s: %v", words, name, err))
		}
		all[name] = words
	}
	return all
}
