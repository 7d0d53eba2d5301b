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
			found.Places = append(found.Places, newPlace(c.html.OutputPlace(output), output.Expression))
		}
	}
	return []lint.Finding{found}
}

// newPlace returns the place of an output. A line of a layout or a partial is not one of the template.
func newPlace(at language.Place, expression string) lint.Place {
	if at.Component != "" {
		return lint.Place{Element: lint.Shorten(at.Component + ": " + expression)}
	}
	return lint.Place{Line: at.Line, Element: lint.Shorten(expression)}
}
