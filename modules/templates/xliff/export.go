package xliff

import (
	"encoding/xml"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Namespace is that of XLIFF 1.2.
const Namespace = "urn:oasis:names:tc:xliff:document:1.2"

// ExportRequest describes a template whose texts are exported.
type ExportRequest struct {
	Original     string // ID of the template
	Name         string
	SourceLocale string
	TargetLocale string
	Source       Parts
	Target       Parts // the translation so far
}

var langAttribute = regexp.MustCompile(`(?is)(<html\b[^>{]*?\slang\s*=\s*["'])([\w-]+)(["'])`)

// LanguageOf returns the language that an HTML document declares, or an empty string.
func LanguageOf(html string) string {
	if m := langAttribute.FindStringSubmatch(html); m != nil {
		return m[2]
	}
	return ""
}

func declareLanguage(html, locale string) string {
	return langAttribute.ReplaceAllString(html, "${1}"+locale+"${3}")
}

// Export writes the texts of a template. A unit has the translation so far if the translation has the markup of the
// source.
func Export(f ExportRequest) ([]byte, error) {
	source, err := cut(f.Source)
	if err != nil {
		return nil, err
	}
	target, err := cut(f.Target)
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<xliff version=\"1.2\" xmlns=%s>\n", quote(Namespace))
	to := ""
	if f.TargetLocale != "" {
		to = " target-language=" + quote(f.TargetLocale)
	}
	fmt.Fprintf(&b, "<file original=%s source-language=%s%s datatype=\"html\">\n", quote(f.Original),
		quote(f.SourceLocale), to)
	fmt.Fprintf(&b, "<header><note>%s</note></header>\n<body>\n", escape(f.Name))
	for i, p := range source.parts() {
		other := target.parts()[i]
		isSame := p.hasMarkupOf(other, f.TargetLocale)
		for n, u := range p.units {
			fmt.Fprintf(&b, "<trans-unit id=%s xml:space=\"preserve\"><source>%s</source>", quote(u.id), writeItems(u.items))
			if isSame {
				fmt.Fprintf(&b, "<target>%s</target>", writeItems(other.units[n].items))
			}
			b.WriteString("</trans-unit>\n")
		}
	}
	b.WriteString("</body>\n</file>\n</xliff>\n")
	return []byte(b.String()), nil
}

// hasMarkupOf reports whether two parts differ only in the texts of units and in the language they declare.
func (p part) hasMarkupOf(other part, locale string) bool {
	if len(p.units) != len(other.units) || other.source == "" {
		return false
	}
	return slices.Equal(p.markup(locale), other.markup(locale))
}

// markup lists everything but the texts of units.
func (p part) markup(locale string) (out []string) {
	empty := map[string][]item{}
	for _, u := range p.units {
		var codes []item
		for _, i := range u.items {
			if i.isCode {
				codes = append(codes, i)
			}
		}
		empty[u.id] = codes
	}
	for _, u := range p.units {
		out = append(out, fmt.Sprint(u.codes()))
	}
	return append(out, declareLanguage(p.write(empty), locale))
}

func writeItems(items []item) string {
	var b strings.Builder
	code := 0
	for _, i := range items {
		if i.isCode {
			code++
			fmt.Fprintf(&b, `<x id="%d"/>`, code)
		} else {
			b.WriteString(escape(i.text))
		}
	}
	return b.String()
}

func quote(text string) string { return `"` + escape(text) + `"` }

func escape(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a Builder does not fail
	return b.String()
}
