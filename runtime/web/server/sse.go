package server

import (
	"bytes"
	"net/http"
	"time"
)

// WriteTime is how long a client may pause reading.
const WriteTime = 10 * time.Second

// Heartbeat is the time without an event after which a comment keeps the stream alive: some proxies close
// connections that are silent for half a minute, others after a minute.
const Heartbeat = 15 * time.Second

// Recheck is the interval at which a stream checks whether its client is still authorized. With the caches
// of keys and sessions, a revocation takes at most five seconds.
const Recheck = 2 * time.Second

// Writer is one event stream. It must not be used concurrently.
type Writer struct {
	to      http.ResponseWriter
	control *http.ResponseController
}

// Start begins the response. Nothing may have been written before.
func Start(w http.ResponseWriter) *Writer {
	setHeader(w)
	return &Writer{to: w, control: http.NewResponseController(w)}
}

func setHeader(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Accel-Buffering", "no") // otherwise nginx would buffer events
	w.Header().Set("X-Content-Type-Options", "nosniff")
}

// WriteAll writes a stream that ends after the events, as an ordinary response.
func WriteAll(w http.ResponseWriter, events ...StreamEvent) error {
	setHeader(w)
	var out bytes.Buffer
	for _, e := range events {
		e.appendTo(&out)
	}
	_, err := w.Write(out.Bytes())
	return err
}

// StreamEvent is one event. Empty fields are omitted. Fields must not contain newlines; JSON contains none.
type StreamEvent struct {
	ID, Name string
	Data     []byte
}

func (e StreamEvent) appendTo(out *bytes.Buffer) {
	field := func(name, value string) {
		if value != "" {
			out.WriteString(name + ": " + value + "\n")
		}
	}
	field("id", e.ID)
	field("event", e.Name)
	field("data", string(e.Data))
	out.WriteByte('\n')
}

// Send sends events together.
func (w *Writer) Send(events ...StreamEvent) error {
	var out bytes.Buffer
	for _, e := range events {
		e.appendTo(&out)
	}
	return w.writeChunk(out.Bytes())
}

// Begin announces how long a client should wait before it reconnects, and the position to continue from if it
// loses the connection before the first event. The position may be empty.
func (w *Writer) Begin(position string) error {
	out := bytes.NewBufferString("retry: 2000\n")
	StreamEvent{ID: position}.appendTo(out)
	return w.writeChunk(out.Bytes())
}

// Beat sends a comment, which clients ignore.
func (w *Writer) Beat() error { return w.writeChunk([]byte(": still here\n\n")) }

func (w *Writer) writeChunk(b []byte) error {
	if err := w.control.SetWriteDeadline(time.Now().Add(WriteTime)); err != nil {
		return err
	}
	if _, err := w.to.Write(b); err != nil {
		return err
	}
	return w.control.Flush()
}
