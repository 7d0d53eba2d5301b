package templates

import (
	"context"
	"fmt"
	"slices"

	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/templates/language"
	"github.com/postrider/postrider/modules/templates/xliff"
	"github.com/postrider/postrider/runtime/base/fault"
)

const defaultSourceLocale = "en"

// ExportStrings returns the texts of the draft for translation to a language, with those that are translated, as an
// XLIFF 1.2 document. Without a locale, the document names no target language. An empty source locale is the language
// that the HTML declares, or English.
func (s *Service) ExportStrings(ctx context.Context, accountID, idOrAlias, locale,
	sourceLocale string) ([]byte, error) {
	t, err := s.Get(ctx, accountID, idOrAlias)
	if err != nil {
		return nil, err
	}
	file := xliff.ExportRequest{Original: t.ID, Name: t.Name, SourceLocale: sourceLocale, Source: partsOf(t)}
	wrong := fault.Fields{}
	if locale != "" {
		tag, reason := language.ParseTag(locale)
		if file.TargetLocale = tag.String(); reason != "" {
			wrong.Add("locale", "%s", reason)
		}
	}
	if file.SourceLocale == "" {
		file.SourceLocale = xliff.LanguageOf(file.Source.HTML)
	}
	if file.SourceLocale == "" {
		file.SourceLocale = defaultSourceLocale
	}
	if source, reason := language.ParseTag(file.SourceLocale); reason == "" {
		file.SourceLocale = source.String()
	} else {
		wrong.Add("source_locale", "%s", reason)
	}
	if err := wrong.Err(); err != nil {
		return nil, err
	}
	for _, found := range t.Translations {
		if file.TargetLocale != "" && found.Locale == file.TargetLocale {
			file.Target = xliff.Parts{Subject: found.Subject, HTML: found.HTML, Text: found.Text}
		}
	}
	content, err := xliff.Export(file)
	if err != nil {
		return nil, fmt.Errorf("export strings: %w", err)
	}
	return content, nil
}

// ImportedStrings is the result of an import.
type ImportedStrings struct {
	Template     Template
	Locale       string
	Untranslated []string // IDs of units that have the text of the source
}

// ImportStrings replaces a translation of the draft with that of an XLIFF 1.2 document. It returns Invalid, with the
// units in error, NotFound, or Conflict if the draft changes at the same time.
func (s *Service) ImportStrings(ctx context.Context, accountID, idOrAlias, content,
	author string) (out ImportedStrings, err error) {
	t, err := s.Get(ctx, accountID, idOrAlias)
	if err != nil {
		return out, err
	}
	read, wrong := xliff.Import(content, partsOf(t))
	if err := wrong.Err(); err != nil {
		return out, err
	}
	list := slices.Clone(t.Translations)
	translated := shape.Translation{Locale: read.Locale, Subject: read.Subject, HTML: read.HTML, Text: read.Text}
	at := slices.IndexFunc(list, func(l shape.Translation) bool { return l.Locale == read.Locale })
	if at >= 0 {
		list[at] = translated
	} else {
		list = append(list, translated)
	}
	now, err := s.Update(ctx, accountID, t.ID, TemplateChange{Translations: &list},
		Revision{Etag: t.Etag(), Author: author})
	return ImportedStrings{Template: now, Locale: read.Locale, Untranslated: read.Untranslated}, err
}

func partsOf(t Template) xliff.Parts {
	return xliff.Parts{Subject: t.Subject, HTML: orEmpty(t.HTML), Text: orEmpty(t.Text)}
}
