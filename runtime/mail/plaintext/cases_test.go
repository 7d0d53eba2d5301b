package plaintext

import (
	"testing"

	"github.com/postrider/postrider/runtime/base/expect"
)

// HTML as mail programs write it, and the text part created from it.
func TestTextOfDocuments(t *testing.T) {
	t.Parallel()
	expect.GoldenCases(t, "html", func(_ *testing.T, input []byte) string {
		return FromHTML(string(input)) + "\n"
	})
}
