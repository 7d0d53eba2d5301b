package language

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"strings"

	"github.com/osteele/liquid/filters"
	"github.com/osteele/liquid/parser"
	"github.com/osteele/liquid/render"
	"github.com/osteele/liquid/tags"

	"github.com/postrider/postrider/runtime/base/fault"
)

// unsubscribeURL is the reserved variable that a render leaves unchanged.
const unsubscribeURL = "unsubscribe_url"

const unsubscribeToken = "{{" + unsubscribeURL + "}}"

// unsubscribeMark is the value of the variable unsubscribe_url while a part renders. It is random, so that no
// value can contain it: only the source of a template can produce the token.
var unsubscribeMark = "unsubscribe" + rand.Text()

// anyToken matches the token in every form that a send replaces. Some HTML editors percent-encode it in an
// href, which Liquid treats as text.
var (
	anyToken     = regexp.MustCompile(`(\{\{|%7[Bb]%7[Bb])((?:\s|%20|&nbsp;)*unsubscribe)(_url(?:\s|%20|&nbsp;)*(?:\}\}|%7[Dd]%7[Dd]))`)
	encodedToken = regexp.MustCompile(`%7[Bb]%7[Bb](?:\s|%20|&nbsp;)*unsubscribe_url(?:\s|%20|&nbsp;)*%7[Dd]%7[Dd]`)
)

// restoreToken replaces the marks in a rendered text with the token. A token that came from a value is disarmed
// with an invisible word joiner (U+2060), so that the send does not replace it.
func restoreToken(text string) string {
	if strings.Contains(text, unsubscribeURL) {
		text = anyToken.ReplaceAllString(text, "$1$2\u2060$3")
	}
	return strings.ReplaceAll(text, unsubscribeMark, unsubscribeToken)
}

// tickName names a value that only counts a step of the budget. No author would use the name, because unknown
// names are empty too.
const tickName = "postrider_tick"

// Engine compiles one kind of part. There are two engines: HTML escapes inserted values, Text (for the subject
// and the text) does not.
type Engine struct {
	config render.Config // with filters for the zero Locale
	html   bool
	tick   render.Node
}

// The engines do not change after start and are safe for concurrent use.
var (
	HTML = newEngine(true)  // escapes inserted values
	Text = newEngine(false) // does not escape
)

func newEngine(html bool) *Engine {
	e := &Engine{config: newConfig(html, &Budget{}), html: html}
	// A condition that is never true and writes nothing. Writing even an empty string would change what {%-
	// trims.
	tick, err := e.config.Compile("{% if "+tickName+" %}{% endif %}", parser.SourceLoc{})
	if err != nil {
		panic("language: " + err.Error())
	}
	e.tick = tick.(*render.SeqNode).Children[0] //nolint:forcetypeassert // the root of a tree is a sequence
	return e
}

// newConfig returns the tags and the filters of the language. Filters do not receive a context, so those that need one
// are bound to the budget of a render.
func newConfig(html bool, b *Budget) render.Config {
	c := render.NewConfig()
	filters.AddStandardFilters(&c)
	tags.AddStandardTags(&c)
	addFilters(&c, html)
	addBoundFilters(&c, html, b)
	if html {
		c.SetAutoEscapeReplacer(render.HtmlEscaper)
	}
	return c
}

// CompiledSource is one compiled source.
type CompiledSource struct {
	Name string // field that contains it: subject, html or text

	engine   *Engine
	root     render.Node
	findings findings
	flat     Flat
}

// Compile checks a source and prepares it for rendering. The error is a sentence for the author, usually with a
// line number.
func (e *Engine) Compile(name, source string) (*CompiledSource, error) {
	return e.CompileFlat(name, Flat{Source: source})
}

// CompileFlat is like Compile. Errors and positions name the components that the source was expanded from.
func (e *Engine) CompileFlat(name string, flat Flat) (*CompiledSource, error) {
	p, err := e.compile(name, flat.Source)
	if err != nil {
		if found, is := errors.AsType[*problem](err); is {
			return nil, flat.explain(found)
		}
		return nil, err
	}
	p.flat = flat
	return p, nil
}

func (e *Engine) compile(name, source string) (p *CompiledSource, err error) {
	if strings.ContainsRune(source, 0) {
		return nil, errors.New("contains a NUL character")
	}
	spans, err := Scan(source)
	if err != nil {
		return nil, err
	}
	written := source
	defer recoverPanic(&err, "cannot be read")
	if e.html {
		source = encodedToken.ReplaceAllString(source, unsubscribeMark)
	}
	// The name is passed as a file name, because the library reports the innermost line only if there is one.
	root, failed := e.config.Compile(source, parser.SourceLoc{Pathname: name, LineNo: 1})
	if failed != nil {
		found := &problem{line: max(failed.LineNumber(), 1), text: explainError(failed)}
		if _, quoted, is := strings.Cut(found.text, `error in "`); is {
			found.near = strings.TrimSuffix(quoted, `"`)
		}
		return nil, found.locate(written, spans)
	}
	w := &walker{html: e.html, tick: e.tick, found: findings{paths: map[string]int{}}}
	if err := w.walkNode(root, scope{}); err != nil {
		if found, is := errors.AsType[*problem](err); is {
			return nil, found.locate(written, spans)
		}
		return nil, err
	}
	if e.html && w.found.markdown {
		if err := checkMarkdownPlaces(written, spans); err != nil {
			return nil, err
		}
	}
	return &CompiledSource{Name: name, engine: e, root: root, findings: w.found}, nil
}

// Render inserts values into a part. The error is a sentence for the author, an error of the context, or an
// error of kind Limit (IsOver).
func (p *CompiledSource) Render(b *Budget, values map[string]any) (text string, err error) {
	defer recoverPanic(&err, "cannot be rendered with these variables")
	bindings := make(map[string]any, len(values)+2)
	maps.Copy(bindings, values)
	bindings[unsubscribeURL] = unsubscribeMark
	bindings[tickName] = nil
	for key, value := range bindings {
		bindings[key] = meteredValue{b, value}
	}
	out := &output{budget: b}
	defer b.pauseSlowWork()
	config := p.engine.config
	if p.findings.localized && b.locale != (Locale{}) || p.findings.markdown {
		config = newConfig(p.engine.html, b)
	}
	failed := render.Render(p.root, out, bindings, config)
	switch {
	case b.broken != nil:
		return "", b.broken
	case failed != nil:
		return "", &problem{line: max(failed.LineNumber(), 1), text: explainError(failed)}
	}
	return restoreToken(out.String()), nil
}

// IsOver reports whether an error comes from a context or a concurrency limit rather than from the template.
func IsOver(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) ||
		fault.KindOf(err) == fault.Limit
}

// explainError returns the library's error as one short line without its location.
func explainError(err parser.Error) string {
	text := err.Error()
	if cause := err.Cause(); cause != nil {
		text = cause.Error()
	} else if _, after, found := strings.Cut(text, "): "); found {
		text, _, _ = strings.Cut(after, " in "+err.Path())
	}
	text, _, _ = strings.Cut(text, "\n")
	if len(text) > 300 {
		text = strings.ToValidUTF8(text[:300], "") + "…"
	}
	return text
}

// recoverPanic converts a panic of the library to an error. The library panics on numbers that are too large,
// for example.
func recoverPanic(err *error, what string) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("%s: %w", what, errPanicked)
	}
}

var errPanicked = errors.New("contains a value that Liquid does not support")
