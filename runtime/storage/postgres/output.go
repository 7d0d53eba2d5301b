package postgres

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
)

// output receives the server's log, forwards it to ours line by line, and keeps the last lines for error
// messages.
type output struct {
	log     *slog.Logger
	mutex   sync.Mutex
	partial []byte
	last    []string
}

// Write never fails.
func (o *output) Write(data []byte) (int, error) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	o.partial = append(o.partial, data...)
	for {
		end := bytes.IndexByte(o.partial, '\n')
		if end < 0 {
			return len(data), nil
		}
		o.logLine(string(o.partial[:end]))
		o.partial = o.partial[end+1:]
	}
}

// logLine logs one line. Failed statements are reported by their clients; problems of the server itself are
// logged as warnings.
func (o *output) logLine(text string) {
	o.last = append(o.last, text)
	o.last = o.last[max(0, len(o.last)-6):]
	level := slog.LevelDebug
	if strings.HasPrefix(text, "PANIC:") || strings.HasPrefix(text, "FATAL:") && !isExpected(text) {
		level = slog.LevelWarn
	}
	o.log.Log(context.Background(), level, "postgres", "line", text)
}

// isExpected reports whether a fatal line is part of every ordinary start and stop.
func isExpected(text string) bool {
	return strings.Contains(text, "terminating connection") || strings.Contains(text, "the database system is")
}

func (o *output) String() string {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return strings.Join(o.last, "; ")
}
