package rules

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	codeBlock = regexp.MustCompile("(?s)```.*?```")
	withBody  = regexp.MustCompile(`(?s)curl [^']*(?:'[^'{][^']*'[^']*)*-d '([^']*)'`)
)

// Readers copy commands from the documents.
func TestDocumentedCommandsSendJSON(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob("../../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, page := range append(pages, "../../../README.md", "../../../WEBHOOKS.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatalf("read a page: %v", err)
		}
		for _, block := range codeBlock.FindAllString(string(text), -1) {
			for _, command := range withBody.FindAllStringSubmatch(block, -1) {
				seen++
				if !strings.Contains(command[0], "Content-Type: application/json") {
					t.Errorf("%s: a command sends a body without Content-Type: application/json, which curl does not set:\n%s", filepath.Base(page), command[0])
				}
				if !json.Valid([]byte(command[1])) {
					t.Errorf("%s: a command sends invalid JSON:\n%s", filepath.Base(page), command[1])
				}
			}
		}
	}
	if seen < 6 {
		t.Errorf("found %d commands with a body in the documents, want at least 6: has their form changed?", seen)
	}
}
