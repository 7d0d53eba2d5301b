package sending

import (
	"context"
	"time"
)

// recordSpans records the spans of emails accepted since began. It does nothing without tracing.
func (w *writer) recordSpans(ctx context.Context, began time.Time, items []*acceptance) {
	if !w.tracing.On() {
		return
	}
	for _, a := range items {
		if a.err == nil {
			w.tracing.Accepted(ctx, a.email.id, began)
		}
	}
}
