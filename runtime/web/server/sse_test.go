package server_test

import (
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/runtime/web/server"
)

// recorder supports deadlines, unlike the recorder of the standard library.
type recorder struct {
	*httptest.ResponseRecorder
	deadlines int
}

func (r *recorder) SetWriteDeadline(time.Time) error { r.deadlines++; return nil }

func TestFormat(t *testing.T) {
	t.Parallel()
	r := &recorder{ResponseRecorder: httptest.NewRecorder()}
	w := server.Start(r)
	for _, err := range []error{w.Begin("evt_0"),
		w.Send(server.StreamEvent{ID: "evt_1", Name: "next", Data: []byte(`{"a":1}`)},
			server.StreamEvent{Data: []byte("{}")}), w.Beat()} {
		if err != nil {
			t.Error(err)
		}
	}
	const want = "retry: 2000\nid: evt_0\n\n" + "id: evt_1\nevent: next\ndata: {\"a\":1}\n\n" + "data: {}\n\n" +
		": still here\n\n"
	if diff := cmp.Diff(want, r.Body.String()); diff != "" {
		t.Error(diff)
	}
	if r.Header().Get("Content-Type") != "text/event-stream" || !r.Flushed || r.deadlines != 3 {
		t.Errorf("got %v, flushed %t, %d deadlines", r.Header(), r.Flushed, r.deadlines)
	}
}
