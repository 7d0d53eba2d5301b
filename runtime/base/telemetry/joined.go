package telemetry

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"time"
)

// JoinedWriter makes one write of the lines of a moment. Under load a write for each
// line is a noticeable part of what a request costs.
//
// A line waits for lineAge at most; warnings and errors do not wait (see JoinedLines).
// A process that is killed loses the lines of that moment and nothing else.
type JoinedWriter struct {
	mutex   sync.Mutex
	to      io.Writer
	waiting []byte
	timer   *time.Timer
	armed   bool
	failed  error
}

const (
	lineAge   = 50 * time.Millisecond
	lineRoom  = 64 << 10
	lineStock = 32 << 10 // kept between writes
)

// NewJoinedWriter writes to w. Flush ends it.
func NewJoinedWriter(w io.Writer) *JoinedWriter {
	j := &JoinedWriter{to: w}
	j.timer = time.AfterFunc(time.Hour, func() { j.Flush() }) //nolint:errcheck // the next Write reports it
	j.timer.Stop()
	return j
}

// Write takes a line. An error is that of an earlier write.
func (j *JoinedWriter) Write(line []byte) (int, error) {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	j.waiting = append(j.waiting, line...)
	if len(j.waiting) >= lineRoom {
		j.flush()
	} else if !j.armed {
		j.armed = true
		j.timer.Reset(lineAge)
	}
	return len(line), j.failed
}

// Flush writes what waits.
func (j *JoinedWriter) Flush() error {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	j.flush()
	return j.failed
}

func (j *JoinedWriter) flush() {
	j.armed = false
	if len(j.waiting) == 0 {
		return
	}
	_, j.failed = j.to.Write(j.waiting)
	if j.waiting = j.waiting[:0]; cap(j.waiting) > lineRoom+lineStock {
		j.waiting = nil
	}
}

// JoinedLines has warnings and errors written at once, with what came before them.
func JoinedLines(log *slog.Logger, w *JoinedWriter) *slog.Logger {
	return slog.New(urgentHandler{log.Handler(), w})
}

type urgentHandler struct {
	slog.Handler
	writer *JoinedWriter
}

func (h urgentHandler) Handle(ctx context.Context, record slog.Record) error {
	err := h.Handler.Handle(ctx, record)
	if record.Level >= slog.LevelWarn && err == nil {
		err = h.writer.Flush()
	}
	return err
}

func (h urgentHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return urgentHandler{h.Handler.WithAttrs(attrs), h.writer}
}

func (h urgentHandler) WithGroup(name string) slog.Handler {
	return urgentHandler{h.Handler.WithGroup(name), h.writer}
}
