package rules

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	inlineCode   = regexp.MustCompile("`[^`\n]*`")
	linkTarget   = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	headingLine  = regexp.MustCompile(`(?m)^#{1,6} (.+)$`)
	headingLink  = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	notInAnchors = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

// A renamed heading or a moved file must not break the links that point to it.
func TestLinksBetweenDocumentsResolve(t *testing.T) {
	t.Parallel()
	var pages []string
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md", "rest/pages/dashboard/*.md"} {
		found, err := filepath.Glob(filepath.Join("../../..", pattern))
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, found...)
	}
	anchors := map[string]map[string]bool{}
	for _, page := range pages {
		anchors[page] = headingAnchors(readProse(t, page))
	}
	checked := 0
	for _, page := range pages {
		for _, match := range linkTarget.FindAllStringSubmatch(inlineCode.ReplaceAllString(readProse(t, page), ""),
			-1) {
			path, anchor, hasAnchor := strings.Cut(match[1], "#")
			if strings.Contains(path, ":") { // an absolute URL
				continue
			}
			checked++
			target := page
			if path != "" {
				target = filepath.Join(filepath.Dir(page), path)
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s links to %s, which does not exist", page, match[1])
			} else if hasAnchor && !anchors[target][anchor] {
				t.Errorf("%s links to %s, but %s has no heading with that anchor", page, match[1], target)
			}
		}
	}
	if checked < 100 {
		t.Errorf("found %d links between documents, want at least 100: has their syntax changed?",
			checked)
	}
}

// readProse returns the text of a page without its code blocks.
func readProse(t *testing.T, page string) string {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatalf("read a page: %v", err)
	}
	return codeBlock.ReplaceAllString(string(text), "")
}

// headingAnchors returns the anchors that GitHub creates for the headings of a page.
func headingAnchors(text string) map[string]bool {
	anchors := map[string]bool{}
	for _, heading := range headingLine.FindAllStringSubmatch(text, -1) {
		name := strings.ToLower(strings.TrimSpace(headingLink.ReplaceAllString(heading[1], "$1")))
		anchors[strings.ReplaceAll(notInAnchors.ReplaceAllString(name, ""), " ", "-")] = true
	}
	return anchors
}
