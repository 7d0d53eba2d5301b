// Package loglimit bounds the log lines that unauthenticated clients can cause: a flood of rejected
// requests becomes one line per second and reason, with a count, and does not fill the disk.
//
// A call site marks the context of a line with [Collapse]. The loggers of package telemetry use the handler
// of [New], which acts on the mark; other loggers write every line.
package loglimit

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// KeyCount is the attribute of a collapsed line that contains the number of lines it replaces.
const KeyCount = "count"

const (
	window      = time.Second
	mostReasons = 512 // further reasons share one entry, to bound the memory
)

// Collapse returns a context for a log line that clients can cause at any rate. The first line with a given
// message, level and reason is written immediately. The lines of each following second are collapsed into one,
// which has the attributes of the last one and their number. The reason must come from a small set.
func Collapse(ctx context.Context, reason string) context.Context {
	return CollapseAfter(ctx, 1, reason)
}

// CollapseAfter is like Collapse, but writes the first few lines of each second individually.
func CollapseAfter(ctx context.Context, lines int, reason string) context.Context {
	return context.WithValue(ctx, markKey{}, mark{lines, reason})
}

type markKey struct{}

type mark struct {
	lines  int
	reason string
}

// New returns a handler that collapses marked lines and passes all others to next.
func New(next slog.Handler) slog.Handler {
	return handler{next, &limiter{entries: map[entryKey]*entry{}}}
}

type handler struct {
	slog.Handler

	limiter *limiter
}

func (h handler) Handle(ctx context.Context, record slog.Record) error {
	if m, is := ctx.Value(markKey{}).(mark); is && h.limiter.holdBack(h.Handler, m, record) {
		return nil
	}
	return h.Handler.Handle(ctx, record)
}

func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return handler{h.Handler.WithAttrs(attrs), h.limiter}
}

func (h handler) WithGroup(name string) slog.Handler {
	return handler{h.Handler.WithGroup(name), h.limiter}
}

// entryKey contains the values that lines must have in common to be collapsed.
type entryKey struct {
	level   slog.Level
	message string
	reason  string
}

// entry counts the lines of the current second that share a key.
type entry struct {
	written int
	held    int
	last    slog.Record
	to      slog.Handler
}

// limiter holds lines back. All handlers of one logger share it.
type limiter struct {
	mu      sync.Mutex
	entries map[entryKey]*entry
}

// holdBack reports whether the record is held back; if not, the caller writes it.
func (l *limiter) holdBack(to slog.Handler, m mark, record slog.Record) bool {
	key := entryKey{record.Level, record.Message, m.reason}
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.entries[key]
	if e == nil && len(l.entries) >= mostReasons {
		key = entryKey{level: record.Level}
		e = l.entries[key]
	}
	if e == nil {
		e = &entry{}
		l.entries[key] = e
		time.AfterFunc(window, func() { l.flushEntry(key) })
	}
	if e.written < m.lines {
		e.written++
		return false
	}
	e.held++
	e.last, e.to = record.Clone(), to
	return true
}

// flushEntry writes the line for the records held back in the last second. That line counts towards the next
// second.
func (l *limiter) flushEntry(key entryKey) {
	l.mu.Lock()
	e := l.entries[key]
	if e.held == 0 {
		delete(l.entries, key)
		l.mu.Unlock()
		return
	}
	last, to := e.last, e.to
	last.AddAttrs(slog.Int(KeyCount, e.held))
	*e = entry{written: 1}
	time.AfterFunc(window, func() { l.flushEntry(key) })
	l.mu.Unlock()
	// The only possible error is that the log cannot be written, and the log is where it would be reported.
	_ = to.Handle(context.Background(), last)
}
