package templates

import (
	"fmt"

	bcp47 "golang.org/x/text/language"

	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/templates/language"
	"github.com/postrider/postrider/runtime/base/fault"
)

// The limits of a template's translations.
const (
	MaxTranslations   = 50
	maxTranslatedSize = 4 << 20 // bytes of all translations together
)

func sizeOf(list []shape.Translation) (bytes int) {
	for _, t := range list {
		bytes += len(t.Subject) + len(t.HTML) + len(t.Text)
	}
	return bytes
}

// validateTranslations validates the translations of a template and returns them with canonical locales, or nil if
// there are none.
func validateTranslations(list []shape.Translation, wrong fault.Fields) []shape.Translation {
	if len(list) > MaxTranslations {
		wrong.Add("translations", "has %d translations; the limit is %d", len(list), MaxTranslations)
		return nil
	}
	if sizeOf(list) > maxTranslatedSize {
		wrong.Add("translations", "is larger than 4 MB")
	}
	var out []shape.Translation
	known := map[string]bool{}
	for i, t := range list {
		path := fmt.Sprintf("translations[%d].", i)
		tag, reason := language.ParseTag(t.Locale)
		switch t.Locale = tag.String(); {
		case reason != "":
			wrong.Add(path+"locale", "%s", reason)
		case known[t.Locale]:
			wrong.Add(path+"locale", "must be unique")
		case t.Subject == "" && t.HTML == "" && t.Text == "":
			wrong.Add(path[:len(path)-1], "subject, html or text is required")
		}
		known[t.Locale] = true
		named := fault.Fields{}
		validateSubject(t.Subject, named)
		validateSource("html", t.HTML, named)
		validateSource("text", t.Text, named)
		for field, reason := range named {
			wrong.Add(path+field, "%s", reason)
		}
		out = append(out, t)
	}
	return out
}

// summarize returns which parts translations have, for lists.
func summarize(list []shape.Translation) []shape.TranslationSummary {
	var out []shape.TranslationSummary
	for _, t := range list {
		out = append(out, shape.TranslationSummary{Locale: t.Locale, Subject: t.Subject != "", HTML: t.HTML != "",
			Text: t.Text != ""})
	}
	return out
}

// Locale is a language that a template is translated to.
type Locale struct {
	Tag     string   // BCP 47
	Missing []string // parts that the template has and the translation lacks
}

// Locales returns the languages of the draft's translations.
func (t Template) Locales() []Locale {
	out := make([]Locale, 0, len(t.Template.Locales))
	for _, has := range t.Template.Locales {
		l := Locale{Tag: has.Locale}
		for _, part := range []struct {
			name           string
			needed, exists bool
		}{{"subject", t.Subject != "", has.Subject}, {"html", t.hasHTML, has.HTML}, {"text", t.hasText, has.Text}} {
			if part.needed && !part.exists {
				l.Missing = append(l.Missing, part.name)
			}
		}
		out = append(out, l)
	}
	return out
}

// translate returns the parts in the language that fits a locale best: the locale itself, or another one that its
// speakers understand. Without one, it returns the parts of the template. A translation without a subject has that of
// the template, and so it is with the body; html and text of different languages are not combined.
func (c compiledContent) translate(locale string) compiledParts {
	best := bestTranslation(c.matcher, c.content.translated, locale)
	if best < 0 {
		return c.compiledParts
	}
	found := c.translated[best]
	if found.subject == nil {
		found.subject = c.subject
	}
	if found.html == nil && found.text == nil {
		found.html, found.text = c.html, c.text
	}
	return found
}

// newMatcher returns the matcher of translations, or nil if there are none.
func newMatcher(list []shape.Translation) bcp47.Matcher {
	var tags []bcp47.Tag
	for _, t := range list {
		tag, _ := language.ParseTag(t.Locale)
		tags = append(tags, tag)
	}
	if len(tags) == 0 {
		return nil
	}
	return bcp47.NewMatcher(tags)
}

// bestTranslation returns the index of the translation that fits a locale best, or -1 if none does.
func bestTranslation(matcher bcp47.Matcher, list []shape.Translation, locale string) int {
	wanted, reason := language.ParseTag(locale)
	if matcher == nil || reason != "" {
		return -1
	}
	_, best, confidence := matcher.Match(wanted)
	if confidence < bcp47.High && !sameLanguage(wanted, list[best].Locale) {
		return -1
	}
	return best
}

// bodies returns html and text in the language that fits a locale best. An empty locale is that of the content.
func (c content) bodies(locale string) (html, text string) {
	best := bestTranslation(newMatcher(c.translated), c.translated, locale)
	if best < 0 || c.translated[best].HTML == "" && c.translated[best].Text == "" {
		return c.html, c.text
	}
	return c.translated[best].HTML, c.translated[best].Text
}

func sameLanguage(wanted bcp47.Tag, locale string) bool {
	tag, reason := language.ParseTag(locale)
	a, _ := wanted.Base()
	b, _ := tag.Base()
	return reason == "" && a == b
}
