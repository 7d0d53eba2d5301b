package mailhtml

import (
	"errors"
	"fmt"
	"strings"

	"github.com/inbucket/html2text"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// PlainText returns the text part for a source in HTML. Liquid stays where it stood, so that a
// loop over rows is a loop in the text as well.
func PlainText(source string) (text string, err error) {
	defer func() { // the libraries panic where a number is too large for them
		if r := recover(); r != nil {
			err = errors.New("cannot be made into text: there is a value in it that is too large")
		}
	}()
	hidden, err := hide(source)
	if err != nil {
		return "", err
	}
	root, err := html.Parse(strings.NewReader(hidden.source))
	if err != nil {
		return "", fmt.Errorf("the HTML cannot be read: %w", err)
	}
	hidden.asText(root)
	made, err := html2text.FromHTMLNode(root)
	if err != nil {
		return "", fmt.Errorf("the HTML cannot be made into text: %w", err)
	}
	return hidden.show(made), nil
}

// asText turns the comments that stand for Liquid into text, one with the text
// around it: between two texts a space is written. A row of a table ends a line.
func (o *opaque) asText(n *html.Node) {
	for child := n.FirstChild; child != nil; {
		next := child.NextSibling
		word := strings.TrimSpace(child.Data)
		switch {
		case child.Type == html.CommentNode && o.words.FindString(word) == word && strings.HasPrefix(o.show(word), "{"):
			child.Type = html.TextNode
		case child.Type == html.CommentNode:
			n.RemoveChild(child)
			child = next
			continue
		case child.Type == html.ElementNode:
			o.asText(child)
			if child.DataAtom == atom.Tr {
				child.AppendChild(&html.Node{Type: html.ElementNode, Data: "br", DataAtom: atom.Br})
			}
		}
		if before := child.PrevSibling; child.Type == html.TextNode && before != nil && before.Type == html.TextNode {
			before.Data += child.Data
			n.RemoveChild(child)
		}
		child = next
	}
}
