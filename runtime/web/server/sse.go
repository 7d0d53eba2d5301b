package server

import (
	"bytes"
	"net/http"
	"time"
)

// WriteTime is how long a reader may take nothing.
const WriteTime = 10 * time.Second

// Heartbeat is after how long without an event a comment says that the stream lives:
// proxies end connections that are silent for a minute, some for half of one.
const Heartbeat = 15 * time.Second

// Recheck is after how long a stream asks again whether its reader may still read. With the caches of
// keys and sessions that is at most five seconds.
const Recheck = 2 * time.Second

// Writer is one stream. It is used by one goroutine at a time.
type Writer struct {
	to      http.ResponseWriter
	control *http.ResponseController
}

// Start begins the answer. Nothing may have been written before.
func Start(w http.ResponseWriter) *Writer {
	setHeader(w)
	return &Writer{to: w, control: http.NewResponseController(w)}
}

func setHeader(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Accel-Buffering", "no") // nginx would hold events back
	w.Header().Set("X-Content-Type-Options", "nosniff")
}

// WriteAll writes a stream that is over after the events, as an ordinary answer.
func WriteAll(w http.ResponseWriter, events ...Event) error {
	setHeader(w)
	var out bytes.Buffer
	for _, e := range events {
		e.appendTo(&out)
	}
	_, err := w.Write(out.Bytes())
	return err
}

// Event is one event. Its fields are left out where they are empty, and hold no
// newline: JSON has none.
type Event struct {
	ID, Name string
	Data     []byte
}

func (e Event) appendTo(out *bytes.Buffer) {
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
func (w *Writer) Send(events ...Event) error {
	var out bytes.Buffer
	for _, e := range events {
		e.appendTo(&out)
	}
	return w.write(out.Bytes())
}

// Begin tells how long a reader should wait before it connects again, and from
// where it goes on if it loses the connection before the first event; "": unsaid.
func (w *Writer) Begin(position string) error {
	out := bytes.NewBufferString("retry: 2000\n")
	Event{ID: position}.appendTo(out)
	return w.write(out.Bytes())
}

// Beat sends a comment, which readers ignore.
func (w *Writer) Beat() error { return w.write([]byte(": still here\n\n")) }

func (w *Writer) write(b []byte) error {
	if err := w.control.SetWriteDeadline(time.Now().Add(WriteTime)); err != nil {
		return err
	}
	if _, err := w.to.Write(b); err != nil {
		return err
	}
	return w.control.Flush()
}
