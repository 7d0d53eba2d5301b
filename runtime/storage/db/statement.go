package db

import (
	"database/sql/driver"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Statement is a constant SQL text with named parameters. It is created once, at startup; its Text never
// changes, so that it can be prepared.
//
// A module that offers a fragment for statements of other modules exports a text with names and a function
// that returns the Arguments for these names. The names start with a word of the module and a dot, so that
// they are unique. Fragments are joined as texts: parameters are numbered last, here.
type Statement struct {
	Text    string
	names   []string // by number, from $1
	missing []any    // initial value of Args: each value fails with the name of its parameter
}

// Compile numbers the parameters of a text in order of first appearance. A parameter is written @name or
// @group.name, in letters, digits and underscores; the same name is the same parameter. Strings, quoted
// names and comments are ignored. A text that already contains numbers, or an open quote, is a programming
// error: Compile panics.
func Compile(text string) *Statement {
	s := &Statement{}
	var out strings.Builder
	for rest := text; rest != ""; {
		plain, name, after := nextParameter(rest)
		if hasNumberedParameters(plain) {
			panic(fmt.Sprintf("db: a statement has both numbered and named parameters: %s", text))
		}
		out.WriteString(plain)
		if name != "" {
			out.WriteString("$" + strconv.Itoa(s.parameterNumber(name)))
		}
		rest = after
	}
	s.Text = out.String()
	return s
}

func (s *Statement) parameterNumber(name string) int {
	if i := slices.Index(s.names, name); i >= 0 {
		return i + 1
	}
	s.names = append(s.names, name)
	s.missing = append(s.missing, FailingArgument(fmt.Errorf("parameter @%s has no value", name)))
	return len(s.names)
}

// nextParameter splits a text at its first parameter. name is empty if there is none; a quoted part is
// returned as a separate plain part.
func nextParameter(text string) (plain, name, rest string) {
	at := strings.IndexAny(text, `@'"-`)
	if at < 0 {
		return text, "", ""
	}
	tail := text[at:]
	switch {
	case tail[0] == '@':
		end := 1
		for end < len(tail) && isNameByte(tail[end]) {
			end++
		}
		if end > 1 && (at == 0 || text[at-1] != '@') {
			return text[:at], tail[1:end], tail[end:]
		}
		return text[:at+end], "", tail[end:]
	case tail[0] != '-':
		end := strings.IndexByte(tail[1:], tail[0])
		if end < 0 {
			panic(fmt.Sprintf("db: a statement has an open quote: %s", text))
		}
		end += at + 2
		return text[:end], "", text[end:]
	case strings.HasPrefix(tail, "--"):
		end := strings.IndexByte(tail, '\n')
		if end < 0 {
			return text, "", ""
		}
		return text[:at+end], "", tail[end:]
	default:
		return text[:at+1], "", tail[1:]
	}
}

func isNameByte(c byte) bool {
	return c == '_' || c == '.' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// hasNumberedParameters reports whether a text without names contains $1 or similar outside of quotes.
func hasNumberedParameters(plain string) bool {
	for i := range len(plain) - 1 {
		switch c := plain[i]; {
		case c == '\'' || c == '"':
			return false // the rest is one quoted part
		case c == '$' && '0' <= plain[i+1] && plain[i+1] <= '9':
			return true
		}
	}
	return false
}

// Argument is the value of a parameter, or the values of a group.
type Argument struct {
	name  string
	value any

	names  []string
	values []any
}

// Arg returns the value of the parameter @name.
func Arg(name string, value any) Argument { return Argument{name: name, value: value} }

// Group returns the values of several parameters, in the order of the names.
func Group(names []string, values []any) Argument { return Argument{names: names, values: values} }

// Args returns the arguments for Text. Any order works; the order of the numbers is fastest. If a parameter
// has no value or two values, or a value has no parameter, executing the statement returns an error with its
// name.
func (s *Statement) Args(given ...Argument) []any {
	out := slices.Clone(s.missing)
	next := 0
	for i := range given {
		a := &given[i]
		if a.names == nil {
			out, next = s.setParameter(out, next, a.name, a.value)
		}
		for j, name := range a.names {
			out, next = s.setParameter(out, next, name, a.values[j])
		}
	}
	return out
}

// setParameter stores a value at the position of its name, trying next first. It returns the position after it.
func (s *Statement) setParameter(out []any, next int, name string, value any) ([]any, int) {
	if next >= len(s.names) || s.names[next] != name {
		next = slices.Index(s.names, name)
	}
	switch {
	case next < 0:
		return append(out, FailingArgument(fmt.Errorf("there is no parameter @%s", name))), 0
	case out[next] != s.missing[next]:
		value = FailingArgument(fmt.Errorf("parameter @%s has two values", name))
	}
	out[next] = value
	return out, next + 1
}

// failing is an argument that makes its statement fail.
type failing struct{ err error }

// FailingArgument returns an argument that makes its statement fail with err.
func FailingArgument(err error) driver.Valuer { return &failing{err} }

func (f *failing) Value() (driver.Value, error) { return nil, f.err }

// Query builds a statement whose text depends on the request.
type Query struct {
	Text string
	Args []any
}

// Arg adds an argument and returns its placeholder.
func (q *Query) Arg(v any) string {
	q.Args = append(q.Args, v)
	return "$" + strconv.Itoa(len(q.Args))
}
