package mailhtml

import (
	"regexp"
	"strings"
)

// maxNesting limits the depth of rules inside of rules.
const maxNesting = 8

// cssRule is a rule of a stylesheet. It is kept as its author wrote it, except for comments.
type cssRule struct {
	name    string // of an at-rule, such as @media; "" for other rules
	prelude string // the selector, or what follows the name
	isBlock bool   // false: the rule ends with a semicolon

	declarations []*declaration // of a rule without a name
	rules        []*cssRule     // of an at-rule that groups others
	block        string         // of any other at-rule
}

// declaration is one property with its value.
type declaration struct {
	property  string // in lower case, except for custom properties
	value     string
	important bool
}

// groups lists the at-rules whose blocks contain rules that take part in the cascade as they would outside.
var groups = map[string]bool{"@media": true, "@supports": true, "@container": true}

// opaqueRules lists the other at-rules that do not change which declarations win.
var opaqueRules = map[string]bool{"@font-face": true, "@import": true, "@charset": true, "@page": true,
	"@keyframes": true, "@-webkit-keyframes": true, "@-moz-keyframes": true, "@counter-style": true,
	"@namespace": true, "@property": true, "@-ms-viewport": true, "@viewport": true, "@font-feature-values": true,
	"@font-palette-values": true}

// cssParser follows the error recovery of CSS Syntax Level 3 where mail depends on it.
type cssParser struct {
	text    string
	unknown string // the first rule that cannot be handled
}

// parseRules returns the rules of a stylesheet or of a group. It stops at the brace that ends a group.
func (p *cssParser) parseRules(depth int) (rules []*cssRule) {
	for {
		p.text = strings.TrimLeft(stripComments(p.text), " \t\r\n\f;")
		switch {
		case p.text == "":
			return rules
		case strings.HasPrefix(p.text, "<!--"):
			p.text = p.text[4:]
		case strings.HasPrefix(p.text, "-->"):
			p.text = p.text[3:]
		case p.text[0] == '}':
			p.text = p.text[1:]
			if depth > 0 {
				return rules
			}
		default:
			if r := p.parseRule(depth); r != nil {
				rules = append(rules, r)
			}
		}
	}
}

func (p *cssParser) parseRule(depth int) *cssRule {
	isAtRule := p.text[0] == '@'
	stops := "{}"
	if isAtRule {
		stops = "{};"
	}
	end := scanTo(p.text, stops)
	r := &cssRule{prelude: strings.TrimSpace(p.text[:end])}
	if isAtRule {
		r.name = strings.ToLower(atRuleName.FindString(r.prelude))
		r.prelude = strings.TrimSpace(r.prelude[len(r.name):])
		if !groups[r.name] && !opaqueRules[r.name] {
			p.reportUnknown(r.name)
		}
	}
	if p.text = p.text[end:]; p.text == "" || p.text[0] != '{' {
		if !isAtRule {
			return nil // a selector without a block
		}
		return r
	}
	p.text, r.isBlock = p.text[1:], true
	if groups[r.name] {
		if depth == maxNesting {
			p.reportUnknown("a rule inside of " + r.name)
			p.text = ""
			return nil
		}
		r.rules = p.parseRules(depth + 1)
		return r
	}
	end = scanBlock(p.text)
	block := p.text[:end]
	if p.text = p.text[end:]; p.text != "" {
		p.text = p.text[1:]
	}
	if isAtRule {
		r.block = block
	} else if r.declarations = parseDeclarations(block); scanTo(block, "{") < len(block) {
		p.reportUnknown("a rule inside of " + r.prelude)
	}
	return r
}

func (p *cssParser) reportUnknown(what string) {
	if p.unknown == "" {
		p.unknown = what
	}
}

var (
	atRuleName = regexp.MustCompile(`^@[a-zA-Z-]*`)
	comments   = regexp.MustCompile(`(?s)/\*.*?(\*/|$)`)
	important  = regexp.MustCompile(`(?i)\s*!\s*important$`)
)

// stripComments removes the comments at the beginning of a text.
func stripComments(text string) string {
	for {
		text = strings.TrimLeft(text, " \t\r\n\f")
		if !strings.HasPrefix(text, "/*") {
			return text
		}
		_, rest, found := strings.Cut(text[2:], "*/")
		if !found {
			return ""
		}
		text = rest
	}
}

// scanTo returns the position of the first of some characters that is outside of strings, comments and parentheses, or
// the length of the text.
func scanTo(text, stops string) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\':
			i++
		case c == '"' || c == '\'':
			i += stringEnd(text[i:])
		case strings.HasPrefix(text[i:], "/*"):
			end := strings.Index(text[i+2:], "*/")
			if end < 0 {
				return len(text)
			}
			i += end + 3
		case c == '(':
			depth++
		case c == ')':
			depth = max(0, depth-1)
		case depth == 0 && strings.IndexByte(stops, c) >= 0:
			return i
		}
	}
	return len(text)
}

// stringEnd returns the position of the quote that ends a string, or of the line break that breaks it off.
func stringEnd(text string) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case text[0], '\n':
			return i
		case '\\':
			i++
		}
	}
	return len(text)
}

// scanBlock returns the position of the brace that ends a block.
func scanBlock(text string) int {
	depth := 0
	for at := 0; ; at++ {
		at += scanTo(text[at:], "{}")
		switch {
		case at >= len(text):
			return len(text)
		case text[at] == '{':
			depth++
		case depth == 0:
			return at
		default:
			depth--
		}
	}
}

// parseDeclarations parses the content of a block or of a style attribute. It keeps Liquid in the place of
// declarations.
func parseDeclarations(block string) (out []*declaration) {
	for block != "" {
		end := scanTo(block, ";")
		text := strings.TrimSpace(removeComments(block[:end]))
		block = block[min(end+1, len(block)):]
		property, value, _ := strings.Cut(text, ":")
		property, value = strings.TrimSpace(property), strings.TrimSpace(value)
		d := &declaration{property: property}
		if !strings.HasPrefix(property, "--") {
			d.property = strings.ToLower(property)
		}
		d.value = important.ReplaceAllString(value, "")
		d.important = d.value != value
		if property != "" && d.value != "" || isLiquidWord.MatchString(text) {
			out = append(out, d)
		}
	}
	return out
}

// isLiquidWord matches placeholders of Liquid (opaque.go).
var isLiquidWord = regexp.MustCompile(`^(` + liquidPrefix + `q*\d+z\s*)+$`)

// removeComments removes comments that are outside of strings.
func removeComments(text string) string {
	if !strings.Contains(text, "/*") {
		return text
	}
	if strings.ContainsAny(text, `"'(`) {
		return text // they do no harm
	}
	return comments.ReplaceAllString(text, " ")
}

// splitSelectors returns the selectors of a list.
func splitSelectors(list string) (selectors []string) {
	list = removeComments(list)
	for {
		end, depth := 0, 0
		for end < len(list) {
			end += scanTo(list[end:], ",[]")
			if end >= len(list) || list[end] == ',' && depth == 0 {
				break
			}
			switch list[end] {
			case '[':
				depth++
			case ']':
				depth--
			}
			end++
		}
		selectors = append(selectors, strings.TrimSpace(list[:min(end, len(list))]))
		if end >= len(list) {
			return selectors
		}
		list = list[end+1:]
	}
}

// format returns the CSS of a rule.
func (r *cssRule) format() string {
	switch {
	case r.name == "":
		return r.prelude + " {\n" + formatDeclarations(r.declarations) + "\n}"
	case !r.isBlock:
		return r.name + " " + r.prelude + ";\n"
	case groups[r.name]:
		nested := make([]string, len(r.rules))
		for i, inner := range r.rules {
			nested[i] = strings.TrimSuffix(inner.format(), "\n")
		}
		return r.name + " " + r.prelude + "{\n" + strings.Join(nested, "\n") + "\n}\n"
	default:
		return strings.TrimSpace(r.name+" "+r.prelude) + " {" + r.block + "}\n"
	}
}

func formatDeclarations(all []*declaration) string {
	lines := make([]string, len(all))
	for i, d := range all {
		lines[i] = d.format(": ")
	}
	return strings.Join(lines, ";\n")
}

func (d *declaration) format(separator string) string {
	text := d.property
	if d.value != "" {
		text += separator + d.value
	}
	if d.important {
		text += " !important"
	}
	return text
}
