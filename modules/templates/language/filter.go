package language

import (
	"fmt"
	"html"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/osteele/liquid/render"
	"github.com/osteele/liquid/values"
)

// Filters whose result is not escaped in html, so that they must be the last one.
const (
	breakLines  = "newline_to_br" // converts line breaks to <br>
	markdown    = "markdown"      // converts CommonMark
	trustedHTML = "raw"           // inserts HTML as it is
)

// allowed are the filters that authors may use: those of the library whose result is at most as large as
// their input, and the capped ones below. Excluded are: safe, which need not be the last filter; json, inspect and
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
	"truncate": true, "url_encode": true, "escape": true, breakLines: true,
	markdown: true, trustedHTML: true,
	"date": true, "datetime": true, "money": true, "number": true, "percent": true,
}

// Filters returns the names of the filters, sorted.
func Filters() []string { return slices.Sorted(maps.Keys(allowed)) }

func isFilter(name string) bool { return allowed[name] }

var errLong = fmt.Errorf("produces more than %d bytes", maxText)

// localized are the filters whose result depends on the locale of the recipient.
var localized = []string{"date", "datetime", "money", "number", "percent", "pluralize"}

// addBoundFilters adds the filters that format values for the locale of a render, or check its budget.
func addBoundFilters(e *render.Config, isHTML bool, b *Budget) {
	l := b.locale
	e.AddFilter(markdown, markdownFilter(isHTML, b))
	e.AddFilter("date", l.formatDate)
	e.AddFilter("datetime", l.formatDateTime)
	e.AddFilter("money", l.formatMoney)
	e.AddFilter("number", l.formatNumber)
	e.AddFilter("percent", l.formatPercent)
	e.AddFilter("pluralize", l.pluralize)
}

// addFilters replaces the filters whose results can grow with limited ones, because a chain of them could
// double a text at every step.
func addFilters(e *render.Config, isHTML bool) {
	e.AddFilter("append", func(s, suffix string) (string, error) { return limitText(s + suffix) })
	e.AddFilter("prepend", func(s, prefix string) (string, error) { return limitText(prefix + s) })
	e.AddFilter("replace", func(s, old,
		by string) (string, error) {
		return replaceText(s, old, by, strings.Count(s, old))
	})
	e.AddFilter("replace_first", func(s, old, by string) (string, error) { return replaceText(s, old, by, 1) })
	e.AddFilter("replace_last", func(s, old, by string) (string, error) {
		i := strings.LastIndex(s, old)
		if i < 0 {
			return s, nil
		}
		return limitText(s[:i] + by + s[i+len(old):])
	})
	e.AddFilter("join", joinList)
	e.AddFilter("concat", func(a,
		b []any) ([]any, error) {
		return limitList(append(append(make([]any, 0, len(a)+len(b)), a...), b...))
	})
	e.AddFilter("split", splitText)
	e.AddFilter("truncate", truncateText)
	e.AddFilter("url_encode", encodeURL)
	if isHTML {
		// Output is escaped at the end; escaping once is enough.
		e.AddFilter("escape", func(s string) string { return s })
		e.AddFilter("escape_once", html.UnescapeString)
		e.AddFilter(breakLines, func(s string) (any, error) {
			broken, err := limitText(strings.ReplaceAll(html.EscapeString(s), "\n", "<br />\n"))
			return values.SafeValue{Value: broken}, err
		})
		e.AddFilter(trustedHTML, func(s string) any { return values.SafeValue{Value: s} })
		return
	}
	e.AddFilter(trustedHTML, func(s string) string { return s })
	e.AddFilter("escape", func(s string) (string, error) { return limitText(html.EscapeString(s)) })
	e.AddFilter(breakLines,
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
