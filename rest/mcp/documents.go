package mcp

import (
	"crypto/sha256"
	"encoding/hex"
)

// document is a GraphQL query of a tool.
type document struct{ text string }

var documents []document

// newDocument returns a document with its hash.
func newDocument(text string) document {
	d := document{text}
	documents = append(documents, d)
	return d
}

func (d document) hash() string {
	sum := sha256.Sum256([]byte(d.text))
	return hex.EncodeToString(sum[:])
}

func (d document) id() string { return "sha256:" + d.hash() }

// Documents returns the GraphQL queries of the tools by their hash. They belong to the trusted documents, so that
// signed-in users can use the tools.
func Documents() map[string]string {
	all := make(map[string]string, len(documents))
	for _, d := range documents {
		all[d.hash()] = d.text
	}
	return all
}
