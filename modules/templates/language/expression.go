package language

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The library does not export its expressions. This file parses their text again to find what the walk needs:
// variables, filters, and ranges. An expression that it cannot parse is rejected.

type tokenKind int

const (
	tokenName     tokenKind = iota // such as customer
	tokenProperty                  // such as .name
	tokenKeyword                   // such as limit:
	tokenString
	tokenNumber
	tokenSymbol
)

type token struct {
	kind tokenKind
	text string
}

var wordsOfTheLanguage = []string{"true", "false", "nil", "and", "or", "contains", "in"}

// splitTokens splits an expression into tokens; ok is false if that fails.
func splitTokens(expression string) (out []token, ok bool) {
	for rest := expression; rest != ""; {
		t, length := nextToken(rest)
		if length == 0 {
			return nil, false
		}
		if t != (token{}) {
			out = append(out, t)
		}
		rest = rest[length:]
	}
	return out, true
}

// nextToken reads one token. White space is the zero token.
func nextToken(s string) (token, int) {
	c := s[0]
	switch {
	case strings.IndexByte(" \t\r\n\f\v", c) >= 0:
		return token{}, 1
	case c == '"' || c == '\'':
		if n := quotedLength(s); n > 0 {
			return token{tokenString, s[1 : n-1]}, n
		}
		return token{}, 0
	case c >= '0' && c <= '9', c == '-' && len(s) > 1 && s[1] >= '0' && s[1] <= '9':
		n := numberLength(s)
		return token{tokenNumber, s[:n]}, n
	case c == '.' && len(s) > 1 && s[1] != '.':
		if n := nameLength(s[1:]); n > 0 {
			return token{tokenProperty, s[1 : n+1]}, n + 1
		}
		return token{}, 0
	case strings.HasPrefix(s, ".."), strings.HasPrefix(s, "=="), strings.HasPrefix(s, "!="), strings.HasPrefix(s, ">="),
		strings.HasPrefix(s, "<="):
		return token{tokenSymbol, s[:2]}, 2
	case strings.IndexByte("|:,()[]<>", c) >= 0:
		return token{tokenSymbol, s[:1]}, 1
	}
	n := nameLength(s)
	switch {
	case n == 0:
		return token{}, 0
	case n < len(s) && s[n] == ':':
		return token{tokenKeyword, s[:n]}, n + 1
	}
	return token{tokenName, s[:n]}, n
}

// quotedLength returns the length of a string including its quotes. A backslash escapes only in double quotes.
func quotedLength(s string) int {
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == s[0]:
			return i + 1
		case s[i] == '\\' && s[0] == '"':
			i++
		}
	}
	return 0
}

func numberLength(s string) int {
	n := 1
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	if n+1 < len(s) && s[n] == '.' && s[n+1] >= '0' && s[n+1] <= '9' {
		for n++; n < len(s) && s[n] >= '0' && s[n] <= '9'; {
			n++
		}
	}
	return n
}

// nameLength returns the length of an identifier.
func nameLength(s string) int {
	n := 0
	for n < len(s) {
		r, size := utf8.DecodeRuneInString(s[n:])
		first := unicode.IsLetter(r) || r == '_'
		if !first && (n == 0 || !(unicode.IsDigit(r) || unicode.IsMark(r) || r == '-')) {
			break
		}
		n += size
	}
	if n > 0 && n < len(s) && s[n] == '?' {
		n++
	}
	return n
}

// usage lists the variables and filters that an expression uses.
type usage struct {
	paths   []string    // such as customer.name, or customer if the rest is computed
	filters []filterUse // in order of appearance
	ranges  bool
	loop    string // name of the loop variable of a for
}

// filterUse is a filter with the tokens of its arguments.
type filterUse struct {
	name      string
	arguments []token
}

// parseUsage parses an expression or, with isLoop, the arguments of a for.
func parseUsage(expression string, isLoop bool) (u usage, ok bool) {
	list, ok := splitTokens(expression)
	if !ok {
		return u, false
	}
	if isLoop {
		if len(list) < 3 || list[0].kind != tokenName || list[1] != (token{tokenName, "in"}) {
			return u, false
		}
		u.loop, list = list[0].text, list[2:]
	}
	for i := 0; i < len(list); i++ {
		t := list[i]
		isFilter := i > 0 && list[i-1] == token{tokenSymbol, "|"}
		if n := len(u.filters); n > 0 && !isFilter {
			u.filters[n-1].arguments = append(u.filters[n-1].arguments, t)
		}
		switch {
		case t == token{tokenSymbol, ".."}:
			u.ranges = true
		case isFilter && (t.kind == tokenName || t.kind == tokenKeyword):
			u.filters = append(u.filters, filterUse{name: t.text})
		case t.kind == tokenName && isLoop && i > 0 && t.text == "reversed":
		case t.kind == tokenName && !slices.Contains(wordsOfTheLanguage, t.text):
			var path string
			path, i = pathAt(list, i)
			u.paths = append(u.paths, path)
		}
	}
	return u, true
}

// pathAt joins a name with the properties that follow it, and returns the position of the last one. It stops at
// a computed index, whose value is unknown.
func pathAt(list []token, i int) (string, int) {
	path := []string{list[i].text}
	for i+1 < len(list) && list[i+1].kind == tokenProperty {
		i++
		path = append(path, list[i].text)
	}
	return strings.Join(path, "."), i
}
