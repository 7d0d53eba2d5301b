package templates

import (
	"github.com/postrider/postrider/modules/templates/language"
	"github.com/postrider/postrider/runtime/mail/lint"
)

// findTrusted returns a finding if values are inserted into html without escaping.
func (c compiledParts) findTrusted() []lint.Finding {
	if c.html == nil || len(c.html.TrustedOutputs()) == 0 {
		return nil
	}
	found := lint.Finding{Code: "raw_output", Severity: lint.Warning, Part: lint.HTML,
		Reason: "Values with the filter raw are inserted without escaping, so that a value can change the whole email.",
		Fix:    "Use raw only for HTML that your application produces or sanitizes. For text that people write, use markdown."}
	for _, output := range c.html.TrustedOutputs() {
		if found.Count++; len(found.Places) < lint.MaxPlaces {
			found.Places = append(found.Places, newPlace(output))
		}
	}
	return []lint.Finding{found}
}

// newPlace returns the place of an output. A line of a layout or a partial is not one of the template.
func newPlace(o language.TrustedOutput) lint.Place {
	if o.Component != "" {
		return lint.Place{Element: lint.Shorten(o.Component + ": " + o.Expression)}
	}
	return lint.Place{Line: o.Line, Element: lint.Shorten(o.Expression)}
}
