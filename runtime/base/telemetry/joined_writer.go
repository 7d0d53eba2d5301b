package telemetry

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"time"
)

// JoinedWriter combines log lines into one write. Under load, a write per line is a noticeable part of the
// cost of a request.
//
// A line is delayed by lineAge at most; warnings and errors are not delayed (see JoinedLines). A process
// that is killed loses only the lines of that interval.
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
	lineStock = 32 << 10 // buffer kept between writes
)

// NewJoinedWriter returns a new JoinedWriter for w. Call Flush before the process ends.
func NewJoinedWriter(w io.Writer) *JoinedWriter {
	j := &JoinedWriter{to: w}
	j.timer = time.AfterFunc(time.Hour, func() { j.Flush() }) //nolint:errcheck // the next Write reports it
	j.timer.Stop()
	return j
}

// Write buffers a line. The error it returns is that of an earlier write.
func (j *JoinedWriter) Write(line []byte) (int, error) {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	j.waiting = append(j.waiting, line...)
	if len(j.waiting) >= lineRoom {
		j.flushWaiting()
	} else if !j.armed {
		j.armed = true
		j.timer.Reset(lineAge)
	}
	return len(line), j.failed
}

// Flush writes the buffered lines.
func (j *JoinedWriter) Flush() error {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	j.flushWaiting()
	return j.failed
}

func (j *JoinedWriter) flushWaiting() {
	j.armed = false
	if len(j.waiting) == 0 {
		return
	}
	_, j.failed = j.to.Write(j.waiting)
	if j.waiting = j.waiting[:0]; cap(j.waiting) > lineRoom+lineStock {
		j.waiting = nil
	}
}

// JoinedLines returns a logger that flushes w immediately after warnings and errors.
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
