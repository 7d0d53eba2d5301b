package language

import (
	"errors"
	"fmt"
	"html"
	"net/url"
	"strings"
	"time"

	"github.com/osteele/liquid"
	"github.com/osteele/liquid/values"
	"github.com/osteele/tuesday"
)

// breakLines converts line breaks to <br>. In html, its result is not escaped again, so it must be the last
// filter.
const breakLines = "newline_to_br"

// allowed are the filters that authors may use: those of the library whose result is at most as large as
// their input, and the capped ones below. Excluded are: safe, which disables escaping; json, inspect and
// type, which expose Go's view of a value; uniq, which is quadratic; strip_html, which does not do what its
// name says.
//
//nolint:gochecknoglobals // a constant table
var allowed = map[string]bool{
	"default": true, "size": true, "first": true, "last": true, "slice": true, "compact": true, "reverse": true, "sort": true, "sort_natural": true,
	"map": true, "where": true, "sum": true, "abs": true, "ceil": true, "floor": true, "round": true, "plus": true,
	"minus": true, "times": true, "divided_by": true,
	"modulo": true, "at_least": true, "at_most": true, "upcase": true, "downcase": true, "capitalize": true, "strip": true, "lstrip": true, "rstrip": true,
	"strip_newlines": true, "truncatewords": true, "pluralize": true, "remove": true, "remove_first": true, "remove_last": true, "handleize": true,
	"escape_once": true, "url_decode": true,
	// Our replacements for filters of the library.
	"append": true, "prepend": true, "replace": true, "replace_first": true, "replace_last": true, "join": true, "concat": true, "split": true,
	"truncate": true, "url_encode": true, "escape": true, "date": true, breakLines: true,
}

func isFilter(name string) bool { return allowed[name] }

var errLong = fmt.Errorf("produces more than %d bytes", maxText)

// addFilters replaces the filters whose results can grow with limited ones, because a chain of them could
// double a text at every step.
func addFilters(e *liquid.Engine, isHTML bool) {
	e.RegisterFilter("append", func(s, suffix string) (string, error) { return limitText(s + suffix) })
	e.RegisterFilter("prepend", func(s, prefix string) (string, error) { return limitText(prefix + s) })
	e.RegisterFilter("replace", func(s, old,
		by string) (string, error) {
		return replaceText(s, old, by, strings.Count(s, old))
	})
	e.RegisterFilter("replace_first", func(s, old, by string) (string, error) { return replaceText(s, old, by, 1) })
	e.RegisterFilter("replace_last", func(s, old, by string) (string, error) {
		i := strings.LastIndex(s, old)
		if i < 0 {
			return s, nil
		}
		return limitText(s[:i] + by + s[i+len(old):])
	})
	e.RegisterFilter("join", joinList)
	e.RegisterFilter("concat", func(a,
		b []any) ([]any, error) {
		return limitList(append(append(make([]any, 0, len(a)+len(b)), a...), b...))
	})
	e.RegisterFilter("split", splitText)
	e.RegisterFilter("truncate", truncateText)
	e.RegisterFilter("url_encode", encodeURL)
	e.RegisterFilter("date", formatDate)
	if isHTML {
		// Output is escaped at the end; escaping once is enough.
		e.RegisterFilter("escape", func(s string) string { return s })
		e.RegisterFilter("escape_once", html.UnescapeString)
		e.RegisterFilter(breakLines, func(s string) (any, error) {
			broken, err := limitText(strings.ReplaceAll(html.EscapeString(s), "\n", "<br />\n"))
			return values.SafeValue{Value: broken}, err
		})
		return
	}
	e.RegisterFilter("escape", func(s string) (string, error) { return limitText(html.EscapeString(s)) })
	e.RegisterFilter(breakLines,
		func(s string) (string, error) { return limitText(strings.ReplaceAll(s, "\n", "<br />\n")) })
}

func limitText(s string) (string, error) {
	if len(s) > maxText {
		return "", errLong
	}
	return s, nil
}

func limitList(list []any) ([]any, error) {
	if len(list) > MaxList {
		return nil, fmt.Errorf("produces a list of more than %d items", MaxList)
	}
	return list, nil
}

// replaceText computes the size of the result before building it.
func replaceText(s, old, by string, times int) (string, error) {
	if times = min(times, strings.Count(s, old)); len(s)+times*(len(by)-len(old)) > maxText {
		return "", errLong
	}
	return strings.Replace(s, old, by, times), nil
}

func joinList(list []any, separator func(string) string) (string, error) {
	between := separator(" ")
	var b strings.Builder
	written := false
	for _, item := range list {
		if item == nil {
			continue
		}
		if written {
			b.WriteString(between)
		}
		written = true
		if _, err := fmt.Fprint(&b, item); err != nil {
			return "", err
		}
		if b.Len() > maxText {
			return "", errLong
		}
	}
	return b.String(), nil
}

func splitText(s, separator string) ([]any, error) {
	if separator == " " {
		s, separator = strings.Join(strings.Fields(s), " "), " "
	}
	pieces := strings.SplitN(s, separator, MaxList+1)
	for len(pieces) > 0 && pieces[len(pieces)-1] == "" {
		pieces = pieces[:len(pieces)-1]
	}
	out := make([]any, len(pieces))
	for i, p := range pieces {
		out[i] = p
	}
	return limitList(out)
}

func truncateText(s string, length func(int) int, ellipsis func(string) string) (string, error) {
	limit, end := length(50), ellipsis("...")
	runes := []rune(s)
	if len(runes) <= limit {
		return s, nil
	}
	keep := min(max(limit-len([]rune(end)), 0), len(runes))
	return limitText(string(runes[:keep]) + end)
}

func encodeURL(s string) (string, error) {
	if len(s) > maxText/3 {
		return "", errLong
	}
	return url.QueryEscape(s), nil
}

var errFormat = errors.New("the format of a date is longer than 100 characters, or has a number of more than four digits")

// formatDate formats like strftime. Widths are limited, because %9999999d would exhaust memory.
func formatDate(at time.Time, format func(string) string) (string, error) {
	f := format("%a, %b %d, %y")
	if len(f) > 100 || wideDirective(f) {
		return "", errFormat
	}
	return tuesday.Strftime(f, at)
}

func wideDirective(format string) bool {
	digits := 0
	for _, r := range format {
		if r < '0' || r > '9' {
			digits = 0
			continue
		}
		if digits++; digits > 4 { // allows a literal 2026
			return true
		}
	}
	return false
}
