package language

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/postrider/postrider/ent/schema/shape"
)

// partScope is the context of a part of a component while it is expanded.
type partScope struct {
	arguments map[string]argument // nil: not in a partial, where every name is a variable of the template
	loops     []loopName          // of the partial
	path      []string            // the partials around
}

// loopName is a loop variable of a partial.
type loopName struct{ written, flat string }

// argument is a value that a partial gets: a literal, or the path of a variable of the template.
type argument struct {
	text string // as in the flat source
	root string // first name of a path; empty: a literal
}

func (a argument) isNil() bool { return a.root == "" && a.text == "nil" }

// ownArguments returns the arguments of a partial that is checked on its own: its variables.
func ownArguments(o *outline) (map[string]argument, error) {
	out := map[string]argument{}
	for _, v := range o.Variables {
		if reason := badParameter(v); reason != "" {
			return nil, o.problemAt(0, "the variable %s %s", v.Key, reason)
		}
		out[v.Key] = argument{text: v.Key, root: v.Key}
	}
	return out, nil
}

// badParameter returns why a variable cannot be one of a partial, or "" if it can.
func badParameter(v shape.Variable) string {
	if strings.Contains(v.Key, ".") {
		return "must not contain a dot: the variables of a partial are its arguments"
	}
	if _, reason := fallbackLiteral(v); reason != "" {
		return reason
	}
	return ""
}

// fallbackLiteral returns the fallback of an argument as a literal.
func fallbackLiteral(v shape.Variable) (literal, reason string) {
	switch f := v.Fallback.(type) {
	case nil:
		return "nil", ""
	case bool:
		return strconv.FormatBool(f), ""
	case string:
		return quoteText(f)
	}
	if v.Type != TypeNumber {
		return "", "must not have a fallback, because it is neither a string, a number nor a boolean"
	}
	encoded, err := json.Marshal(v.Fallback)
	if literal = string(encoded); err != nil || numberLength(literal) != len(literal) {
		return "", "has a fallback that is too large for an argument"
	}
	return literal, ""
}

// quoteText returns a text as a literal.
func quoteText(text string) (literal, reason string) {
	literal = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(text) + `"`
	return literal, badLiteral(literal)
}

// badLiteral returns why a literal cannot be inserted into a tag, or "" if it can.
func badLiteral(literal string) string {
	for _, braces := range []string{"{{", "}}", "{%", "%}", "\n"} {
		if strings.Contains(literal, braces) {
			return "cannot contain " + strings.ReplaceAll(braces, "\n", "a line break")
		}
	}
	return ""
}

// givenArgument is an argument as a tag render has it.
type givenArgument struct {
	name     string
	literal  string // with quotation marks
	typ      string // of a literal; empty: a path, or nil
	path     token  // first name of a path
	property string // such as .name; the rest of the path
}

// readRender parses the arguments of a tag render.
func (o *outline) readRender(t tag) (name string, given []givenArgument, err error) {
	list, places, ok := splitPlaced(t.arguments)
	if !ok || len(list) == 0 || list[0].kind != tokenString || !componentName.MatchString(list[0].text) {
		return "", nil, o.problemAt(t.Start, `{%% render %%} must have a name in quotation marks, such as "footer"`)
	}
	name = list[0].text
	for i := 1; i < len(list); {
		if list[i] == (token{tokenSymbol, ","}) {
			i++
		}
		if i >= len(list) || list[i].kind != tokenKeyword {
			return "", nil, o.problemAt(t.Start, "the arguments of {%% render %%} must have the form name: value")
		}
		g := givenArgument{name: list[i].text}
		if i++; i >= len(list) {
			return "", nil, o.problemAt(t.Start, "the argument %s has no value", g.name)
		}
		if slices.ContainsFunc(given, func(other givenArgument) bool { return other.name == g.name }) {
			return "", nil, o.problemAt(t.Start, "there are two arguments with the name %s", g.name)
		}
		if i, err = o.readValue(t, list, places, i, &g); err != nil {
			return "", nil, err
		}
		if i++; i < len(list) && list[i] != (token{tokenSymbol, ","}) && list[i].kind != tokenKeyword {
			return "", nil, o.problemAt(t.Start, "the argument %s must be a literal or the name of a variable, without filters",
				g.name)
		}
		given = append(given, g)
	}
	return name, given, nil
}

// readValue parses the value of an argument at index i, and returns the index of its last token.
func (o *outline) readValue(t tag, list []token, places []Span, i int, g *givenArgument) (int, error) {
	v := list[i]
	written := t.arguments[places[i].Start:places[i].End]
	switch {
	case v.kind == tokenString:
		g.literal, g.typ = written, TypeString
		if reason := badLiteral(written); reason != "" {
			return i, o.problemAt(t.Start, "the argument %s %s", g.name, reason)
		}
	case v.kind == tokenNumber:
		g.literal, g.typ = written, TypeNumber
	case v.kind == tokenName && (v.text == "true" || v.text == "false"):
		g.literal, g.typ = v.text, TypeBoolean
	case v.kind == tokenName && v.text == "nil":
		g.literal = v.text
	case v.kind == tokenName && !slices.Contains(wordsOfTheLanguage, v.text):
		g.path = v
		for i+1 < len(list) && list[i+1].kind == tokenProperty {
			i++
			g.property += "." + list[i].text
		}
	default:
		return i, o.problemAt(t.Start, "the argument %s must be a literal or the name of a variable", g.name)
	}
	return i, nil
}

// bind returns the arguments of a partial for a tag render.
func (s partScope) bind(o *outline, t tag, partial *outline, given []givenArgument) (map[string]argument, error) {
	out := map[string]argument{}
	for _, v := range partial.Variables {
		if reason := badParameter(v); reason != "" {
			return nil, o.problemAt(t.Start, "the variable %s of the partial %s %s", v.Key, partial.Name, reason)
		}
		at := slices.IndexFunc(given, func(g givenArgument) bool { return g.name == v.Key })
		if at < 0 {
			if v.Required {
				return nil, o.problemAt(t.Start, "the partial %s requires the argument %s", partial.Name, v.Key)
			}
			literal, _ := fallbackLiteral(v)
			out[v.Key] = argument{text: literal}
			continue
		}
		g := given[at]
		if g.typ != "" && g.typ != v.Type {
			return nil, o.problemAt(t.Start, "the argument %s must be a value of type %s, not %s", v.Key, v.Type, g.typ)
		}
		if g.path == (token{}) {
			out[v.Key] = argument{text: g.literal}
			continue
		}
		value, reason := s.resolve(g.path.text)
		switch {
		case reason != "":
			return nil, o.problemAt(t.Start, "%s", reason)
		case value.root == "" && g.property != "" && !value.isNil():
			return nil, o.problemAt(t.Start, "%s has no properties, because it is %s here", g.path.text, value.text)
		case !value.isNil():
			value.text += g.property
		}
		if len(value.text) > maxExpression {
			return nil, o.problemAt(t.Start, "the argument %s is longer than %d characters", v.Key, maxExpression)
		}
		out[v.Key] = value
	}
	for _, g := range given {
		if _, exists := out[g.name]; !exists {
			return nil, o.problemAt(t.Start, "the partial %s has no variable %s", partial.Name, g.name)
		}
	}
	return out, nil
}

// resolve returns the value of a name. The reason is empty if the scope has it.
func (s partScope) resolve(name string) (value argument, reason string) {
	for _, l := range slices.Backward(s.loops) {
		if l.written == name {
			return argument{text: l.flat, root: l.flat}, ""
		}
	}
	value, exists := s.arguments[name]
	switch {
	case exists && value.root == forloop && len(s.loops) > 0:
		return value, name + " is " + value.text + " of another loop, which cannot be used in a loop of a partial"
	case exists:
		return value, ""
	case s.arguments == nil, name == unsubscribeURL, name == forloop && len(s.loops) > 0:
		return argument{text: name, root: name}, ""
	}
	return value, name + " is not a variable of the partial; pass it as an argument"
}

// forloop is the object with the position in a loop.
const forloop = "forloop"

// flatLoopName returns a name for a loop variable that hides no argument, and no loop variable with another name.
func (s partScope) flatLoopName(name string) string {
	hides := func(flat string) bool {
		if slices.ContainsFunc(s.loops, func(l loopName) bool { return l.flat == flat && l.written != name }) {
			return true
		}
		for _, a := range s.arguments {
			if a.root == flat {
				return true
			}
		}
		return false
	}
	flat := name
	for n := 2; hides(flat); n++ {
		flat = name + "_" + strconv.Itoa(n)
	}
	return flat
}

// writeRewritten appends a tag of a partial with its arguments inserted. It follows the loops.
func (x *expansion) writeRewritten(o *outline, t tag, s *partScope, open *[]string) error {
	text, loop, err := s.rewrite(o, t)
	if err != nil {
		return err
	}
	if len(text) > maxExpression {
		return o.problemAt(t.Start, "the tag is longer than %d characters with its arguments", maxExpression)
	}
	switch {
	case t.name == "for":
		s.loops = append(slices.Clip(s.loops), loop)
		*open = append(*open, t.name)
	case slices.Contains(openingTags, t.name):
		*open = append(*open, t.name)
	case len(*open) > 0 && strings.HasPrefix(t.name, "end"):
		if (*open)[len(*open)-1] == "for" {
			s.loops = s.loops[:len(s.loops)-1]
		}
		*open = (*open)[:len(*open)-1]
	case len(*open) > 0 && t.name == "else" && (*open)[len(*open)-1] == "for":
		// The loop variable does not exist in the part for an empty list.
		s.loops = s.loops[:len(s.loops)-1]
		(*open)[len(*open)-1] = "else"
	}
	return x.write(o, t.Start, text, false)
}

// rewrite returns the text of a tag with arguments inserted, and the loop variable of a for.
func (s partScope) rewrite(o *outline, t tag) (text string, loop loopName, err error) {
	list, places, ok := splitPlaced(t.arguments)
	if !ok {
		return "", loop, o.problemAt(t.Start, "cannot read %q", t.arguments)
	}
	var b strings.Builder
	b.WriteString(o.Source[t.Start:t.offset])
	copied, first := 0, 0
	put := func(i, to int, value string) {
		b.WriteString(t.arguments[copied:places[i].Start])
		b.WriteString(value)
		copied = to
	}
	if t.name == "for" {
		if len(list) < 3 || list[0].kind != tokenName || list[1] != (token{tokenName, "in"}) {
			return "", loop, o.problemAt(t.Start, "cannot read %q", t.arguments)
		}
		if list[0].text == forloop || list[0].text == unsubscribeURL {
			return "", loop, o.problemAt(t.Start, "%s cannot be a loop variable", list[0].text)
		}
		loop = loopName{list[0].text, s.flatLoopName(list[0].text)}
		put(0, places[0].End, loop.flat)
		first = 2
	}
	for i := first; i < len(list); i++ {
		isFilter := i > first && list[i-1] == token{tokenSymbol, "|"}
		if list[i].kind != tokenName || isFilter || slices.Contains(wordsOfTheLanguage, list[i].text) ||
			t.name == "for" && i > first && list[i].text == "reversed" {
			continue
		}
		value, reason := s.resolve(list[i].text)
		if reason != "" {
			return "", loop, o.problemAt(t.Start, "%s", reason)
		}
		to := places[i].End
		name := i
		for value.isNil() && i+1 < len(list) && list[i+1].kind == tokenProperty {
			i++
			to = places[i].End
		}
		if value.root == "" && i+1 < len(list) &&
			(list[i+1].kind == tokenProperty || list[i+1] == token{tokenSymbol, "["}) {
			return "", loop, o.problemAt(t.Start, "%s has no properties, because it is %s here", list[name].text, value.text)
		}
		put(name, to, value.text)
	}
	b.WriteString(t.arguments[copied:])
	b.WriteString(o.Source[t.offset+len(t.arguments) : t.End])
	return b.String(), loop, nil
}

// splitPlaced is like splitTokens, with the places of the tokens.
func splitPlaced(expression string) (out []token, places []Span, ok bool) {
	for at := 0; at < len(expression); {
		t, length := nextToken(expression[at:])
		if length == 0 {
			return nil, nil, false
		}
		if t != (token{}) {
			out, places = append(out, t), append(places, Span{at, at + length})
		}
		at += length
	}
	return out, places, true
}
