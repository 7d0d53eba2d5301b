package templatefiles

import (
	"errors"
	"path/filepath"
	"strings"

	"golang.org/x/text/language"
)

// Translation is the content of a template in another language, in the files NAME.LOCALE.html, NAME.LOCALE.txt and
// NAME.LOCALE.yaml.
type Translation struct {
	Locale  string  `json:"locale" yaml:"-"`
	Subject *string `json:"subject" yaml:"subject,omitempty"`
	HTML    *string `json:"html" yaml:"-"`
	Text    *string `json:"text" yaml:"-"`
}

// splitLocale splits the stem of a translation's files into that of its template and the locale. The name is empty if
// the stem names no locale.
func splitLocale(stem string) (name, locale string) {
	suffix := filepath.Ext(stem)
	tag, err := language.Parse(strings.TrimPrefix(suffix, "."))
	if suffix == "" || err != nil || tag.IsRoot() {
		return "", ""
	}
	return strings.TrimSuffix(stem, suffix), tag.String()
}

// readTranslation reads the files of one translation.
func readTranslation(stem, locale string) (t Translation, err error) {
	t.Locale = locale
	if t.HTML, t.Text, err = readFiles(stem, &t); err == nil && t.Subject == nil && t.HTML == nil && t.Text == nil {
		err = errors.New("has neither a subject nor a body")
	}
	return t, err
}
