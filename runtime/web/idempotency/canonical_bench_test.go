package idempotency_test

import (
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime/web/idempotency"
)

// BenchmarkCanonical2K measures the work, outside the database, that a key adds to an ordinary send.
func BenchmarkCanonical2K(b *testing.B) {
	body := []byte(`{"from":"Ada <ada@example.com>","to":["bob@example.net"],"subject":"Your receipt",` +
		`"html":"<p>` + strings.Repeat("Thank you for your order. ", 40) + `</p>","text":"` +
		strings.Repeat("Thank you for your order.\\n", 30) + `","tags":[{"name":"kind","value":"receipt"}],` +
		`"headers":{"X-Order":"1742"},"template":{"alias":"receipt","variables":{"n":1,"total":12.5}}}`)
	form := sendForm()
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := idempotency.CanonicalBody(body, form); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCanonical1M does the same with an attachment.
func BenchmarkCanonical1M(b *testing.B) {
	body := []byte(`{"from":"ada@example.com","to":"bob@example.net","subject":"s","text":"t","files":[{` +
		`"name":"a.pdf","data":"` + strings.Repeat("QUJD", 1<<18) + `"}]}`)
	form := sendForm()
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := idempotency.CanonicalBody(body, form); err != nil {
			b.Fatal(err)
		}
	}
}
