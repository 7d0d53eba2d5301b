package language

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/osteele/liquid/values"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	markup "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/postrider/postrider/runtime/mail/plaintext"
)

// The limits of a text in Markdown. The parser takes time that grows with the product of length and depth, and with the
// square of the number of delimiters.
const (
	maxMarkdown   = 32 << 10 // bytes
	delimiters    = "[]*_"
	maxDelimiters = 8 << 10 // all together
	maxReads      = 1 << 20 // of lines, counting each line once per open block
	maxLineReads  = 500     // of one line
)

var (
	errMarkdown      = fmt.Errorf("requires a text of at most %d KB", maxMarkdown>>10)
	errMarkdownDepth = errors.New("requires a text that is less deeply nested")
	errDelimiters    = fmt.Errorf("requires a text with at most %d brackets, asterisks and underscores", maxDelimiters)
	errNotText       = errors.New("requires a text")
)

// The parser lacks the parsers of HTML, so that HTML in a text is escaped. The renderer drops links that could run a
// script. Both are safe for concurrent use.
var (
	markdownParser = parser.NewParser(
		parser.WithBlockParsers(
			util.Prioritized(parser.NewSetextHeadingParser(), 100),
			util.Prioritized(parser.NewThematicBreakParser(), 200),
			util.Prioritized(parser.NewListParser(), 300),
			util.Prioritized(parser.NewListItemParser(), 400),
			util.Prioritized(parser.NewCodeBlockParser(), 500),
			util.Prioritized(parser.NewATXHeadingParser(), 600),
			util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
			util.Prioritized(parser.NewBlockquoteParser(), 800),
			util.Prioritized(parser.NewParagraphParser(), 1000)),
		parser.WithInlineParsers(
			util.Prioritized(parser.NewCodeSpanParser(), 100),
			util.Prioritized(parser.NewLinkParser(), 200),
			util.Prioritized(parser.NewAutoLinkParser(), 300),
			util.Prioritized(parser.NewEmphasisParser(), 500)),
		parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...))
	markdownRenderer = renderer.NewRenderer(
		renderer.WithNodeRenderers(util.Prioritized(markup.NewRenderer(), 1000)))
)

// meteredReader stops the parser of a text that is nested too deeply.
type meteredReader struct {
	text.Reader
	left, leftOfLine int
}

// PeekLine returns the current line. Parsers call it for each block that a line may continue.
func (r *meteredReader) PeekLine() ([]byte, text.Segment) {
	r.left--
	if r.leftOfLine--; r.left < 0 || r.leftOfLine < 0 {
		panic(errMarkdownDepth)
	}
	return r.Reader.PeekLine()
}

// AdvanceLine moves to the next line.
func (r *meteredReader) AdvanceLine() {
	r.leftOfLine = maxLineReads
	r.Reader.AdvanceLine()
}

// renderMarkdown converts CommonMark to HTML.
func renderMarkdown(value any) (html string, err error) {
	if value == nil {
		return "", nil
	}
	source, isText := value.(string)
	if !isText {
		return "", errNotText
	}
	if len(source) > maxMarkdown {
		return "", errMarkdown
	}
	count := 0
	for _, delimiter := range delimiters {
		count += strings.Count(source, string(delimiter))
	}
	if count > maxDelimiters {
		return "", errDelimiters
	}
	defer func() {
		if r := recover(); r != nil {
			if r != errMarkdownDepth { //nolint:errorlint // the value of meteredReader
				panic(r)
			}
			err = errMarkdownDepth
		}
	}()
	raw := []byte(source)
	var out bytes.Buffer
	document := markdownParser.Parse(&meteredReader{text.NewReader(raw), maxReads, maxLineReads})
	if err := markdownRenderer.Render(&out, raw, document); err != nil {
		return "", err
	}
	return limitText(strings.TrimSuffix(out.String(), "\n"))
}

// markdownFilter returns the filter markdown. In html, its result is not escaped again; in text, it is plain text. The
// filter is expensive, so that the budget is checked before each use.
func markdownFilter(isHTML bool, b *Budget) func(any) (any, error) {
	return func(value any) (any, error) {
		if err := b.check(); err != nil {
			return nil, err
		}
		out, err := renderMarkdown(value)
		if err != nil {
			return nil, err
		}
		if isHTML {
			return values.SafeValue{Value: out}, nil
		}
		return plaintext.FromHTML(out), nil
	}
}
