package sending

import (
	"context"
	"time"
)

// recordSpans records the spans of emails accepted since began. It does nothing without tracing.
func (w *writer) recordSpans(ctx context.Context, began time.Time, items []*acceptance) {
	if !w.tracing.IsEnabled() {
		return
	}
	for _, a := range items {
		if a.err == nil {
			w.tracing.RecordAcceptance(ctx, a.email.id, began)
		}
	}
}
