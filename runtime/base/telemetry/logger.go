package telemetry

import (
	"context"
	"io"
	"log/slog"

	"go.opentelemetry.io/otel/trace"

	"github.com/postrider/postrider/runtime/base/loglimit"
)

// Format is the format of log lines.
type Format string

// The formats.
const (
	Text Format = "text" // key=value, for humans
	JSON Format = "json" // one object per line, for machines; durations in seconds
)

// NewLogger returns a logger that writes lines of the given level and above. Lines logged with a context
// include its request id and trace.
func NewLogger(format Format, level slog.Leveler, w io.Writer) *slog.Logger {
	options := &slog.HandlerOptions{Level: level}
	if format == JSON {
		options.ReplaceAttr = inSeconds
		return slog.New(contextHandler{loglimit.New(slog.NewJSONHandler(w, options))})
	}
	return slog.New(contextHandler{loglimit.New(slog.NewTextHandler(w, options))})
}

func inSeconds(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindDuration {
		a.Value = slog.Float64Value(a.Value.Duration().Seconds())
	}
	return a
}

// contextHandler adds attributes from the context to each line.
type contextHandler struct{ slog.Handler }

func (h contextHandler) Handle(ctx context.Context, record slog.Record) error {
	if id := RequestID(ctx); id != "" {
		record.AddAttrs(slog.String(KeyRequestID, id))
	}
	if span := trace.SpanContextFromContext(ctx); span.IsValid() {
		record.AddAttrs(slog.String(KeyTraceID, span.TraceID().String()),
			slog.String(KeySpanID, span.SpanID().String()))
	}
	return h.Handler.Handle(ctx, record)
}

func (h contextHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return contextHandler{h.Handler.WithAttrs(attrs)}
}

func (h contextHandler) WithGroup(name string) slog.Handler {
	return contextHandler{h.Handler.WithGroup(name)}
}
