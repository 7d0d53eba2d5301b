package moves

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/runtime/base/fault"
)

// A file waits while another one is received, because the client of that may have been killed.
func TestFilesAreReceivedInTurn(t *testing.T) {
	t.Parallel()
	receive := func(h *handler) error {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPut, "/api/operator/moves", http.NoBody)
		_, err := h.receive(r, accounts.Caller{})
		return err
	}
	h := &handler{turn: make(chan struct{}, 1), patience: time.Millisecond}
	h.turn <- struct{}{}
	if err := receive(h); fault.KindOf(err) != fault.Conflict {
		t.Errorf("while another file is received, the result is %v, want a conflict", err)
	}
	h.patience = time.Hour
	result := make(chan error)
	go func() { result <- receive(h) }()
	<-h.turn
	if err := <-result; fault.KindOf(err) != fault.Invalid { // without a one-time key
		t.Errorf("in its turn, a file without a key was refused with %v", err)
	}
	if len(h.turn) > 0 {
		t.Error("a file that was refused keeps its turn")
	}
}
